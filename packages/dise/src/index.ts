// For other packages here.

export type { ChainSuggestion } from "./chains/chain-manifest.ts";
export { ChainMiner, type ChainSuggestions } from "./chains/chain-miner.ts";
export { comparePairs, type PairComparison, type TimePair } from "./optimize/compare-pairs.ts";
export {
  alternativesOf,
  type ChainChange,
  type OptimizedStep,
  replaceTool,
  type StepTool,
  simplifyChain,
} from "./optimize/optimize-chain.ts";
export { findRegressions, type Regression } from "./tests/find-regressions.ts";
export { rankTools } from "./tests/rank-tools.ts";
