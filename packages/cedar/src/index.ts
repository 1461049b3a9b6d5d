// For other packages here.
export { openCedarPolicies } from "./cedar-policies.ts";
export { cedarSchema } from "./cedar-schema.ts";
export { explainPolicies } from "./explain-decision.ts";
export { LivePolicies, type PolicyStatus } from "./live-policies.ts";
export { findLockedOut } from "./locked-out.ts";
export { type OfflinePolicy, openOfflinePolicy } from "./offline-policy.ts";
export { parsePolicies } from "./parse-policies.ts";
export { openPartialDecisions } from "./partial-decisions.ts";
export { type PolicyFile, readPolicyFile } from "./policy-file.ts";
export { isNamedRule, type PolicyTest, parsePolicyTests } from "./policy-tests.ts";
export { argumentMaxLength, clientIdOf } from "./request-entities.ts";
export { findUnmatchedNames } from "./unmatched-names.ts";
