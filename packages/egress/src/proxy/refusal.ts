/**
 * How a request that does not get through is answered: the status and the JSON
 * that says why. The one place where this package's errors become HTTP. What is
 * no `EgressError` stays inside; its text is not for a foreign process.
 */

import { EgressError } from "../egress-error.ts";

/** An answer of the proxy's own. */
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

/** The answer for what was thrown. */
export function toRefusal(thrown: unknown): Refusal {
  const { code, message, hint } =
    thrown instanceof EgressError
      ? thrown
      : new EgressError("EGRESS_CONNECTION_LOST", "Cannot pass the request on: the connection broke");
  const status = statuses[code] ?? 502;
  return {
    status,
    statusText: statusTexts[status] ?? "",
    contentType: "application/json",
    body: Buffer.from(`${JSON.stringify({ code, reason: message, hint })}
`),
  };
}

/** The whole answer as it goes onto a socket that has no HTTP server any more; the connection ends after it. */
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
