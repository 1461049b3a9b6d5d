/** Packages in the install record of a home, and gateways that offer them. */

import { hash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import type { JsonObject } from "@toolcrib/json";
import { writeFiles } from "@toolcrib/testing";

/** The echo package of the MCPKG document, section 9. */
export const echoManifest = {
  toolId: "demo.echo",
  name: "Echo Tool",
  version: "0.1.0",
  description: "Echos back whatever input it receives.",
  capabilities: ["demo", "echo"],
  endpoint: { type: "http", method: "POST", url: "https://example.com/mcp/echo", timeoutMs: 5000 },
  input_schema: {
    type: "object",
    properties: { message: { type: "string" } },
    required: ["message"],
  },
  output_schema: {
    type: "object",
    properties: { message: { type: "string" } },
    required: ["message"],
  },
  tests: ["tests/echo.test.json"],
} as const;

/** Its test. */
export const echoTest = JSON.stringify({
  name: "simple_echo",
  input: { message: "hello" },
  expected: { message: "hello" },
  assertions: [{ path: "$.message", equals: "hello" }],
});

/** Files of a package by path; a text that begins with `#!` is executable. */
export interface PackageContent {
  readonly manifest: JsonObject & { readonly toolId: string };
  readonly files?: { readonly [path: string]: string | Uint8Array };
  /** Tools that the operator approved for its programs. @default none */
  readonly approvedTools?: readonly string[];
}

/** Returns a package with a local endpoint. */
export function localPackage(
  toolId: string,
  command: string,
  files: { readonly [path: string]: string },
  more: JsonObject = {},
): PackageContent {
  return {
    manifest: {
      toolId,
      name: toolId,
      version: "1.0.0",
      description: `The tool ${toolId}.`,
      capabilities: ["test"],
      endpoint: { type: "local", command },
      input_schema: { type: "object" },
      output_schema: {},
      ...more,
    },
    files,
  };
}

/** Puts packages into a home, in place of those that are installed there. */
export function putPackages(home: string, packages: readonly PackageContent[]): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const entries = packages.map(({ manifest, files = {}, approvedTools = [] }) => {
    const all = { "manifest.json": JSON.stringify(manifest), ...files };
    const folder = join(home, "packages", manifest.toolId);
    rmSync(folder, { recursive: true, force: true });
    writeFiles(folder, all);
    for (const path of Object.keys(all)) {
      chmodSync(join(folder, path), isProgram(readFileSync(join(folder, path))) ? 0o755 : 0o644);
    }
    return {
      toolId: manifest.toolId,
      version: String(manifest["version"]),
      digest: `sha256:${hash("sha256", JSON.stringify(all), "hex")}`,
      source: "test",
      installedAt: "2026-01-01T00:00:00.000Z",
      approvedTools,
      files: Object.keys(all).map((path) => recorded(folder, path)),
    };
  });
  const record = join(home, "packages", ".record.json");
  mkdirSync(dirname(record), { recursive: true, mode: 0o700 });
  const text = `${JSON.stringify({ format: 1, packages: entries, publisherKeys: {} }, undefined, 1)}\n`;
  writeFileSync(`${record}.new`, text, { mode: 0o600 });
  renameSync(`${record}.new`, record);
}

function recorded(folder: string, path: string): JsonObject {
  const bytes = readFileSync(join(folder, path));
  return {
    path,
    bytes: bytes.length,
    sha256: hash("sha256", bytes, "hex"),
    isExecutable: isProgram(bytes),
  };
}

function isProgram(bytes: Buffer): boolean {
  return bytes.toString("latin1", 0, 2) === "#!";
}

/** A request that a loopback server received. */
export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A plain HTTP server of this machine. */
export interface LoopbackServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
}

interface LoopbackAnswer {
  readonly status?: number;
  readonly body: string;
}

/** Starts a server that answers with what `answer` returns for each request. @default the JSON body of the request */
export async function startLoopbackServer(
  answer: (request: ReceivedRequest) => LoopbackAnswer | Promise<LoopbackAnswer> = ({ body }) => ({ body }),
): Promise<LoopbackServer> {
  const requests: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { method = "", url = "", headers } = request;
    const received = { method, url, headers, body: Buffer.concat(parts).toString("utf8") };
    requests.push(received);
    const { status = 200, body } = await answer(received);
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
