// For users.
export { documentMaxBytes } from "@toolcrib/document";
export { type FileLayout, layoutOf, manifestPathsOf } from "./catalog/layout.ts";
export {
  type CatalogFile,
  type CatalogPair,
  type CatalogReport,
  type LintCatalogOptions,
  lintCatalog,
} from "./catalog/lint-catalog.ts";
export { type ToolspecCode, toolspecCodes } from "./codes.ts";
export { manifestJsonSchema, toolspecJsonSchema } from "./json-schema.ts";
export { egressPatterns } from "./manifest/egress-patterns.ts";
export type {
  Builder,
  CredentialType,
  Manifest,
  ManifestCredential,
  ManifestImage,
  ManifestInject,
  ManifestTool,
  Tier,
} from "./manifest/manifest.ts";
export { type ParsedDocument, parseManifest, parseToolspec } from "./parse.ts";
export { argumentName, toParamNames } from "./plan/argument-names.ts";
export { compareExample, type ExampleDifference } from "./plan/check-example.ts";
export {
  type CredentialPlace,
  type FilledCredential,
  type PlacedCredential,
  placedCredentials,
  writeCredential,
} from "./plan/credential-places.ts";
export { exampleVariables } from "./plan/example-variables.ts";
export { pathVariableFaults, type VariableFault } from "./plan/path-variables.ts";
export { type PlanOptions, planRequest, type RequestPlan } from "./plan/plan-request.ts";
export {
  type HttpResponse,
  type MappedResponse,
  type MapResponseOptions,
  mapResponse,
  type SelectJson,
} from "./response/map-response.ts";
export { type NextPage, nextPage, type PageAnswer } from "./response/next-page.ts";
export { mayRetry, type RateLimit } from "./response/rate-limit.ts";
export { isSameHost } from "./response/same-host.ts";
export { selectionPaths } from "./response/select-response.ts";
export type { JsonPathFault } from "./spec/lint-json-paths.ts";
export type {
  BodyEncoding,
  ParamPlace,
  ParamStyle,
  ParamType,
  Toolspec,
  ToolspecAnnotations,
  ToolspecAuth,
  ToolspecExample,
  ToolspecFields,
  ToolspecMethod,
  ToolspecPagination,
  ToolspecParam,
  ToolspecResponse,
  ToolspecSelection,
  ToolspecTool,
  ToolspecVariable,
} from "./spec/toolspec.ts";
export {
  annotationsOf,
  inputSchemaOf,
  type ToolspecDefinition,
  toolDefinitions,
} from "./tool-definitions.ts";
export { ToolspecError } from "./toolspec-error.ts";
