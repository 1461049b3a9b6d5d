/** Codes of this package's errors and findings, each with its meaning. */
export const gatewayCodes = {
  POLICY_DENIED:
    "A tool may not be used by this client (`policy.allow`, `policy.deny`, `policy.files`; `toolcrib why` explains it).",
  POLICY_UNAVAILABLE: "The policy engine failed, so that the call could not be judged and was not made.",
  CONTAINMENT_VIOLATION:
    "A call was blocked because of the declared `containment` of its server, which runs elsewhere.",
  MUTABILITY_VIOLATION: "A call was blocked because of the `mutability_class` of its server.",
  TOOL_UNAVAILABLE:
    "The tool exists but is not offered: it is not enabled, it is quarantined, or its server is not ready.",
  TOOL_NOT_APPROVED:
    "A tool, prompt, resource, template or the instructions of a server are held back until the operator approves their definition (`first_contact`, `toolcrib approve`).",
  TOOL_DEFINITION_CHANGED:
    "A tool is held back because its definition changed after it was accepted (`toolcrib approve` shows the change).",
  TOOL_NOT_FOUND: "No tool has this name, or this client may not see it.",
  TOOL_CHANGED:
    "The definition of a tool, prompt or resource template changed after its call was made, for example while its server started again, so the call is not sent. Of certified servers, only a change of the schemas, the annotations or the arguments of a prompt counts.",
  PROMPT_NOT_FOUND: "No prompt has this name, or this client may not see it.",
  RESOURCE_NOT_FOUND: "No server offers this resource to this client.",
  PARAMS_INVALID: "The parameters of a request are not valid for its method.",
  ARGUMENTS_INVALID: "The arguments of a call break the tool's input schema.",
  INPUT_REQUIRED: "Not an error: a call ended with questions to its client, which the audit trail records.",
  RESULT_INVALID: "The result of a call does not match the tool's output schema.",
  RESULT_TOO_LARGE: "The result of a call is larger than `serve.limits.result_max_bytes`.",
  CALL_TIMEOUT: "A call was not answered within its deadline (`containment.max_execution_seconds`).",
  CALL_CANCELLED: "A call was cancelled by its client, or its client is gone.",
  CALLS_OVERLOADED: "More calls are in flight than `serve.limits.max_concurrent_calls` allows.",
  CALLS_SHARE_EXCEEDED:
    "The client's share of `serve.limits.max_concurrent_calls` is used up; other clients can still make calls.",
  AUDIT_UNAVAILABLE: "The call could not be recorded, so it was not made.",
  CALL_TOO_DEEP: "An inner call is deeper than the limit.",
  CALL_FAILED: "A call failed for a reason that has no code of its own; the log says more.",
  BACKEND_NOT_FOUND: "The backend selector chose no registered backend of the tool.",
} as const;

/** A key of `gatewayCodes`. */
export type GatewayCode = keyof typeof gatewayCodes;
