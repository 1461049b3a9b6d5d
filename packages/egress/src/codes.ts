/** Codes of this package's errors and findings, each with its meaning. */
export const egressCodes = {
  EGRESS_AUTHORITY_INVALID: "A URL or an authority is not a host and port in canonical form.",
  EGRESS_REQUEST_INVALID: "A request has a method, path or header that is not allowed.",
  EGRESS_HOST_DENIED: "The host of a request is not allowed for its source.",
  EGRESS_PORT_DENIED: "The port of a request is not allowed for its source.",
  EGRESS_ADDRESS_DENIED:
    "A host has an address that is not allowed: private, local or reserved, also embedded in an IPv6 address.",
  EGRESS_PLACEHOLDER_MISPLACED: "A placeholder for a secret is outside the place of its credential.",
  EGRESS_SECRET_UNAVAILABLE:
    "The secret of a credential cannot be read, or cannot be sent as a header value.",
  EGRESS_UNREACHABLE: "A host has no address, or none of them accepts a connection.",
  EGRESS_TLS_FAILED: "A host does not support TLS, or its certificate is not valid for it.",
  EGRESS_CONNECTION_LOST: "A connection failed before the response was complete.",
  EGRESS_TIMED_OUT: "A host did not accept a connection, answer, or continue its answer in time.",
  EGRESS_RESPONSE_INVALID:
    "A response is not valid HTTP, has headers that are too large, or cannot be decompressed.",
  EGRESS_SETTINGS_INVALID:
    "A setting of the egress is not valid: an address range, a connectTo address or a certificate.",
  EGRESS_CLOSED: "The egress was closed.",
  EGRESS_AUTHORITY_UNUSABLE: "The local authority of the proxy cannot be created, read or stored.",
  EGRESS_LISTEN_FAILED: "The proxy cannot listen on a port.",
  EGRESS_AUTHORITY_MISMATCH:
    "CONNECT, the name in the TLS handshake, and Host or `:authority` do not name the same origin.",
  EGRESS_PLAIN_HTTP: "A request uses plain HTTP, which the proxy does not pass on.",
  EGRESS_UPGRADE_REFUSED:
    "A request asks for another protocol (WebSocket, CONNECT within the tunnel), which the proxy can neither check nor scrub.",
} as const;

/** A key of `egressCodes`. */
export type EgressCode = keyof typeof egressCodes;
