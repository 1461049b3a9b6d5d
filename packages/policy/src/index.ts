// For other packages here.
export { ToolPatterns } from "./tool-patterns.ts";
export { type Decision, type PolicySettings, ToolPolicy } from "./tool-policy.ts";
export { findUnmatchedRules, type KnownName, ruleListsOf } from "./unmatched-rules.ts";
export { createTemplateMatcher } from "./uri-template.ts";
