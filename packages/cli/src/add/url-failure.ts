/** Explains why nothing could be added from a URL: what happened, in words, and what to do about it. Pure. */

/** What happened to the trial of a server at a URL. */
export interface UrlFailure {
  readonly problem: string;
  readonly fix: string;
}

type Explain = (url: URL, found: RegExpExecArray, hasHeaders: boolean) => UrlFailure;

/** Reasons of failed trials, by what they contain; the first that matches counts. */
const explanations: readonly (readonly [pattern: RegExp, explain: Explain])[] = [
  [
    /cannot be reached: ECONNREFUSED/,
    (url) => ({
      problem: `nothing listens at ${placeOf(url)}: the connection was refused`,
      fix: "start the server, or correct the port of the URL",
    }),
  ],
  [
    /cannot be reached: (?:ENOTFOUND|EAI_AGAIN|EAI_NONAME)/,
    ({ hostname }) => ({
      problem: `this machine finds no address for the host ${hostname}`,
      fix: "check the spelling of the host, and the network or VPN that knows it",
    }),
  ],
  [
    /cannot be reached: (?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)|did not answer|timed out|no answer within/i,
    (url) => ({
      problem: `${placeOf(url)} does not answer`,
      fix: "check that the server runs, and that this machine reaches its network (firewall, VPN, proxy)",
    }),
  ],
  [
    /ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|ERR_SSL_HTTP_REQUEST/,
    (url) => ({
      problem: `${placeOf(url)} does not speak TLS`,
      fix: `use http: if the server is on this machine: ${url.href.replace(/^https:/, "http:")}`,
    }),
  ],
  [
    /\b(?:DEPTH_ZERO_)?SELF_SIGNED_CERT\w*|\bUNABLE_TO_\w+|\bERR_TLS_CERT_ALTNAME_INVALID|\bCERT_\w+/,
    ({ hostname }, [code]) => ({
      problem:
        certificateProblems[code] ?? `this machine does not trust the certificate of ${hostname} (${code})`,
      fix:
        code === "CERT_HAS_EXPIRED"
          ? "its operator must renew it; check the clock of this machine, too"
          : code === "ERR_TLS_CERT_ALTNAME_INVALID"
            ? "use the host name that the certificate is for"
            : "for a certificate of your own network, set NODE_EXTRA_CA_CERTS to the file of its authority",
    }),
  ],
  [
    /refused the credentials \(HTTP (401|403)\)/,
    (_url, [, status], hasHeaders) => ({
      problem: `the server ${hasHeaders ? "refuses these" : "wants"} credentials (HTTP ${status})`,
      fix: hasHeaders
        ? "check the value of the stored secret, which is sent as it is, with its scheme (Bearer TOKEN)"
        : "store them, with their scheme, and send them in a header: toolcrib secret set NAME, then add it with --secret Authorization=NAME",
    }),
  ],
  [
    /with "text\/html" and no JSON-RPC answer|answered HTTP \d+: <(?:!doctype|html)|contains no response to the request|no JSON-RPC answer|answered HTTP (?:404|405|406|410)/i,
    (url) => ({
      problem: `${url.href} is no MCP server: it answers, but not in MCP`,
      fix: "use the URL of its MCP endpoint, which often ends in /mcp or /sse, and not that of its web page",
    }),
  ],
];

const certificateProblems: { readonly [code: string]: string } = {
  CERT_HAS_EXPIRED: "the certificate of the server has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate of the server is for another host",
  DEPTH_ZERO_SELF_SIGNED_CERT:
    "the certificate of the server is signed by itself, and this machine does not trust it",
  SELF_SIGNED_CERT_IN_CHAIN:
    "the certificate of the server is by an authority that this machine does not trust",
};

/**
 * Returns the explanation of the reason of a failed trial; undefined for a reason that speaks for itself.
 *
 * @param hasHeaders whether headers were sent, which can be credentials
 */
export function explainUrlFailure(url: URL, reason: string, hasHeaders: boolean): UrlFailure | undefined {
  for (const [pattern, explain] of explanations) {
    const found = pattern.exec(reason);
    if (found !== null) return explain(url, found, hasHeaders);
  }
  return undefined;
}

function placeOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`;
}
