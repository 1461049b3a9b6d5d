/**
 * Reads a request inside a tunnel and checks it against the destination of the
 * tunnel. Every authority that the request names must be that of CONNECT.
 * Removes connection headers; refuses protocol upgrades. Pure.
 */

import { type Authority, parseAuthority } from "../authority.ts";
import { EgressError } from "../egress-error.ts";
import type { HeaderField, RequestHead } from "../inject/request-head.ts";
import type { ClientExchange, RawHeaders } from "./client-exchange.ts";
import { connectionOptions, valuesOf } from "./raw-headers.ts";

/** A request that can be admitted, and its framing. */
export interface ReadRequest {
  readonly head: RequestHead;
  /** Headers that frame the body: length, expectation, announced trailers. */
  readonly framing: RawHeaders;
  readonly takesTrailers: boolean;
}

/** Allowed in a path or query: visible ASCII, without backslashes and fragments. */
const pathPattern = /^\/[!-"$-[\]-~]*$/;
/** Characters of the target of a request to the proxy. @limit program */
const targetMaxLength = 32_768;
/** Headers that are passed on although `checkHead` reserves them for the sender. */
const framingHeaders: ReadonlySet<string> = new Set(["content-length", "expect", "trailer"]);
/** Headers that `Connection` may not remove: without them, the request has another meaning. */
const essentialHeaders: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "expect",
  "authorization",
  "cookie",
]);
/** Headers that may occur once: readers disagree about which of several counts. */
const singleHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "content-length",
  "content-type",
  "content-encoding",
  "content-location",
  "date",
  "expect",
  "from",
  "if-modified-since",
  "if-range",
  "if-unmodified-since",
  "max-forwards",
  "origin",
  "range",
  "referer",
  "user-agent",
]);

/**
 * Reads a request inside the tunnel to `authority`.
 *
 * @throws {EgressError} `EGRESS_AUTHORITY_MISMATCH`, `EGRESS_REQUEST_INVALID`, `EGRESS_UPGRADE_REFUSED`
 */
export function readRequest(exchange: ClientExchange, authority: Authority): ReadRequest {
  const { method, headers } = exchange;
  if (method === "CONNECT") throw upgradeRefused("CONNECT");
  const path = readTarget(exchange, authority);
  checkAuthorities(exchange.authorities, authority);
  const requested = valuesOf(headers, "upgrade").join(", ");
  // An offer of HTTP/2 needs no answer; a client that requests another protocol waits for one.
  if (requested !== "" && !/^\s*h2c?\s*$/i.test(requested)) throw upgradeRefused(requested);
  const error = framingError(headers);
  if (error !== undefined) throw error;
  const { fields, framing } = sortHeaders(headers);
  return {
    head: { method, target: { authority, path }, headers: fields },
    framing,
    takesTrailers: valuesOf(headers, "te").some((value) => /(?:^|,)\s*trailers\s*(?:,|$)/i.test(value)),
  };
}

/**
 * Returns the error of headers that make the bytes of a request mean something else to the next server: a body in an
 * encoding that ends here, or a `Connection` that removes the length, the host or credentials. Undefined for others.
 */
export function framingError(headers: RawHeaders): EgressError | undefined {
  const encodings = valuesOf(headers, "transfer-encoding");
  if (encodings.some((value) => value.toLowerCase() !== "chunked")) {
    return invalid("its transfer encoding is not chunked");
  }
  const removed = essentialHeaders.intersection(connectionOptions(headers)).values().next().value;
  return removed === undefined ? undefined : invalid(`its Connection header names "${removed}"`);
}

function readTarget({ target, scheme, method }: ClientExchange, authority: Authority): string {
  if (scheme !== undefined && scheme !== "https") throw mismatch(`its scheme is "${scheme.slice(0, 20)}"`);
  if (target.length > targetMaxLength) throw invalid(`its path has more than ${targetMaxLength} characters`);
  if (target === "*" && method === "OPTIONS") return target;
  // RFC 9112 §3.2.2: an absolute URL is accepted if it names the same origin.
  const whole = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/is.exec(target);
  if (whole !== null) {
    if (whole[1]?.toLowerCase() !== "https") throw mismatch(`its URL is one of "${whole[1]?.slice(0, 20)}"`);
    checkAuthorities([whole[2] as string], authority);
  }
  const path = whole === null ? target : (whole[3] as string).replace(/^(?!\/)/, "/");
  if (!pathPattern.test(path))
    throw invalid('its path does not begin with "/" or has characters that it cannot have');
  return path;
}

function checkAuthorities(names: readonly string[], authority: Authority): void {
  if (names.length === 0) throw invalid("it does not name its host");
  for (const name of names) {
    if (canonicalText(name) !== authority.text) {
      throw mismatch("it names another host");
    }
  }
}

function canonicalText(name: string): string | undefined {
  try {
    return parseAuthority(name).text;
  } catch {
    // An invalid authority differs from every valid one.
    return undefined;
  }
}

/** Removes connection headers, and joins repeated headers where that has the same meaning (RFC 9110 §5.3). */
function sortHeaders(headers: RawHeaders): { fields: readonly HeaderField[]; framing: RawHeaders } {
  const options = connectionOptions(headers);
  const framing: string[] = [];
  const fields = new Map<string, [name: string, value: string]>();
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string;
    const value = headers[index + 1] as string;
    const lower = name.toLowerCase();
    if (options.has(lower)) continue;
    if (framingHeaders.has(lower)) framing.push(name, value);
    else {
      const before = fields.get(lower);
      if (before === undefined) fields.set(lower, [name, value]);
      else if (singleHeaders.has(lower)) throw invalid(`it has the header "${lower}" more than once`);
      else before[1] += `${lower === "cookie" ? "; " : ", "}${value}`;
    }
  }
  return { fields: [...fields.values()], framing };
}

function invalid(state: string): EgressError {
  return new EgressError("EGRESS_REQUEST_INVALID", `Cannot pass the request on: ${state}`);
}

function mismatch(state: string): EgressError {
  return new EgressError("EGRESS_AUTHORITY_MISMATCH", `Cannot pass the request on in this tunnel: ${state}`, {
    hint: "CONNECT, the name of the TLS handshake and the host of the request must be the same",
  });
}

function upgradeRefused(protocol: string): EgressError {
  const shown = JSON.stringify(protocol.slice(0, 40));
  return new EgressError("EGRESS_UPGRADE_REFUSED", `Cannot change the protocol to ${shown}`, {
    hint: "the proxy passes on HTTP requests; WebSocket and CONNECT within the tunnel are not supported",
  });
}
