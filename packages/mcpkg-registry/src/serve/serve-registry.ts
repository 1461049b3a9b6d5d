/**
 * Serves the folder of a registry over plain HTTP, read only: `index.json`, the lists, and the
 * archives, and no other file of the folder. A client trusts the signature and not the server, so it
 * has no access control; TLS and access belong to a proxy in front of it. Links are not followed.
 */

import { closeSync, createReadStream, fstatSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { errnoOf, openRegularFile } from "@toolcrib/files";
import { McpkgRegistryError } from "../mcpkg-registry-error.ts";

// An `import` reads every export of the module, and `WebSocket` alone loads Node's whole fetch.
const { createServer } = process.getBuiltinModule("node:http");

/** Options of `serveRegistry`. */
export interface ServeOptions {
  /** @default "127.0.0.1" */
  readonly host?: string;
  /** 0 for any free port. @default 7421 */
  readonly port?: number;
  /** Connections at a time; further ones are closed. @default 128 */
  readonly maxConnections?: number;
  /** Milliseconds in which a request must be complete. @default 10000 */
  readonly requestTimeoutMs?: number;
  /** Milliseconds without a byte after which a connection is closed. @default 30000 */
  readonly idleTimeoutMs?: number;
  /** Milliseconds for one response, whatever the client reads. @default 600000 */
  readonly responseTimeoutMs?: number;
  /** Receives each request that was answered. */
  readonly onRequest?: (request: {
    readonly method: string;
    readonly path: string;
    readonly status: number;
  }) => void;
}

/** A server of a registry. Disposing closes it with its connections. */
export interface RegistryServer extends AsyncDisposable {
  /** With a slash at its end. */
  readonly url: string;
}

/** Files that are served, by their paths in the URL. */
const servedPath =
  /^\/(index\.json|index\/[0-9a-f]{64}\.json|packages\/[a-z0-9][a-z0-9_.]{0,199}-[0-9A-Za-z.+-]{1,100}\.mcpkg)$/;

/**
 * Serves the registry in `folder`.
 *
 * @throws {McpkgRegistryError} `MCPKG_REGISTRY_LISTEN_FAILED`
 */
export async function serveRegistry(folder: string, options: ServeOptions = {}): Promise<RegistryServer> {
  const {
    host = "127.0.0.1",
    port = 7421,
    maxConnections = 128,
    requestTimeoutMs = 10_000,
    idleTimeoutMs = 30_000,
  } = options;
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      keepAliveTimeout: 5000,
      connectionsCheckingInterval: Math.min(requestTimeoutMs, 5000),
      maxHeaderSize: 8192,
    },
    (request, response) => {
      void answer(folder, request, response, options).catch(() => response.destroy());
    },
  );
  server.maxConnections = maxConnections;
  server.setTimeout(idleTimeoutMs);
  await listen(server, host, port);
  const { address, port: bound, family } = server.address() as AddressInfo;
  const shown = family === "IPv6" ? `[${address}]` : address;
  return {
    url: `http://${shown}:${bound}/`,
    async [Symbol.asyncDispose]() {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeAllConnections();
      await promise;
    },
  };
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, host, resolve);
  try {
    await promise;
  } catch (cause) {
    throw new McpkgRegistryError(
      "MCPKG_REGISTRY_LISTEN_FAILED",
      `Cannot listen on ${host}:${port}: ${errnoOf(cause)}`,
      {
        cause,
        hint: "choose another address: --listen 127.0.0.1:PORT",
      },
    );
  } finally {
    server.off("error", reject);
  }
}

async function answer(
  folder: string,
  request: IncomingMessage,
  response: ServerResponse,
  { onRequest, responseTimeoutMs = 600_000 }: ServeOptions,
): Promise<void> {
  const { method = "", url = "" } = request;
  const path = decodePath(url);
  const end = (status: number, headers: { readonly [name: string]: string } = {}): void => {
    response.writeHead(status, { "content-length": "0", ...headers }).end();
    onRequest?.({ method, path: url.slice(0, 300), status });
  };
  // A body is not read: the connection ends with the response.
  if (request.headers["content-length"] !== undefined || request.headers["transfer-encoding"] !== undefined) {
    response.setHeader("connection", "close");
  }
  if (method !== "GET" && method !== "HEAD") return end(405, { allow: "GET, HEAD" });
  const [, file] = servedPath.exec(path) ?? [];
  if (file === undefined) return end(404);
  let descriptor: number;
  try {
    descriptor = openRegularFile(join(folder, ...file.split("/")));
  } catch {
    return end(404);
  }
  let isStreamed = false;
  try {
    const { size, mtimeNs, ino } = fstatSync(descriptor, { bigint: true });
    const etag = `"${size.toString(36)}-${mtimeNs.toString(36)}-${ino.toString(36)}"`;
    const headers = { etag, "cache-control": cachingOf(file), "x-content-type-options": "nosniff" };
    if (isMatch(request.headers["if-none-match"], etag)) return end(304, { etag });
    if (method === "HEAD")
      return end(200, { ...headers, "content-length": String(size), "content-type": typeOf(file) });
    response.writeHead(200, { ...headers, "content-length": String(size), "content-type": typeOf(file) });
    isStreamed = true;
    const source = createReadStream("", {
      fd: descriptor,
      ...(size === 0n ? {} : { end: Number(size) - 1 }),
    });
    await pipeline(source, response, { signal: AbortSignal.timeout(responseTimeoutMs) });
    onRequest?.({ method, path: url.slice(0, 300), status: 200 });
  } finally {
    if (!isStreamed) closeSync(descriptor);
  }
}

function decodePath(url: string): string {
  const [path = ""] = url.split("?", 1);
  try {
    return decodeURIComponent(path);
  } catch {
    return "";
  }
}

/**
 * Only lists are named by their content. A version that was removed can be published again with other bytes, so an
 * archive is validated before a copy of it is used, as `index.json` is.
 */
function cachingOf(file: string): string {
  return file.startsWith("index/") ? "public, max-age=31536000, immutable" : "no-cache";
}

function typeOf(file: string): string {
  return file.endsWith(".json") ? "application/json" : "application/zip";
}

function isMatch(header: string | undefined, etag: string): boolean {
  return header?.split(",").some((one) => one.trim() === etag || one.trim() === "*") === true;
}
