// For other packages here.
export { recordTestRun, testSummaryOf } from "./behaviour/test-records.ts";
export { type ChainDeps, createChainRunner } from "./chain/chain-runner.ts";
export { explainPackage, packageConfigOf } from "./implementations/judge-package.ts";
export {
  candidatesOf,
  selectImplementations,
} from "./implementations/select.ts";
export { PackageSources } from "./installed/package-sources.ts";
export type { ProgramRunnerSlot, TrialPackage } from "./installed/packages-context.ts";
export { programSecretsOf } from "./local/program-secrets.ts";
export { runPackageTests, type TestResult, type TestResults } from "./tests/run-package-tests.ts";
export { TestReplies } from "./tests/test-replies.ts";
