/** Explains why nothing could be added from a URL: what happened, in words, and what to do about it. Pure. */

import type { Health } from "@toolcrib/tool";
import { shownUrl } from "../server-import/shown-entry.ts";

/** The problem of the trial of a server at a URL, and its fix. */
export interface UrlFailure {
  readonly problem: string;
  readonly fix: string;
}

/** Codes of the system for an address that does not answer. */
const unansweredCodes: ReadonlySet<string> = new Set([
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);
/** Codes of OpenSSL for an answer that is not TLS. */
const plainCodes: ReadonlySet<string> = new Set([
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
  "ERR_SSL_HTTP_REQUEST",
]);
const certificateCode =
  /^(?:(?:DEPTH_ZERO_)?SELF_SIGNED_CERT\w*|UNABLE_TO_\w+|ERR_TLS_CERT_ALTNAME_INVALID|CERT_\w+)$/;
/** Statuses of a page that is at this address, or not, and speaks no MCP. */
const pageStatuses: ReadonlySet<number> = new Set([404, 405, 406, 410]);

const certificateProblems: { readonly [code: string]: string } = {
  CERT_HAS_EXPIRED: "the certificate of the server has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate of the server is for another host",
  DEPTH_ZERO_SELF_SIGNED_CERT:
    "the certificate of the server is signed by itself, and this machine does not trust it",
  SELF_SIGNED_CERT_IN_CHAIN:
    "the certificate of the server is by an authority that this machine does not trust",
};

/**
 * Returns the explanation of a failed trial; undefined for a failure whose reason speaks for itself.
 *
 * @param hasHeaders whether headers were sent, which can be credentials
 */
export function explainUrlFailure(
  url: URL,
  { code, systemCode = "", status = 0 }: NonNullable<Health["failure"]>,
  hasHeaders: boolean,
): UrlFailure | undefined {
  if (code === "MCP_UNAUTHORIZED") return refused(status, hasHeaders);
  if (code === "MCP_INVALID_MESSAGE" || (code === "MCP_HTTP_ERROR" && pageStatuses.has(status))) {
    return {
      problem: `${shownUrl(url.href)} is no MCP server: it answers, but not in MCP`,
      fix: "use the URL of its MCP endpoint, which often ends in /mcp or /sse, and not that of its web page",
    };
  }
  if (code === "MCP_TIMEOUT" || unansweredCodes.has(systemCode)) {
    return {
      problem: `${placeOf(url)} does not answer`,
      fix: "check that the server runs, and that this machine reaches its network (firewall, VPN, proxy)",
    };
  }
  if (systemCode === "ECONNREFUSED") {
    return {
      problem: `nothing listens at ${placeOf(url)}: the connection was refused`,
      fix: "start the server, or correct the port of the URL",
    };
  }
  if (systemCode === "ENOTFOUND" || systemCode.startsWith("EAI_")) {
    return {
      problem: `this machine finds no address for the host ${url.hostname}`,
      fix: "check the spelling of the host, and the network or VPN that knows it",
    };
  }
  if (plainCodes.has(systemCode)) {
    return {
      problem: `${placeOf(url)} does not speak TLS`,
      fix: `use http: if the server is on this machine: ${shownUrl(url.href.replace(/^https:/, "http:"))}`,
    };
  }
  return certificateCode.test(systemCode) ? distrusted(url, systemCode) : undefined;
}

function refused(status: number, hasHeaders: boolean): UrlFailure {
  return {
    problem: `the server ${hasHeaders ? "refuses these" : "wants"} credentials (HTTP ${status})`,
    fix: hasHeaders
      ? "check the value of the stored secret, which is sent as it is, with its scheme (Bearer TOKEN)"
      : "store them, with their scheme, and send them in a header: toolcrib secret set NAME, then add it with --secret Authorization=NAME",
  };
}

function distrusted({ hostname }: URL, code: string): UrlFailure {
  const byCode: { readonly [code: string]: string } = {
    CERT_HAS_EXPIRED: "its operator must renew it; check the clock of this machine, too",
    ERR_TLS_CERT_ALTNAME_INVALID: "use the host name that the certificate is for",
  };
  return {
    problem:
      certificateProblems[code] ?? `this machine does not trust the certificate of ${hostname} (${code})`,
    fix:
      byCode[code] ??
      "for a certificate of your own network, set NODE_EXTRA_CA_CERTS to the file of its authority",
  };
}

function placeOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`;
}
