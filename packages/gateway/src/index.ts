// Gateway. For users.

// For the registry, and for users who add sources or choose backends.
export { createCallIds } from "./call/call-id.ts";
export { type GatewayCode, gatewayCodes } from "./codes.ts";
export type {
  CallOptions,
  CallOutcome,
  Gateway,
  GatewayStatus,
  ToolHit,
  ToolSummary,
} from "./gateway.ts";
export { GatewayCore, type GatewayCoreDeps } from "./gateway-core.ts";
export { GatewayError } from "./gateway-error.ts";
export type { HttpLimitOptions, HttpServerOptions } from "./http/http-options.ts";
export { type HttpServer, type HttpServerDeps, startHttpServer } from "./http/http-server.ts";
export {
  createLogger,
  type LoggerDeps,
  type LoggerOptions,
  type LogLevel,
} from "./http/logger.ts";
export { GatewayMetrics } from "./http/metrics.ts";
export type { Authenticate } from "./http/request-handler.ts";
export { isTokenName, makeToken, type RandomBytes, readToken, tokenDirectory } from "./http/token-file.ts";
export { openTokenStore, type TokenStore, type TokenStoreDeps } from "./http/token-store.ts";
export { type Backend, type BackendSelector, selectByKind } from "./index/backend.ts";
export type { IndexedTool, QuarantinedTool } from "./index/build-index.ts";
export { ToolIndex } from "./index/tool-index.ts";
export { isReservedNamespace, toWireName, wireNameMaxLength } from "./index/wire-name.ts";
export { resolveTransport } from "./resolve-transport.ts";
export {
  createSecretResolver,
  type SecretResolution,
  type SecretResolver,
  type SecretResolverDeps,
} from "./secrets/secret-resolver.ts";
export { pageOf } from "./service/list-pages.ts";
export { createTemplateMatcher } from "./service/uri-template.ts";
export type { BackendKind } from "./sources/source-facts.ts";
export type { Readiness, SourceStatus } from "./sources/source-roster.ts";
export { type GatewayDeps, startGateway } from "./start-gateway.ts";
export { matchesGlob } from "./tool-patterns.ts";
export { createToolPolicy, type Decision, type ToolPolicy } from "./tool-policy.ts";
