/**
 * How a request that does not get through is answered: the status and the JSON
 * that says why. The one place where this package's errors become HTTP. What is
 * no `EgressError` stays inside; its text is not for a foreign process.
 */

import {
  egressAddressDenied,
  egressAuthorityInvalid,
  egressClosed,
  egressConnectionLost,
  egressHostDenied,
  egressPlaceholderMisplaced,
  egressPortDenied,
  egressRequestInvalid,
  egressSecretUnavailable,
  egressTimedOut,
} from "../codes.ts";
import { EgressError } from "../egress-error.ts";
import { egressAuthorityMismatch, egressPlainHttp, egressUpgradeRefused } from "./codes.ts";

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
  [egressHostDenied]: 403,
  [egressPortDenied]: 403,
  [egressAddressDenied]: 403,
  [egressPlaceholderMisplaced]: 403,
  [egressPlainHttp]: 403,
  [egressAuthorityInvalid]: 400,
  [egressRequestInvalid]: 400,
  [egressAuthorityMismatch]: 421,
  [egressUpgradeRefused]: 501,
  [egressSecretUnavailable]: 503,
  [egressClosed]: 503,
  [egressTimedOut]: 504,
};

/** The answer for what was thrown. */
export function toRefusal(thrown: unknown): Refusal {
  const { code, message, hint } =
    thrown instanceof EgressError
      ? thrown
      : new EgressError(egressConnectionLost, "Cannot pass the request on: the connection broke");
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
