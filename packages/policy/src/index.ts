// For other packages here.
export { ToolPatterns } from "./tool-patterns.ts";
export { type Decision, type PolicySettings, ToolPolicy } from "./tool-policy.ts";
