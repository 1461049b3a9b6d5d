/** Decides which headers a parameter or a credential can be sent in. */

/** RFC 9110 token. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Headers that frame a message or belong to the connection: only the HTTP client sets them. */
const ofTheClient: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "cookie",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Whether `name` is a valid header name. */
export function isHeaderName(name: string): boolean {
  return token.test(name) && name.length <= 128;
}

/** Whether only the HTTP client sets the header (hop-by-hop, framing, cookies, `proxy-*`). */
export function isClientHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return ofTheClient.has(lower) || lower.startsWith("proxy-");
}
