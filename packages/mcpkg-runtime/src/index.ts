// For other packages here.
export { type ChainDeps, createChainRunner } from "./chain/chain-runner.ts";
export { planChain } from "./chain/plan-chain.ts";
export type { EndpointRunner } from "./endpoint-runner.ts";
export type { HttpRunnerDeps } from "./http/http-runner.ts";
export { splitUrl } from "./http/plan-endpoint.ts";
export { createImplementationsRunner } from "./implementations/implementations-runner.ts";
export { createMachine } from "./implementations/machine.ts";
export { measurementsOf } from "./implementations/measurements.ts";
export {
  candidatesOf,
  selectImplementations,
  type Verdict,
} from "./implementations/select.ts";
export type { StartProgram } from "./local/run-program.ts";
export { PackageSource } from "./package-source.ts";
export { McpkgRuntimeError } from "./runtime-error.ts";
export { type BehaviourChange, compareRuns } from "./tests/compare-runs.ts";
export { runPackageTests, type TestResult, type TestResults } from "./tests/run-package-tests.ts";
