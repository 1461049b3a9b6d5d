// For users.
export {
  type Connection,
  type ConnectionHandlers,
  type ConnectionOptions,
  type ConnectionRequestOptions,
  openConnection,
} from "./client/connection.ts";
export {
  type CredentialProvider,
  type CredentialRequest,
  type HeaderRecord,
  staticCredentials,
} from "./client/credentials.ts";
export { createHttpClient, type HttpClient, type HttpClientOptions } from "./client/http-client.ts";
export { HttpTransport, type HttpTransportOptions } from "./client/http-transport.ts";
export { SseTransport, type SseTransportOptions } from "./client/sse-transport.ts";
export { StdioTransport, type StdioTransportOptions } from "./client/stdio-transport.ts";
export type { ClientTransport, SendHints, TransportReceiver } from "./client/transport.ts";
export { type McpCode, mcpCodes } from "./codes.ts";
export { LineDecoder, type LineReceiver, LineWriter } from "./framing/lines.ts";
export { formatSseEvent, type SseCallbacks, SseDecoder, type SseEvent } from "./framing/sse.ts";
export {
  type Classified,
  type ClassifiedMessage,
  classify,
  metaOf,
  type RpcId,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from "./json-rpc.ts";
export {
  invalidRequest,
  McpError,
  type McpErrorOptions,
  methodNotFound,
  type RpcErrorObject,
  toRpcError,
} from "./mcp-error.ts";
export {
  type InboundRequest,
  MessageRouter,
  type RequestOptions,
  type RouterHandlers,
  type RouterOptions,
  type SendMessage,
} from "./message-router.ts";
export { type MirroredParameters, mirroredParametersOf } from "./mirrored-headers.ts";
export {
  eraOf,
  latestLegacyVersion,
  latestModernVersion,
  legacyVersions,
  logLevels,
  metaKeys,
  modernVersions,
  passesLogLevel,
  rpcCodes,
} from "./protocol.ts";
export { RequestTable } from "./request-table.ts";
export {
  HttpEndpoint,
  type HttpEndpointDeps,
  type HttpEndpointOptions,
} from "./server/http-endpoint.ts";
export { type HttpCaller, sendError, sendJson } from "./server/http-io.ts";
export type {
  Listener,
  ListenFilter,
  McpService,
  ServerInfo,
  ServerSession,
  ServiceRequest,
  View,
} from "./server/service.ts";
export { SseEndpoint, type SseEndpointOptions } from "./server/sse-endpoint.ts";
export { type StdioServer, type StdioServerOptions, startStdioServer } from "./server/stdio-server.ts";
