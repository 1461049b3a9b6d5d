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
  SERVER_NOT_FOUND: "The endpoint or the request names a server that does not exist.",
} as const;

/** A key of `admissionCodes`. */
export type AdmissionCode = keyof typeof admissionCodes;
