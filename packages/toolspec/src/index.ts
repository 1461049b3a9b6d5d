// For users.
export { type AdoptedSource, adoptedSource, placeholderVariables } from "./adopted/adopted-source.ts";
export { lintLiveTools } from "./adopted/lint-live-tools.ts";
export { compareTools, rewriteTools, withDigest } from "./adopted/rewrite-tools.ts";
export { layoutOf, manifestPathsOf } from "./catalog/layout.ts";
export {
  type CatalogFile,
  type CatalogPair,
  type CatalogReport,
  lintCatalog,
} from "./catalog/lint-catalog.ts";
export { manifestJsonSchema, toolspecJsonSchema } from "./json-schema.ts";
export { egressPatterns } from "./manifest/egress-patterns.ts";
export { loaderVariable } from "./manifest/loader-variable.ts";
export type {
  Manifest,
  ManifestCredential,
} from "./manifest/manifest.ts";
export { hostsOf, offeredTools } from "./offered-tools.ts";
export { parseManifest, parseToolspec } from "./parse.ts";
export { argumentName, toParamNames } from "./plan/argument-names.ts";
export { compareExample, type ExampleDifference } from "./plan/check-example.ts";
export {
  type FilledCredential,
  type PlacedCredential,
  placedCredentials,
  writeCredential,
} from "./plan/credential-places.ts";
export { exampleVariables } from "./plan/example-variables.ts";
export { pathVariableFaults } from "./plan/path-variables.ts";
export { planRequest, type RequestPlan } from "./plan/plan-request.ts";
export {
  type HttpResponse,
  mapResponse,
  type SelectJson,
} from "./response/map-response.ts";
export { nextPage, type PageAnswer } from "./response/next-page.ts";
export { mayRetry, type RateLimit } from "./response/rate-limit.ts";
export { isSameHost } from "./response/same-host.ts";
export { selectionPaths } from "./response/select-response.ts";
export type {
  ParamStyle,
  ParamType,
  Toolspec,
  ToolspecExample,
  ToolspecParam,
  ToolspecTool,
} from "./spec/toolspec.ts";
export {
  annotationsOf,
  inputSchemaOf,
  toolDefinitions,
} from "./tool-definitions.ts";
export { ToolspecError } from "./toolspec-error.ts";
