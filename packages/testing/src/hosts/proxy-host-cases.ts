/**
 * Requests that name two hosts, or a host that is not allowed, at each place where a
 * client of the proxy names a host: CONNECT and its Host, the TLS handshake, and the
 * requests inside of the tunnel. `api.example.com` and `*.wild.example.com` are
 * allowed, on port 443. Longer than other files because it is a table.
 */

import { caseHost as host } from "./host-cases.ts";

/** A CONNECT request and its outcome. */
export interface ConnectCase {
  readonly authority: string;
  /** Header lines. @default `Host` with the authority */
  readonly headers?: readonly string[];
  readonly status: number;
  readonly code: string;
}

const row = (status: number, code: string, authorities: readonly string[]): ConnectCase[] =>
  authorities.map((authority) => ({ authority, status, code }));
const invalid = (...authorities: readonly string[]) => row(400, "EGRESS_AUTHORITY_INVALID", authorities);
const noRequest = (...authorities: readonly string[]) => row(400, "EGRESS_REQUEST_INVALID", authorities);
const hostDenied = (...authorities: readonly string[]) => row(403, "EGRESS_HOST_DENIED", authorities);
const portDenied = (...authorities: readonly string[]) => row(403, "EGRESS_PORT_DENIED", authorities);
const withHeaders = (status: number, code: string, ...lists: readonly (readonly string[])[]): ConnectCase[] =>
  lists.map((headers) => ({ authority: `${host}:443`, headers, status, code }));

/** CONNECT requests, all of which are refused. */
export const connectCases: readonly ConnectCase[] = [
  ...hostDenied(
    "evil.example.com:443",
    "example.com:443",
    "api.example.com.evil.test:443",
    "evil-api.example.com:443",
    "xapi.example.com:443",
    "api.example.org:443",
    "api.example.com.example.com:443",
    "wild.example.com:443",
    "a.b.wild.example.com:443",
    "evilwild.example.com:443",
    "xn--pi-9ia.example.com:443",
    "api.example.com.localhost.test:443",
    "metadata.google.internal:443",
    "wild.example.com.api.example.com:443",
  ),
  ...portDenied(
    `${host}:80`,
    `${host}:22`,
    `${host}:8443`,
    `${host}:444`,
    `${host}:1`,
    `${host}:65535`,
    `API.EXAMPLE.COM:25`,
    `a.wild.example.com:80`,
  ),
  ...invalid(
    "127.0.0.1:443",
    "127.1:443",
    "0x7f000001:443",
    "2130706433:443",
    "0177.0.0.1:443",
    "169.254.169.254:443",
    "10.0.0.1:443",
    "0.0.0.0:443",
    "[::1]:443",
    "[::ffff:127.0.0.1]:443",
    "[fe80::1%25eth0]:443",
    "::1:443",
    "localhost:443",
    `${host}.:443`,
    `.${host}:443`,
    `api..example.com:443`,
    `user@${host}:443`,
    `user:password@${host}:443`,
    `evil.test@${host}:443`,
    `${host}@evil.test:443`,
    `${host}%00.evil.test:443`,
    `${host}%2eevil.test:443`,
    `api%2eexample.com:443`,
    `${host}/evil.test:443`,
    `${host}?evil.test:443`,
    `https://${host}:443`,
    `//${host}:443`,
    `/${host}:443`,
    `*.example.com:443`,
    `*:443`,
    `-api.example.com:443`,
    `api-.example.com:443`,
    `api_x.example.com:443`,
    `${"a".repeat(64)}.example.com:443`,
    `${"a.".repeat(130)}example.com:443`,
    `${host}:443:443`,
    `${host}:80:443`,
    `evil.test:443,${host}:443`,
    `${host}:0443`,
    `${host}:00443`,
    `${host}:0`,
    `${host}:65536`,
    `${host}:65979`,
    `${host}:4294967739`,
    `${host}:99999999999999999999`,
    ":443",
  ),
  ...noRequest(
    host,
    `${host}:`,
    `${host}:https`,
    `${host}:443x`,
    `${host}:0x1bb`,
    `${host}:-443`,
    `${host}:443/`,
    `${host}:443/path`,
    `${host}:443?x`,
    `${host}:443#x`,
    `${host}:443@evil.test`,
    `${host}:443\\`,
    "/",
    "*",
    `${host}\\evil.test:443`,
    `${host}#evil.test:443`,
  ),
  ...withHeaders(
    421,
    "EGRESS_AUTHORITY_MISMATCH",
    ["Host: evil.example.com:443"],
    ["Host: evil.example.com"],
    [`Host: ${host}:80`],
    [`Host: ${host}:8443`],
    [`Host: a.wild.example.com:443`],
    [`Host: ${host}:443`, "Host: evil.example.com:443"],
    ["Host: evil.example.com:443", `Host: ${host}:443`],
  ),
  ...withHeaders(
    400,
    "EGRESS_AUTHORITY_INVALID",
    ["Host: 127.0.0.1:443"],
    ["Host: localhost"],
    [`Host: ${host}.`],
    [`Host: user@${host}`],
    [`Host: ${host}, evil.example.com`],
    [`Host: ${host}:443`, "Host: [::1]"],
  ),
  ...withHeaders(
    400,
    "EGRESS_REQUEST_INVALID",
    [`Host: ${host}`, "Content-Length: 5"],
    [`Host: ${host}`, "Transfer-Encoding: chunked"],
    [`Host: ${host}`, "Content-Length: 5", "Transfer-Encoding: chunked"],
    [`Host: ${host}`, " folded: x"],
    [`Host : ${host}`],
    [`Host: ${host}`, "X\0Y: z"],
    [`Host: ${host}`, "no colon"],
  ),
];

/** Names in the TLS handshake that differ from that of CONNECT, which is `api.example.com`. */
export const serverNameCases: readonly string[] = [
  "evil.example.com",
  "example.com",
  "api.example.com.evil.test",
  "xapi.example.com",
  "a.wild.example.com",
  "api.example.com.",
  "api.example.com..",
  ".api.example.com",
  "localhost",
  "api",
  "api_example.com",
  "*.example.com",
  "api.example.comm",
  "api.example.co",
];

/** A request inside of the tunnel to `api.example.com`, line by line, and its outcome. */
export interface InsideCase {
  readonly lines: readonly string[];
  readonly status: number;
}

const inside = (status: number, ...requests: readonly (readonly string[])[]): InsideCase[] =>
  requests.map((lines) => ({ lines, status }));
const named = (status: number, ...names: readonly string[]): InsideCase[] =>
  inside(status, ...names.map((name) => ["GET / HTTP/1.1", `Host: ${name}`]));

/** HTTP/1.1 requests inside of the tunnel. */
export const insideCases: readonly InsideCase[] = [
  ...named(200, host, `${host}:443`, "API.Example.COM", "Api.example.com:443"),
  ...named(
    421,
    "evil.example.com",
    "example.com",
    "a.wild.example.com",
    `${host}:80`,
    `${host}:8443`,
    `${host}:0443`,
    `${host}:65979`,
    `${host}.`,
    `${host}.evil.test`,
    `${host}@evil.test`,
    `evil.test@${host}`,
    `user@${host}`,
    `${host}:443@evil.test`,
    "127.0.0.1",
    "[::1]",
    "localhost",
    `${host}, evil.example.com`,
    `${host} evil.example.com`,
    `${host}/`,
    `https://${host}`,
    `${host}%00`,
    "",
  ),
  ...inside(
    421,
    ["GET / HTTP/1.1", `Host: ${host}`, "Host: evil.example.com"],
    ["GET / HTTP/1.1", "Host: evil.example.com", `Host: ${host}`],
    ["GET https://evil.example.com/ HTTP/1.1", `Host: ${host}`],
    [`GET https://${host}/ HTTP/1.1`, "Host: evil.example.com"],
    [`GET https://${host}:8443/ HTTP/1.1`, `Host: ${host}`],
    [`GET https://${host}@evil.test/ HTTP/1.1`, `Host: ${host}`],
    [`GET https://user@${host}/ HTTP/1.1`, `Host: ${host}`],
    [`GET http://${host}/ HTTP/1.1`, `Host: ${host}`],
    [`GET ftp://${host}/ HTTP/1.1`, `Host: ${host}`],
    [`GET https://127.0.0.1/ HTTP/1.1`, `Host: ${host}`],
    [`GET https:///evil HTTP/1.1`, `Host: ${host}`],
  ),
  ...inside(
    400,
    ["GET / HTTP/1.1"],
    ["GET / HTTP/1.0"],
    ["GET evil HTTP/1.1", `Host: ${host}`],
    [`GET ${host}/ HTTP/1.1`, `Host: ${host}`],
    ["GET * HTTP/1.1", `Host: ${host}`],
    ["GET /a\\b HTTP/1.1", `Host: ${host}`],
    ["GET /a#b HTTP/1.1", `Host: ${host}`],
    ["GET /a b HTTP/1.1", `Host: ${host}`],
    ["GET /caf\xe9 HTTP/1.1", `Host: ${host}`],
    ["GET / HTTP/1.1", ` Host: ${host}`],
    ["GET / HTTP/1.1", `Host : ${host}`],
    ["GET / HTTP/1.1", `Host: ${host}`, " evil.example.com"],
  ),
  ...inside(
    200,
    [`GET https://${host}/ HTTP/1.1`, `Host: ${host}`],
    [`GET HTTPS://${host}:443/x HTTP/1.1`, `Host: ${host}:443`],
    ["OPTIONS * HTTP/1.1", `Host: ${host}`],
    // Two Host lines with the same host name are accepted.
    ["GET / HTTP/1.1", `Host: ${host}`, `Host: ${host}:443`],
  ),
  ...inside(501, [`CONNECT ${host}:443 HTTP/1.1`, `Host: ${host}`]),
];

/** An HTTP/2 request inside of the tunnel, and its outcome. */
export interface InsideHttp2Case {
  readonly headers: { readonly [name: string]: string };
  readonly status: number | "reset";
}

/** HTTP/2 requests inside of the tunnel. */
export const insideHttp2Cases: readonly InsideHttp2Case[] = [
  { headers: { ":authority": host }, status: 200 },
  { headers: { ":authority": `${host}:443` }, status: 200 },
  { headers: { ":authority": "API.EXAMPLE.COM" }, status: 200 },
  { headers: { ":authority": host, host }, status: 200 },
  { headers: { ":authority": host, host: `${host}:443` }, status: 200 },
  ...["evil.example.com", "example.com", `${host}:80`, `${host}.`, "127.0.0.1", "[::1]", "localhost"].map(
    (authority) => ({ headers: { ":authority": authority }, status: 421 }),
  ),
  // The HTTP/2 implementation of Node refuses these before there is a request.
  { headers: { ":authority": `user@${host}` }, status: "reset" },
  { headers: { ":authority": `${host}@evil.test` }, status: "reset" },
  { headers: { ":authority": host, host: "evil.example.com" }, status: 421 },
  { headers: { ":authority": "evil.example.com", host }, status: 421 },
  { headers: { ":authority": host, ":scheme": "http" }, status: 421 },
  { headers: { ":authority": host, ":scheme": "ftp" }, status: 421 },
  { headers: { ":authority": host, ":path": "https://evil.example.com/" }, status: "reset" },
  { headers: { ":authority": host, ":path": `https://${host}/` }, status: "reset" },
  { headers: { ":authority": host, ":path": "*" }, status: "reset" },
  { headers: { ":authority": host, ":path": "evil" }, status: "reset" },
  { headers: { ":authority": host, ":path": "/a\\b" }, status: 400 },
  { headers: { ":authority": host, ":path": "/a#b" }, status: 400 },
];
