// For users.
export { type MetatoolCode, metatoolCodes } from "./codes.ts";
// For users: composite tools behind a gateway.
export { type ApprovalStore, FileApprovalStore } from "./core/approval-store.ts";
export { createMetatool } from "./core/create-metatool.ts";
export type { Metatool, MetatoolDeps, MetatoolEvent, MetatoolOptions } from "./core/metatool.ts";
// For users: saved tools as folders.
export {
  type ExportDeps,
  exportSavedTool,
  type ImportDeps,
  type ImportOptions,
  importSavedTool,
} from "./exchange/exchange-saved-tool.ts";
export { approveStoredTool, type StoredStanding, storedStanding } from "./exchange/operator-approval.ts";
export type { PackageOptions } from "./exchange/package-format.ts";
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
export {
  type IsolatedExecutions,
  type IsolatedExecutionsDeps,
  type IsolatedExecutionsOptions,
  startIsolatedExecutions,
} from "./run/isolated/isolated-executions.ts";
export { languagePrimer } from "./run/language-primer.ts";
export type {
  CompositeError,
  CompositeErrorType,
  CompositeOutcome,
  ExecutionOptions,
  ToolCallRecord,
} from "./run/outcome.ts";
export { type ArgumentProblem, type PreparedArguments, prepareArguments } from "./run/prepare-arguments.ts";
export { type CompositeDeps, type CompositeRequest, runComposite } from "./run/run-composite.ts";
export { openSavedToolStore } from "./saved/file-saved-tool-store.ts";
// For other packages here.
export { lintSavedTool } from "./saved/lint-saved-tool.ts";
export {
  type FileContent,
  type FileStatus,
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
  SavedToolChange,
  SavedToolResult,
  SavedToolStore,
  SavedToolStoreDeps,
  SavedToolStoreOptions,
} from "./saved/saved-tool-store.ts";
// For users: tests of saved tools.
export { type Difference, findDifferences } from "./test/differences.ts";
export {
  createDryRun,
  type DryRun,
  type DryRunDeps,
  type DryRunRequest,
  dryRunArgument,
  dryRunMetaKey,
  takeDryRun,
} from "./test/dry-run.ts";
export { type Recording, recordTestCase } from "./test/record-test-case.ts";
export {
  replayTestCase,
  runTestCase,
  type TestDeps,
  type TestReport,
  type TestRequest,
} from "./test/run-test-case.ts";
export {
  parseTestCases,
  type RecordedError,
  type RecordedReply,
  type TestCase,
  type TestExpectation,
  withTestCases,
} from "./test/test-case.ts";
export {
  type SavedTestDeps,
  type SavedTestOutcome,
  testSavedTool,
  toTestResult,
} from "./test/test-saved-tool.ts";
