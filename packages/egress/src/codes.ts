/** Codes of this package's errors and findings, each with its meaning. */
export const egressCodes = {
  EGRESS_AUTHORITY_INVALID:
    "A URL or an authority does not name a host and port in the one form that is accepted.",
  EGRESS_REQUEST_INVALID: "A request has a method, path or header that may not be sent.",
  EGRESS_HOST_DENIED: "The host of a request is not among those that its source may reach.",
  EGRESS_PORT_DENIED: "The port of a request is not among those that its source may reach.",
  EGRESS_ADDRESS_DENIED:
    "A host has an address that may not be dialled: private, local, reserved, or a way to one of these.",
  EGRESS_PLACEHOLDER_MISPLACED: "A placeholder for a secret stands where no secret goes.",
  EGRESS_SECRET_UNAVAILABLE: "The secret of a credential cannot be read, or is no value that can be sent.",
  EGRESS_UNREACHABLE: "A host has no address, or none of them accepts a connection.",
  EGRESS_TLS_FAILED: "A host does not speak TLS, or its certificate does not hold for it.",
  EGRESS_CONNECTION_LOST: "A connection broke before the response was complete.",
  EGRESS_TIMED_OUT: "A host did not connect, answer, or go on answering in time.",
  EGRESS_RESPONSE_INVALID: "A response is no HTTP, is too large in its headers, or cannot be decompressed.",
  EGRESS_SETTINGS_INVALID:
    "A setting of the egress is not in its form: an address range, an address to connect to, a certificate.",
  EGRESS_CLOSED: "The egress was disposed of.",
  EGRESS_AUTHORITY_UNUSABLE:
    "The local authority of the proxy cannot be made, read or kept: its folder or its key.",
  EGRESS_LISTEN_FAILED: "The proxy cannot listen on a port of its own.",
  EGRESS_AUTHORITY_MISMATCH:
    "CONNECT, the name in the TLS handshake, and Host or `:authority` do not name one and the same origin.",
  EGRESS_PLAIN_HTTP: "A request in plain HTTP, which the proxy does not pass on.",
  EGRESS_UPGRADE_REFUSED:
    "A request asks for another protocol (WebSocket, CONNECT within the tunnel), which could be neither judged nor scrubbed.",
} as const;

/** A key of `egressCodes`. */
export type EgressCode = keyof typeof egressCodes;
