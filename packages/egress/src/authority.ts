/**
 * The canonical form of a host and port. It is created here, once for each
 * request. The policy check, DNS, TLS (SNI and verification) and the `Host`
 * header all use this value.
 *
 * The only normalization is to lower case. User information, address literals
 * in any spelling, Unicode, underscores, trailing dots, percent signs, control
 * characters and unusual ports are refused, so that no two readers of a URL
 * disagree about its destination.
 */

import { canonicalHost, isHostAllowed } from "@toolcrib/hosts";
import { EgressError } from "./egress-error.ts";
import type { EgressSource } from "./egress-types.ts";
import { withoutPlaceholders } from "./scan/placeholder.ts";

/** A host and a port in canonical form. */
export interface Authority {
  /** Lower-case ASCII name of two labels or more. */
  readonly host: string;
  readonly port: number;
  /** The value of `Host`: without the port if that is 443. */
  readonly text: string;
}

/** The destination of a URL. */
export interface Target {
  readonly authority: Authority;
  /** Path and query as they are sent. Starts with "/". */
  readonly path: string;
}

const httpsPort = 443;
const urlMaxLength = 32_768;
/** Allowed in a path or query: visible ASCII. A backslash is excluded, since some readers take it for a slash. */
const pathPattern = /^[!-[\]-~]*$/;

/**
 * Parses `host` or `host:port`.
 *
 * @throws {EgressError} `EGRESS_AUTHORITY_INVALID`
 */
export function parseAuthority(text: string): Authority {
  const match = /^([^:]*)(?::([1-9][0-9]{0,4}))?$/.exec(text);
  const host = match?.[1] === undefined ? undefined : canonicalHost(match[1]);
  const port = match?.[2] === undefined ? httpsPort : Number(match[2]);
  if (host === undefined || port > 65_535) throw invalid(text);
  return { host, port, text: port === httpsPort ? host : `${host}:${port}` };
}

/**
 * Parses the URL of a request: `https://`, authority, path and query.
 *
 * @throws {EgressError} `EGRESS_AUTHORITY_INVALID`
 */
export function parseTarget(url: string): Target {
  const match = url.length > urlMaxLength ? null : /^https:\/\/([^/?#]*)([^#]*)$/.exec(url);
  if (match === null) throw invalid(url);
  const authority = parseAuthority(match[1] as string);
  const rest = match[2] as string;
  if (!pathPattern.test(rest)) throw invalid(url);
  return { authority, path: rest.startsWith("/") ? rest : `/${rest}` };
}

/**
 * Checks that `source` may reach an authority.
 *
 * @throws {EgressError} `EGRESS_HOST_DENIED`, `EGRESS_PORT_DENIED`
 */
export function authorize(source: EgressSource, { host, port }: Authority): void {
  if (!isHostAllowed(source.allow, host)) {
    throw new EgressError("EGRESS_HOST_DENIED", `Cannot reach "${host}": it is not an allowed host`, {
      hint: `allow "${host}" in the egress list of "${source.id}"`,
    });
  }
  const ports = portsOf(source, host);
  if (!ports.includes(port)) {
    throw new EgressError(
      "EGRESS_PORT_DENIED",
      `Cannot reach port ${port} of "${host}": allowed ports are ${ports.join(", ")}`,
    );
  }
}

/** Whether the TLS of an authorized authority is passed on unread: all entries that allow it say so. */
export function isPassedThrough(
  { allow, ports = [httpsPort] }: EgressSource,
  { host, port }: Authority,
): boolean {
  const matching = allow.filter(
    (pattern) => isHostAllowed([pattern], host) && (pattern.ports ?? ports).includes(port),
  );
  return matching.length > 0 && matching.every(({ tls }) => tls === "passthrough");
}

/** Returns the ports at which `source` may reach an allowed host. */
function portsOf({ allow, ports = [httpsPort] }: EgressSource, host: string): readonly number[] {
  if (allow.every((pattern) => pattern.ports === undefined)) return ports;
  const matching = allow.filter((pattern) => isHostAllowed([pattern], host));
  return [...new Set(matching.flatMap((pattern) => pattern.ports ?? ports))];
}

function invalid(text: string): EgressError {
  return new EgressError(
    "EGRESS_AUTHORITY_INVALID",
    `Cannot read "${showHost(text)}": it is not "https://", a host name in ASCII, and a path`,
    { hint: "addresses, user information, fragments and trailing dots are not allowed" },
  );
}

/** Returns a valid or invalid host for messages and events: without passwords, paths and placeholders, escaped, at most 100 characters. */
export function showHost(text: string): string {
  const bare = text.replace(/^https?:\/\//i, "").replace(/[/?#\\].*$/s, "");
  const host = bare.slice(bare.lastIndexOf("@") + 1).replace(/:(?![0-9]*$)[^\]]*$/, "");
  return JSON.stringify(withoutPlaceholders(host).toWellFormed())
    .slice(1, -1)
    .replace(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .slice(0, 100);
}
