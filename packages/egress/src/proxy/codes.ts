/** The local authority of the proxy cannot be made, read or used: its folder, its key or its clock. */
export const egressAuthorityUnusable = "EGRESS_AUTHORITY_UNUSABLE";
/** A port for the proxy cannot be listened on. */
export const egressListenFailed = "EGRESS_LISTEN_FAILED";
/** CONNECT, the name in the TLS handshake, and Host or `:authority` do not name one and the same origin. */
export const egressAuthorityMismatch = "EGRESS_AUTHORITY_MISMATCH";
/** A request is not one that the proxy can pass on: malformed, ambiguous, or in plain HTTP. */
export const egressRequestInvalid = "EGRESS_REQUEST_INVALID";
/** A request asks for another protocol (WebSocket, CONNECT within the tunnel), which could be neither judged nor scrubbed. */
export const egressUpgradeRefused = "EGRESS_UPGRADE_REFUSED";
/** More connections than the proxy keeps at a time. */
export const egressOverloaded = "EGRESS_OVERLOADED";
