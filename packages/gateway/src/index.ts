// Pieces. For other packages here.
// Gateway. For users.
export { type GatewayCode, gatewayCodes } from "./codes.ts";
export type {
  CallOptions,
  CallOutcome,
  Gateway,
  GatewayStatus,
  ToolHit,
  ToolSummary,
} from "./gateway.ts";
export { GatewayError } from "./gateway-error.ts";
// HTTP front door. For users: the logger and the token files; the rest is for other packages here.
export type { Authenticate } from "./http/front-door.ts";
export type { HttpLimitOptions, HttpServerOptions } from "./http/http-options.ts";
export { type HttpServer, type HttpServerDeps, startHttpServer } from "./http/http-server.ts";
export {
  createLogger,
  type LoggerDeps,
  type LoggerOptions,
  type LogLevel,
} from "./http/logger.ts";
export { createMetrics, type FinishedOutcome, type Metrics } from "./http/metrics.ts";
export { isTokenName, makeToken, type RandomBytes, readToken, tokenDirectory } from "./http/token-file.ts";
export { openTokenStore, type TokenStore, type TokenStoreDeps } from "./http/token-store.ts";
// Registry. For users.
export { type Backend, type BackendSelector, selectByKind } from "./index/backend.ts";
export type { IndexedTool, QuarantinedTool } from "./index/build-index.ts";
export { ToolIndex } from "./index/tool-index.ts";
export { toWireName, wireNameMaxLength } from "./index/wire-name.ts";
export type { LocalHandler, LocalToolOptions } from "./registry/local-source.ts";
export {
  type BackendConfig,
  createRegistry,
  type ListToolsOptions,
  type Registry,
  type RegistryChange,
  type RegistryConfig,
  type RegistryHealth,
} from "./registry/registry.ts";
export { RegistryError, registryRpcCodes } from "./registry/registry-error.ts";
export { resolveTransport } from "./resolve-transport.ts";
export {
  createSecretResolver,
  type SecretResolution,
  type SecretResolver,
  type SecretResolverDeps,
} from "./secrets/secret-resolver.ts";
export { createTemplateMatcher } from "./service/uri-template.ts";
export type { BackendKind } from "./sources/source-facts.ts";
export type { Readiness, SourceStatus } from "./sources/source-roster.ts";
export { type GatewayDeps, startGateway } from "./start-gateway.ts";
export { matchesGlob } from "./tool-patterns.ts";
export { createToolPolicy, type Decision, type ToolPolicy } from "./tool-policy.ts";
