/** Codes of this package's errors and findings, each with its meaning. */
export const admissionCodes = {
  APPROVAL_REQUIRED:
    "The tool belongs to an unverified server and is not known to be read-only: the operator has to approve each call (`toolcrib approve`).",
  APPROVAL_DENIED: "Exactly this call was denied, by the operator or by the person at the client.",
  APPROVAL_TOO_LARGE:
    "A call needs an approval, and its arguments are larger than what is kept and shown for one.",
  APPROVALS_FULL: "Too many calls of one client wait for approval.",
  APPROVAL_UNAVAILABLE: "A call needs an approval, and the approvals cannot be read or stored.",
  APPROVAL_OUTDATED:
    "What the operator approved is not what waits for approval now, or an approval of the call would not count any more.",
  CALL_PAUSED: "The operator paused the tool, its server, the client or everything (`toolcrib pause`).",
  PAUSES_UNREADABLE: "What is paused cannot be read from the home, so that every call is refused.",
  PAUSE_INVALID: "A request to pause or resume names nothing that can be paused.",
  SWITCH_INVALID: "A request to enable or disable names no server and no tool that there is.",
  RATE_LIMITED: "The call exceeds the rate of a limit (`guards.limits`).",
  BUDGET_EXCEEDED:
    "A budget of calls, bytes or cost is used up until its hour or day ends (`guards.limits`).",
  OUTSIDE_WINDOW: "The call is allowed at certain times only (`guards.limits`).",
  BUDGETS_UNREADABLE:
    "What was used of the budgets cannot be read from the home, so that calls that they limit are refused.",
  SERVER_NOT_FOUND: "The endpoint or the request names a server that does not exist.",
} as const;

/** A key of `admissionCodes`. */
export type AdmissionCode = keyof typeof admissionCodes;
