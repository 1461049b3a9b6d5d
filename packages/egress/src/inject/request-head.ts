/** The head of a request, and its validation. Pure. */

import type { Authority, Target } from "../authority.ts";
import { requestConnectionHeaders } from "../connection-headers.ts";
import { EgressError } from "../egress-error.ts";

/** Method, target and headers of a request. */
export interface RequestHead {
  readonly method: string;
  readonly target: Target;
  /** In the order of sending, with names in their original case. */
  readonly headers: readonly HeaderField[];
}

/** The name and the value of a header. */
export type HeaderField = readonly [name: string, value: string];

/** Headers of one request. @limit program */
const maxHeaders = 200;
/** Characters of all headers of one request. @limit program */
const headersMaxLength = 65_536;
const tokenPattern = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** Visible ASCII, spaces and tabs, without white space at the ends, which readers drop. */
const valuePattern = /^(?:[!-~](?:[\t -~]*[!-~])?)?$/;

/** Headers of the connection and of the framing, which the sender creates. */
const ownHeaders: ReadonlySet<string> = new Set([
  ...requestConnectionHeaders,
  "content-length",
  "expect",
  "http2-settings",
  "trailer",
]);

/**
 * Validates the head of a request.
 *
 * @throws {EgressError} `EGRESS_REQUEST_INVALID`, or `EGRESS_AUTHORITY_INVALID` if `Host` names another host.
 */
export function checkHead({ method, target, headers }: RequestHead): void {
  if (!/^[A-Z]{1,32}$/.test(method) || method === "CONNECT" || method === "TRACE") {
    throw refuse(`Cannot send a request of method ${JSON.stringify(method.slice(0, 40))}`);
  }
  if (headers.length > maxHeaders) throw refuse(`Cannot send more than ${maxHeaders} headers`);
  const names = new Set<string>();
  let length = 0;
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    if (!tokenPattern.test(name)) throw refuse(`Cannot send header ${JSON.stringify(name.slice(0, 100))}`);
    if (ownHeaders.has(lower)) throw refuse(`Cannot send header "${lower}": the sender creates it`);
    if (names.has(lower)) throw refuse(`Cannot send header "${lower}" twice`);
    if (!valuePattern.test(value)) {
      throw refuse(`Cannot send header "${lower}": its value is not one line of visible ASCII`);
    }
    if (lower === "host") checkHost(value, target.authority);
    names.add(lower);
    length += name.length + value.length;
  }
  if (length > headersMaxLength)
    throw refuse(`Cannot send headers of more than ${headersMaxLength} characters`);
}

function checkHost(value: string, authority: Authority): void {
  if (value.toLowerCase() === authority.text || value.toLowerCase() === `${authority.host}:${authority.port}`)
    return;
  const message = `Cannot send a header "host" that is not "${authority.text}", the host of the URL`;
  throw new EgressError("EGRESS_AUTHORITY_INVALID", message);
}

function refuse(message: string): EgressError {
  return new EgressError("EGRESS_REQUEST_INVALID", message);
}
