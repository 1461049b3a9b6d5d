// For other packages here.
export { problemOfResult } from "./check-result.ts";
export { DefinitionMemory, type ServerMemory } from "./definition-memory.ts";
export { receivedResult } from "./received.ts";
export { ServerLoad } from "./server-load.ts";
export type { ResolvedTransport, UpstreamLimits } from "./upstream-options.ts";
export { createUpstreamServer, type UpstreamServer } from "./upstream-server.ts";
