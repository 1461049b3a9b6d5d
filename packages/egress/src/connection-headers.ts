/** The headers of a single connection, in lower case; readers add those that they handle themselves. Pure. */

/**
 * Headers of a connection in either direction: those of RFC 9110 section 7.6.1, and the challenge of a proxy
 * (section 11.7.1).
 */
export const connectionHeaders: readonly string[] = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
];

/** Those of a request: also `TE` (sections 7.6.1 and 10.1.4) and the credentials for a proxy (section 11.7.2). */
export const requestConnectionHeaders: readonly string[] = [
  ...connectionHeaders,
  "proxy-authorization",
  "te",
];
