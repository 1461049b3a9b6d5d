// For users.

// For other packages here.
export { ClientTools, type EndpointUsage } from "./client-tools.ts";
export { createOverrides, createToolListing, defaultResultTokenBudget } from "./create-discovery.ts";
export { explainArguments } from "./explain-arguments.ts";
export { MetaSource } from "./meta-source.ts";
export { LongResults } from "./read-more.ts";
export { estimateTokens } from "./token-estimate.ts";
export type { ListSettings, ProfileSettings } from "./tool-listing.ts";
export {
  completedArguments,
  hiddenNames,
  type MergedOverride,
  type ToolOverride,
  type ToolOverrides,
} from "./tool-overrides.ts";
export { signatureOf } from "./tool-signature.ts";
export { openToolUse } from "./tool-use.ts";
