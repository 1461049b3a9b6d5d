/**
 * The answer to a refused request: a status, and the reason as JSON. The only
 * place where errors of this package become HTTP. Other errors are not shown:
 * their text is not meant for another process.
 */

import { EgressError } from "../egress-error.ts";

/** A response of the proxy itself. */
export interface Refusal {
  readonly status: number;
  readonly statusText: string;
  readonly contentType: string;
  readonly body: Buffer;
}

const statusTexts: { readonly [status: number]: string } = {
  400: "Bad Request",
  403: "Forbidden",
  421: "Misdirected Request",
  431: "Request Header Fields Too Large",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

const statuses: { readonly [code: string]: number } = {
  EGRESS_HOST_DENIED: 403,
  EGRESS_PORT_DENIED: 403,
  EGRESS_ADDRESS_DENIED: 403,
  EGRESS_PLACEHOLDER_MISPLACED: 403,
  EGRESS_PLAIN_HTTP: 403,
  EGRESS_AUTHORITY_INVALID: 400,
  EGRESS_REQUEST_INVALID: 400,
  EGRESS_AUTHORITY_MISMATCH: 421,
  EGRESS_UPGRADE_REFUSED: 501,
  EGRESS_SECRET_UNAVAILABLE: 503,
  EGRESS_CLOSED: 503,
  EGRESS_TIMED_OUT: 504,
};

/** Returns the response for an error. */
export function toRefusal(thrown: unknown): Refusal {
  const { code, message, hint } =
    thrown instanceof EgressError
      ? thrown
      : new EgressError("EGRESS_CONNECTION_LOST", "Cannot pass the request on: the connection failed");
  const status = statuses[code] ?? 502;
  return {
    status,
    statusText: statusTexts[status] ?? "",
    contentType: "application/json",
    body: Buffer.from(`${JSON.stringify({ code, reason: message, hint })}
`),
  };
}

/** Returns the complete response for a socket that has no HTTP server; the connection ends after it. */
export function toRefusalBytes(thrown: unknown): Buffer {
  const { status, statusText, contentType, body } = toRefusal(thrown);
  const head = [
    `HTTP/1.1 ${status} ${statusText}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${body.length}`,
    "Connection: close",
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]);
}
