/** A tool may not be used by this client (`policy.allow`, `policy.deny`). */
export const policyDenied = "POLICY_DENIED";
/** No tool has this name, or this client may not see it. */
export const toolNotFound = "TOOL_NOT_FOUND";
/** No prompt has this name, or this client may not see it. */
export const promptNotFound = "PROMPT_NOT_FOUND";
/** No server offers this resource to this client. */
export const resourceNotFound = "RESOURCE_NOT_FOUND";
/** The endpoint names a server that does not exist. */
export const serverNotFound = "SERVER_NOT_FOUND";
/** A list was asked for with a cursor that is malformed, or older than the list's last change. */
export const cursorStale = "CURSOR_STALE";
/** The parameters of a request are not what its method takes. */
export const paramsInvalid = "PARAMS_INVALID";
/** The arguments of a call break the tool's input schema. */
export const argumentsInvalid = "ARGUMENTS_INVALID";
/** The result of a call breaks the tool's output schema. */
export const resultInvalid = "RESULT_INVALID";
/** The result of a call is larger than `serve.limits.result_max_bytes`. */
export const resultTooLarge = "RESULT_TOO_LARGE";
/** A call was not answered within its deadline (`containment.max_execution_seconds`). */
export const callTimeout = "CALL_TIMEOUT";
/** A call was cancelled by its client, or its client is gone. */
export const callCancelled = "CALL_CANCELLED";
/** More calls are under way than `serve.limits.max_concurrent_calls` allows. */
export const callsOverloaded = "CALLS_OVERLOADED";
/** The call could not be recorded, so it was not made. */
export const auditUnavailable = "AUDIT_UNAVAILABLE";
/** A composite called deeper than the limit. */
export const callTooDeep = "CALL_TOO_DEEP";
/** A call failed for a reason that has no code of its own; the log says more. */
export const callFailed = "CALL_FAILED";
/** A tool's name cannot be told from that of a tool declared before it. */
export const toolNameCollision = "TOOL_NAME_COLLISION";
/** Of several backends of a tool, the selector chose none that is registered. */
export const backendNotFound = "BACKEND_NOT_FOUND";
