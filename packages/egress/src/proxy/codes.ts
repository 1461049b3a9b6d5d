/** The local authority of the proxy cannot be made, read or kept: its folder or its key. */
export const egressAuthorityUnusable = "EGRESS_AUTHORITY_UNUSABLE";
/** The proxy cannot listen on a port of its own. */
export const egressListenFailed = "EGRESS_LISTEN_FAILED";
/** CONNECT, the name in the TLS handshake, and Host or `:authority` do not name one and the same origin. */
export const egressAuthorityMismatch = "EGRESS_AUTHORITY_MISMATCH";
/** A request in plain HTTP, which the proxy does not pass on. */
export const egressPlainHttp = "EGRESS_PLAIN_HTTP";
/** A request asks for another protocol (WebSocket, CONNECT within the tunnel), which could be neither judged nor scrubbed. */
export const egressUpgradeRefused = "EGRESS_UPGRADE_REFUSED";
