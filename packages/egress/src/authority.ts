/**
 * The one form of a host and port. It is made here, once for each request, and
 * what is made here is what policy judges, DNS is asked for, TLS is told (SNI)
 * and verified against, and `Host` says.
 *
 * Nothing is repaired but letters to lower case. User information, address
 * literals in any spelling, Unicode, underscores, dots at the end, percent
 * signs, control characters and odd ports are refused, so that no two readers
 * of a URL can differ about where it leads.
 */

import { canonicalHost, isHostAllowed } from "@toolcrib/hosts";
import { EgressError } from "./egress-error.ts";
import type { EgressSource } from "./egress-types.ts";
import { withoutPlaceholders } from "./scan/placeholder.ts";

/** A host and a port in their one form. */
export interface Authority {
  /** Lower-case ASCII name of two labels or more. */
  readonly host: string;
  readonly port: number;
  /** As `Host` has it: without the port where it is 443. */
  readonly text: string;
}

/** Where a URL leads. */
export interface Target {
  readonly authority: Authority;
  /** Path and query, as they are sent. Begins with "/". */
  readonly path: string;
}

const httpsPort = 443;
const urlMaxLength = 32_768;
/** What may stand in a path or query: visible ASCII. A backslash is a slash to some readers. */
const pathPattern = /^[!-[\]-~]*$/;

/**
 * Read `host` or `host:port`.
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
 * Read a URL of a request: `https://`, authority, path and query.
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
 * Hold an authority to what `source` may reach.
 *
 * @throws {EgressError} `EGRESS_HOST_DENIED`, `EGRESS_PORT_DENIED`
 */
export function authorise(source: EgressSource, { host, port }: Authority): void {
  if (!isHostAllowed(source.allow, host)) {
    throw new EgressError("EGRESS_HOST_DENIED", `Cannot reach "${host}": it is not among the allowed hosts`, {
      hint: `allow "${host}" in the egress list of "${source.id}"`,
    });
  }
  const ports = source.ports ?? [httpsPort];
  if (!ports.includes(port)) {
    throw new EgressError(
      "EGRESS_PORT_DENIED",
      `Cannot reach port ${port} of "${host}": allowed ports are ${ports.join(", ")}`,
    );
  }
}

function invalid(text: string): EgressError {
  return new EgressError(
    "EGRESS_AUTHORITY_INVALID",
    `Cannot read "${showHost(text)}": it is not "https://", a host name in ASCII, and a path`,
    { hint: "addresses, user information, fragments and dots at the end are not allowed" },
  );
}

/** A host for messages and events, whatever it is: without what may be a password, a path or a placeholder, escaped, at most 100 characters. */
export function showHost(text: string): string {
  const bare = text.replace(/^https?:\/\//i, "").replace(/[/?#\\].*$/s, "");
  const host = bare.slice(bare.lastIndexOf("@") + 1).replace(/:(?![0-9]*$)[^\]]*$/, "");
  return JSON.stringify(withoutPlaceholders(host).toWellFormed())
    .slice(1, -1)
    .replace(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .slice(0, 100);
}
