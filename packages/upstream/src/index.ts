// For other packages here.
export { DefinitionMemory, type ServerMemory } from "./definition-memory.ts";
export { ParkedCalls } from "./parked-calls.ts";
export { receivedReplacement } from "./received-replacement.ts";
export { ServerLoad } from "./server-load.ts";
export type { UpstreamLimits } from "./upstream-options.ts";
export { createUpstreamServer, type UpstreamServer } from "./upstream-server.ts";
