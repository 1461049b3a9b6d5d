/** Codes of this package's findings, each with its meaning. */
export const cedarCodes = {
  CEDAR_TOO_LARGE: "A policy file, or all of them together, are longer than can be read.",
  CEDAR_TOO_COMPLEX: "A policy nests deeper than can be evaluated.",
  CEDAR_SYNTAX: "A policy file is not valid Cedar.",
  CEDAR_INVALID: "A policy does not fit the schema of Toolcrib, such as by an attribute that does not exist.",
  CEDAR_SUSPICIOUS: "A policy is valid and can have no effect, or another one than its text suggests.",
  CEDAR_UNMATCHED: "A policy names a tool server, tool, label, role or client that does not exist.",
  CEDAR_LOCKED_OUT: "No policy permits an existing client anything.",
  CEDAR_TOOL_ID: "A policy names a tool in a form that no id of a tool has.",
  CEDAR_TEMPLATE: "A policy file contains a template; only policies are supported.",
  CEDAR_ID_DUPLICATE: "Two policies of one file have the same @id.",
  CEDAR_ANNOTATION: "An annotation of a policy has an unknown name or a value that is not allowed.",
  CEDAR_VALUE_UNKNOWN: "A policy compares an attribute with a value that it never has.",
  POLICY_TEST_TOO_LARGE: "A file of policy tests is longer than can be read.",
  POLICY_TEST_SYNTAX: "A file of policy tests is neither readable YAML nor readable JSON.",
  POLICY_TEST_INVALID: "A policy test has an unknown, missing or invalid field.",
  POLICY_TEST_UNMATCHED: "A policy test names a client, tool server, tool or rule that does not exist.",
  POLICY_INVALID: "The policy files of the configuration cannot be used.",
  CEDAR_UNAVAILABLE: "The policy engine cannot be used.",
} as const;

/** A key of `cedarCodes`. */
export type CedarCode = keyof typeof cedarCodes;
