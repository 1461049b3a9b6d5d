// For users.
export { type UpstreamCode, upstreamCodes } from "./codes.ts";
export { UpstreamError } from "./upstream-error.ts";
export type {
  ResolvedTransport,
  UpstreamDeps,
  UpstreamLimits,
  UpstreamSettings,
} from "./upstream-options.ts";
export { createUpstreamServer, type UpstreamServer } from "./upstream-server.ts";
