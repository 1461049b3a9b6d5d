// For other packages here.

export type { ChainSuggestion } from "./chains/chain-manifest.ts";
export { ChainMiner, type ChainSuggestions } from "./chains/chain-miner.ts";
