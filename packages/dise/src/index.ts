// For other packages here.

export type { ChainSuggestion } from "./chains/chain-manifest.ts";
export { ChainMiner, type ChainSuggestions } from "./chains/chain-miner.ts";
export { findRegressions, type Regression } from "./tests/find-regressions.ts";
export { rankTools } from "./tests/rank-tools.ts";
