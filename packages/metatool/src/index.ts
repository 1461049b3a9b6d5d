// For users: composite tools behind a gateway.
export {
  adoptApprovals,
  approvedReachOf,
  approveReach,
  retainApproval,
} from "./core/approved-reach.ts";
export { createMetatool } from "./core/create-metatool.ts";
export type { Metatool, MetatoolEvent } from "./core/metatool.ts";
// For users: saved tools as packages.
export { approveStoredTool, storedStanding } from "./exchange/operator-approval.ts";
export { fromProgramPackage, toProgramPackage } from "./exchange/to-package.ts";
export { MetatoolError } from "./metatool-error.ts";
// For users: programs of packages.
export { lintPackageProgram } from "./package/lint-package-program.ts";
// For users: running composites.
export { analyseComposite } from "./run/analyse/analyse-composite.ts";
export { deriveFacts } from "./run/analyse/reach.ts";
export type { Catalog, CatalogTool, MetatoolHost } from "./run/catalog.ts";
export { CompositeCache } from "./run/composite-cache.ts";
export { CompositeMemory } from "./run/composite-memory.ts";
export { startIsolatedExecutions } from "./run/isolated/isolated-executions.ts";
export { languagePrimer } from "./run/language-primer.ts";
export { prepareArguments } from "./run/prepare-arguments.ts";
export { ProgramTurns } from "./run/program-turns.ts";
export { runComposite } from "./run/run-composite.ts";
export { startThreadedExecutions } from "./run/threaded/threaded-executions.ts";
export { openSavedToolStore } from "./saved/file-saved-tool-store.ts";
// For other packages here.
export { lintSavedTool } from "./saved/lint-saved-tool.ts";
export { nodeFiles } from "./saved/saved-files.ts";
// For users: tests of saved tools.
export {
  createDryRun,
  takeDryRun,
} from "./test/dry-run.ts";
export { recordTestCase } from "./test/record-test-case.ts";
export {
  replayTestCase,
  runTestCase,
} from "./test/run-test-case.ts";
export { parseTestCases } from "./test/test-case.ts";
export { testSavedTool } from "./test/test-saved-tool.ts";
