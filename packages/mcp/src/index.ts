// For users.
export {
  type Connection,
  type ConnectionRequestOptions,
  openConnection,
} from "./client/connection.ts";
export { type CredentialProvider, staticCredentials } from "./client/credentials.ts";
export {
  createHttpClient,
  type HttpClient,
  type NetworkSettings,
} from "./client/http-client.ts";
export { HttpTransport } from "./client/http-transport.ts";
export { SseTransport } from "./client/sse-transport.ts";
export { StdioTransport } from "./client/stdio-transport.ts";
export type { ClientTransport } from "./client/transport.ts";
export type { TransportSettings } from "./client/transport-settings.ts";
// For other packages here.
export { LineDecoder, LineWriter } from "./framing/lines.ts";
export { formatSseEvent, SseDecoder } from "./framing/sse.ts";
export { metaOf, type RpcId } from "./json-rpc.ts";
export { invalidRequest, McpError, methodNotFound, toRpcError, withoutHint } from "./mcp-error.ts";
export { type InboundRequest, MessageRouter } from "./message-router.ts";
export { mirroredParametersOf } from "./mirrored-headers.ts";
export {
  legacyVersions,
  metaKeys,
  modernVersions,
  rpcCodes,
} from "./protocol.ts";
export { RequestTable } from "./request-table.ts";
export { HttpEndpoint } from "./server/http-endpoint.ts";
export { sendJson } from "./server/http-io.ts";
export type { HttpRequest, HttpResponse } from "./server/http-messages.ts";
export { LegacyDefinitions } from "./server/legacy-definitions.ts";
export { ListCache, pageOf } from "./server/list-pages.ts";
export { ListWatch } from "./server/list-watch.ts";
export { ServerMemory } from "./server/server-memory.ts";
export type {
  Listener,
  ListenFilter,
  McpService,
  ServerInfo,
  ServerSession,
  ServiceRequest,
  View,
} from "./server/service.ts";
export { SseEndpoint } from "./server/sse-endpoint.ts";
export { type StdioServer, startStdioServer } from "./server/stdio-server.ts";
