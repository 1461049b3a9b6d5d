// For users.

// For other packages here.
export {
  isManifestPath,
  readAdoptedAt,
  readCatalogManifest,
} from "./adopted-files.ts";
export { runnerOf } from "./adopted-server.ts";
export { appendEntry, type EntrySection, entryText } from "./append-entry.ts";
export { digestConfig, digestPolicy, digestServer } from "./config-digest.ts";
export { parseConfigLayer, type ServerDeclaration, type ToolspecDeclaration } from "./config-layer.ts";
export type {
  ConfigText,
  GatewayConfig,
  PolicyConfig,
  ToolServerConfig,
} from "./config-types.ts";
export { containmentLine } from "./containment-line.ts";
export { formatConfigReport } from "./format-config-report.ts";
export { configJsonSchema } from "./json-schema.ts";
export { judgeArguments } from "./judge-arguments.ts";
export { commandHint } from "./lint-commands.ts";
export { type LoadConfigDeps, loadConfig, parseConfig } from "./load-config.ts";
export { mergeConfigs } from "./merge-configs.ts";
export { removeEntry } from "./remove-entry.ts";
export { oauthServerOf, readSecretText } from "./resolve-oauth.ts";
export { resolveTelemetryConnection } from "./resolve-telemetry.ts";
export { resolveTransport } from "./resolve-transport.ts";
export { SecretResolver } from "./secret-resolver.ts";
export { lintServerId } from "./server-id.ts";
export { isLoopbackHost } from "./server-url.ts";
export { suggestedSecretName } from "./toolspec-facts.ts";
export {
  listCatalogNames,
  readCatalogPair,
} from "./toolspec-files.ts";
export { isOwnHeader } from "./transport-shape.ts";
