// For other packages here.
export { type CedarPolicies, openCedarPolicies } from "./cedar-policies.ts";
export { cedarSchema } from "./cedar-schema.ts";
export { explainPolicies } from "./explain-decision.ts";
export { findLockedOut } from "./locked-out.ts";
export {
  type ParsedPolicies,
  parsePolicies,
  policyFileMaxLength,
} from "./parse-policies.ts";
export { openPartialDecisions, type PartialDecision, type UnknownFacts } from "./partial-decisions.ts";
export { isNamedRule, type PolicyTest, parsePolicyTests } from "./policy-tests.ts";
export { clientIdOf } from "./request-entities.ts";
export { findUnmatchedNames } from "./unmatched-names.ts";
