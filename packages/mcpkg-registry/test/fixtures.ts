/** Packages, keys, clocks and web servers for the tests of registries. */

import { createPrivateKey, type KeyObject, randomBytes } from "node:crypto";
import { createServer, type RequestListener, request } from "node:http";
import type { AddressInfo } from "node:net";
import { SchemaValidator } from "@toolcrib/json";
import { parsePackage, signPackage, writeArchive } from "@toolcrib/mcpkg";
import {
  openRegistries,
  type PackageRegistries,
  type RegistrySource,
  readRegistryUrl,
  type SendRegistryRequest,
} from "@toolcrib/mcpkg-registry";

/** Returns the private key whose seed consists of one byte. */
export function keyOf(byte: number): KeyObject {
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, byte)]);
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" });
}

export const publisherKey = keyOf(1);
export const registryKey = keyOf(2);

/** The time of the tests: 2026-01-01. */
export const startMs = Date.UTC(2026, 0, 1);
export const dayMs = 24 * 3600 * 1000;

/** Returns the dependencies of a change at `day`. */
export function at(day: number) {
  return { now: () => startMs + day * dayMs, randomBytes };
}

const schema = { type: "object", properties: { message: { type: "string" } } };

/** Returns the archive of a package. @param key `null` for an unsigned one */
export function archiveOf(
  changes: object = {},
  key: KeyObject | null = publisherKey,
  files: object = {},
): Buffer {
  const manifest = {
    toolId: "demo.echo",
    name: "Echo Tool",
    version: "1.0.0",
    description: "Echos back whatever input it receives.",
    capabilities: ["demo", "echo"],
    endpoint: { type: "http", method: "POST", url: "https://example.com/mcp/echo" },
    input_schema: schema,
    output_schema: schema,
    ...changes,
  };
  const all = { "manifest.json": JSON.stringify(manifest), ...files };
  const map = new Map(
    Object.entries(all).map(([path, text]) => [
      path,
      { bytes: Buffer.from(String(text)), isExecutable: false },
    ]),
  );
  const { value, diagnostics } = parsePackage(map, new SchemaValidator());
  if (value === undefined) throw new Error(JSON.stringify(diagnostics));
  return Buffer.from(writeArchive(key === null ? map : signPackage(value, key)));
}

/** Returns archives for `addPackages`. */
export function named(...archives: readonly Buffer[]) {
  return archives.map((bytes, index) => ({ name: `${index}.mcpkg`, bytes }));
}

/** Starts a web server on loopback. */
export async function startWeb(
  listener: RequestListener,
): Promise<AsyncDisposable & { readonly source: RegistrySource; readonly url: string }> {
  const server = createServer(listener);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    source: { name: "web", place: readRegistryUrl(url) },
    async [Symbol.asyncDispose]() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
}

/** Sends requests as the command line does: it stops at the limit, and when the signal aborts. */
export const send: SendRegistryRequest = async ({ url, headers, signal, maxBytes }) => {
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<SendRegistryRequest>>>();
  const sent = request(url, { headers, signal, agent: false }, (response) => {
    const parts: Buffer[] = [];
    let totalBytes = 0;
    response.on("data", (part: Buffer) => {
      totalBytes += part.length;
      if (totalBytes <= maxBytes) parts.push(part);
      else response.destroy();
    });
    response.on("error", reject);
    response.on("close", () =>
      resolve({
        status: response.statusCode ?? 0,
        headers: { etag: response.headers.etag, location: response.headers.location },
        body: Buffer.concat(parts),
        totalBytes,
      }),
    );
  });
  sent.on("error", reject);
  sent.end();
  return await promise;
};

/** Reads registries as a client with its own home. */
export function open(
  home: string,
  sources: readonly RegistrySource[],
  { day = 1, ...options }: { readonly day?: number } & Partial<Parameters<typeof openRegistries>[2]> = {},
): Promise<PackageRegistries> {
  return openRegistries({ home, ...at(day), send }, sources, {
    signal: new AbortController().signal,
    ...options,
  });
}
