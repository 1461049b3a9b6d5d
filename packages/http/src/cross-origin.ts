/**
 * Cross-origin resource sharing for web pages whose origin passed the check:
 * the headers that a browser requires before it lets a page call and read answers.
 * Credentials of the browser (cookies) are never allowed; tokens travel in the
 * Authorization header, which the page must have.
 */

import type { HttpRequest, HttpResponse } from "@toolcrib/mcp";

/** Methods that any path accepts. */
const methods = "GET, POST, DELETE";
const exposedHeaders = "mcp-session-id, mcp-protocol-version, www-authenticate, retry-after";

/** Headers that a page may send, in addition to those that mirror an MCP request (`mcp-…`). */
const allowedHeaders: ReadonlySet<string> = new Set([
  "accept",
  "authorization",
  "content-type",
  "last-event-id",
]);

/** Lets the page at `origin` read the answer. */
export function shareWith(response: HttpResponse, origin: string): void {
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-expose-headers", exposedHeaders);
  response.setHeader("vary", "origin");
}

/** Whether `request` is a preflight request of a browser. */
export function isPreflight(request: HttpRequest): boolean {
  return (
    request.method === "OPTIONS" &&
    request.headers.origin !== undefined &&
    request.headers["access-control-request-method"] !== undefined
  );
}

/** Answers a preflight request with those of the requested headers that a page may send. */
export function answerPreflight(request: HttpRequest, response: HttpResponse): void {
  const asked = String(request.headers["access-control-request-headers"] ?? "").toLowerCase();
  const allowed = asked
    .split(",")
    .map((name) => name.trim())
    .filter((name) => allowedHeaders.has(name) || /^mcp-[a-z0-9-]{1,100}$/.test(name));
  response.writeHead(204, {
    "access-control-allow-methods": methods,
    "access-control-allow-headers": allowed.join(", "),
    "access-control-max-age": "7200",
  });
  response.end();
}
