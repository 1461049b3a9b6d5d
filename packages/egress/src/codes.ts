/** A URL or an authority does not name a host and port in the one form that is accepted. */
export const egressAuthorityInvalid = "EGRESS_AUTHORITY_INVALID";
/** A request has a method, path or header that may not be sent. */
export const egressRequestInvalid = "EGRESS_REQUEST_INVALID";
/** The host of a request is not among those that its source may reach. */
export const egressHostDenied = "EGRESS_HOST_DENIED";
/** The port of a request is not among those that its source may reach. */
export const egressPortDenied = "EGRESS_PORT_DENIED";
/** A host has an address that may not be dialled: private, local, reserved, or a way to one of these. */
export const egressAddressDenied = "EGRESS_ADDRESS_DENIED";
/** A placeholder for a secret stands where no secret goes. */
export const egressPlaceholderMisplaced = "EGRESS_PLACEHOLDER_MISPLACED";
/** The secret of a credential cannot be read, or is no value that can be sent. */
export const egressSecretUnavailable = "EGRESS_SECRET_UNAVAILABLE";
/** A host has no address, or none of them accepts a connection. */
export const egressUnreachable = "EGRESS_UNREACHABLE";
/** A host does not speak TLS, or its certificate does not hold for it. */
export const egressTlsFailed = "EGRESS_TLS_FAILED";
/** A connection broke before the response was complete. */
export const egressConnectionLost = "EGRESS_CONNECTION_LOST";
/** A host did not connect, answer, or go on answering in time. */
export const egressTimedOut = "EGRESS_TIMED_OUT";
/** A response is no HTTP, is too large in its headers, or cannot be decompressed. */
export const egressResponseInvalid = "EGRESS_RESPONSE_INVALID";
/** A setting of the egress is not in its form: an address range, an address to connect to, a certificate. */
export const egressSettingsInvalid = "EGRESS_SETTINGS_INVALID";
/** The egress was disposed of. */
export const egressClosed = "EGRESS_CLOSED";
