// For other packages here.
export { AccessPolicy, type FilePolicies, type PolicyRequest, type PolicySubject } from "./access-policy.ts";
export {
  type CallFacts,
  type ClientAttributes,
  type ClientSettings,
  createClientAttributes,
  type PolicyServer,
  type PolicyTarget,
} from "./access-request.ts";
export { defaultAllowedTools } from "./default-allowed-tools.ts";
export { HiddenArguments } from "./hidden-arguments.ts";
export { isNormalizedUri } from "./resource-spellings.ts";
export {
  believe,
  believedAnnotations,
  type ContainmentPart,
  findViolations,
  type JudgedPart,
  type MutabilityClass,
  needsApproval,
  type ServerTrust,
  settingOf,
  type ToolClaims,
  type TrustState,
  type TrustViolation,
  toolConditionText,
  trustRules,
} from "./server-trust.ts";
export { ToolPatterns } from "./tool-patterns.ts";
export { type Decision, type PolicySettings, ToolPolicy } from "./tool-policy.ts";
export { findUnmatchedRules, type KnownName, ruleListsOf } from "./unmatched-rules.ts";
export { createTemplateMatcher, expandTemplate } from "./uri-template.ts";
export { Watermark } from "./watermark.ts";
