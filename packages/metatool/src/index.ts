// For users.
export {
  metatoolChangedMeanwhile,
  metatoolClosed,
  metatoolCountersDamaged,
  metatoolDirectoryBusy,
  metatoolDirectoryUnusable,
  metatoolFieldInvalid,
  metatoolFieldTooLarge,
  metatoolFileInTheWay,
  metatoolFileName,
  metatoolFileSyntax,
  metatoolFileTooLarge,
  metatoolFileUnreadable,
  metatoolFileVersion,
  metatoolNameInvalid,
  metatoolNameReserved,
  metatoolNameTaken,
  metatoolNotDurable,
  metatoolTooManyTools,
  metatoolUnwritable,
} from "./codes.ts";
export { MetatoolError } from "./metatool-error.ts";
// For users: running composites.
export {
  type AnalysisOptions,
  analyseComposite,
  type CompositeAnalysis,
} from "./run/analyse/analyse-composite.ts";
export {
  type CompositeFacts,
  deriveFacts,
  type Reach,
  reachesFurther,
  type SavedReach,
} from "./run/analyse/reach.ts";
export type { Catalog, CatalogTool, MetatoolHost } from "./run/catalog.ts";
export {
  type CompositeCache,
  type CompositeCacheOptions,
  createCompositeCache,
} from "./run/composite-cache.ts";
export { toArgumentsError } from "./run/composite-error.ts";
export type { ReplyListener, ReplySource } from "./run/inner-calls.ts";
export type { InnerReply } from "./run/inner-reply.ts";
export type {
  CompositeError,
  CompositeErrorType,
  CompositeOutcome,
  ExecutionOptions,
  ToolCallRecord,
} from "./run/outcome.ts";
export { type ArgumentProblem, type PreparedArguments, prepareArguments } from "./run/prepare-arguments.ts";
export { type CompositeDeps, type CompositeRequest, runComposite } from "./run/run-composite.ts";
// For other packages here.
export { lintSavedTool } from "./saved/lint-saved-tool.ts";
export { openSavedTools } from "./saved/open-saved-tools.ts";
export {
  type FileContent,
  type FileStatus,
  type NewFile,
  nodeFiles,
  type SavedFiles,
} from "./saved/saved-files.ts";
export { lintSavedName } from "./saved/saved-name.ts";
export type {
  SavedTool,
  SavedToolDefinition,
  SavedToolLimits,
  SavedToolMetadata,
} from "./saved/saved-tool.ts";
export type {
  SavedToolResult,
  SavedTools,
  SavedToolsChange,
  SavedToolsDeps,
  SavedToolsOptions,
} from "./saved/saved-tools.ts";
