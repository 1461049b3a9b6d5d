// Configuration. For users.

// Pieces. For other packages here.
// Gateway. For users.
export { type GatewayCode, gatewayCodes } from "./codes.ts";
// Configuration. For other packages here.
export { appendToolspecEntry, toolspecEntryText } from "./config/append-toolspec.ts";
export {
  type ConfigLayer,
  type PlacedId,
  parseConfigLayer,
  type ServerDeclaration,
  type ToolspecDeclaration,
} from "./config/config-layer.ts";
export type {
  AuditConfig,
  ConfigText,
  ContainmentConfig,
  ContainmentLevel,
  ContainmentPart,
  EgressConfig,
  ExecutionConfig,
  GatewayConfig,
  HttpTransportConfig,
  MutabilityClass,
  PolicyConfig,
  PolicyFloor,
  PolicyRules,
  SecretRef,
  ServeConfig,
  ServeLimits,
  StdioTransportConfig,
  TemplatePart,
  ToolServerConfig,
  ToolspecConfig,
  ToolspecPair,
  ToolspecReference,
  TransportConfig,
  TrustState,
} from "./config/config-types.ts";
export { formatConfigReport } from "./config/format-config-report.ts";
export { configJsonSchema, configJsonSchemaText, writeConfigJsonSchema } from "./config/json-schema.ts";
export {
  type LoadConfigDeps,
  type LoadConfigOptions,
  loadConfig,
  parseConfig,
} from "./config/load-config.ts";
export type { ConfigResult } from "./config/merge-configs.ts";
export { mergeConfigs } from "./config/merge-configs.ts";
export {
  type FileContent,
  type ReadFile,
  readRegularFile,
  readRegularFileAtOnce,
} from "./config/read-file.ts";
export { resolveTransport } from "./config/resolve-transport.ts";
export {
  createSecretResolver,
  type SecretResolution,
  type SecretResolver,
  type SecretResolverDeps,
} from "./config/secret-resolver.ts";
export { autoModeMaxTools } from "./config/serve-shape.ts";
export { isLoopbackHost } from "./config/server-url.ts";
export { suggestedSecretName } from "./config/toolspec-facts.ts";
export {
  listCatalogNames,
  listCatalogVersions,
  type PairFiles,
  type PairProblem,
  readCatalogPair,
  readPairAt,
  type ToolspecFilesDeps,
} from "./config/toolspec-files.ts";
export type {
  CallOptions,
  CallOutcome,
  Gateway,
  GatewayStatus,
  ServerStatus,
  ToolHit,
  ToolSummary,
  ToolspecStatus,
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
export type { Readiness } from "./http/status-routes.ts";
export { isTokenName, makeToken, type RandomBytes, readToken, tokenDirectory } from "./http/token-file.ts";
export { openTokenStore, type TokenStore, type TokenStoreDeps } from "./http/token-store.ts";
// Registry. For users.
export {
  type Backend,
  type BackendKind,
  type BackendSelector,
  createToolIndex,
  type IndexedTool,
  type QuarantinedTool,
  selectByKind,
  type ToolIndex,
} from "./index/tool-index.ts";
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
export { createTemplateMatcher } from "./service/uri-template.ts";
export { type GatewayDeps, startGateway } from "./start-gateway.ts";
export { matchesGlob } from "./tool-patterns.ts";
export { createToolPolicy, type Decision, type ToolPolicy } from "./tool-policy.ts";
