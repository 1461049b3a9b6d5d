/** Programs that embed a registry, as processes: on both sides of standard streams, until they exit. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { describe, it } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { JsonObject } from "@toolcrib/json";
import { type McpService, methodNotFound, startStdioServer } from "@toolcrib/mcp";
import {
  createTestAuthority,
  makeTemporaryDirectory,
  runProcess,
  startRawServer,
  waitUntil,
  writeFiles,
} from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";

/** Arguments that run the fixture on this process's Node, on the sources or on the build. */
function childArguments(mode: string, ...more: readonly string[]): string[] {
  const conditions = process.execArgv.filter((argument) => argument.startsWith("--conditions"));
  return [...conditions, join(import.meta.dirname, "fixtures/registry-child.ts"), mode, ...more];
}

function toolNamed(name: string): JsonObject {
  return { name, description: `The tool ${name}`, inputSchema: { type: "object" } };
}

/** The service that a parent offers to its child. */
const parentService: McpService = {
  serverInfo: { name: "parent", version: "1.0.0" },
  capabilities: () => ({ tools: {} }),
  instructions: () => undefined,
  async handle({ method, params }) {
    if (method === "tools/list") {
      return { tools: [toolNamed("shout"), toolNamed("repeat")] };
    }
    if (method !== "tools/call") throw methodNotFound(method);
    const { text = "", length = 0 } = params["arguments"] as { text?: string; length?: number };
    const said = params["name"] === "shout" ? text.toUpperCase() : "x".repeat(length);
    return { content: [{ type: "text", text: said }] };
  },
  sessionOpened() {},
  sessionClosed() {},
  listen: async ({ filter }) => filter,
  toolInputSchema: () => undefined,
};

/** Starts the child, with this process as the server on its streams. */
function startChild(mode: string) {
  const child = spawn(process.execPath, childArguments(mode), { stdio: "pipe" }) as ChildProcess & {
    readonly stdin: Writable;
    readonly stdout: Readable;
    readonly stderr: Readable;
  };
  let written = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    written += text;
  });
  const server = startStdioServer(
    parentService,
    { input: child.stdout, output: child.stdin },
    { view: "", identity: localIdentity("stdio", "child"), sessionId: "child" },
  );
  return {
    child,
    server,
    written: () => written,
    lines: () =>
      written
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as unknown),
    // Output of the child can arrive after its exit.
    exited: Promise.all([once(child, "exit"), once(child.stderr, "end")]).then(([exit]) => exit),
  };
}

const taken = (what: string) =>
  `Cannot use this process's standard streams for ${what}: the backend "parent" uses them`;
const reports = [
  taken('the backend "again"'),
  taken("a client"),
  "ready",
  ["parent:shout", "parent:repeat"],
  "HELLO",
  5_000_000,
];

describe("a registry with the backend stdio://", () => {
  it("calls its parent process, also with lines of 5 MB, and exits when it is stopped", async () => {
    const { lines, written, exited, server } = startChild("execute");
    const ending = await exited;
    assert.deepEqual(ending, [0, null], written());
    assert.deepEqual(lines(), reports);
    await server[Symbol.asyncDispose]();
  });

  it("treats the exit of its parent as the end of its backend, and does not keep the process alive", async () => {
    const { child, lines, written, exited, server } = startChild("wait");
    await waitUntil(() => lines().includes("waiting"));
    await server[Symbol.asyncDispose]();
    child.stdin.end();
    const ending = await exited;
    assert.deepEqual(ending, [0, null], written());
    assert.deepEqual(lines(), [...reports, "waiting", "stopped"]);
  });
});

describe("a registry that is served on stdio", () => {
  it("serves an SDK client and exits with it", async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: childArguments("serve"),
      stderr: "pipe",
    });
    let written = "";
    transport.stderr?.on("data", (chunk: Buffer) => {
      written += chunk.toString();
    });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
    const result = await client.callTool({ name: "add", arguments: { a: 1, b: 2 } });
    assert.deepEqual(result.structuredContent, { sum: 3 });
    assert.deepEqual(result.content, [{ type: "text", text: '{"sum":3}' }]);
    await client.close();
    await waitUntil(() => written.includes("stopped"));
  });

  it("writes only responses in the wire format", async () => {
    const messages = [
      { jsonrpc: "2.0", method: "notifications/initialized" },
      {
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: {
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo: { name: "raw", version: "1" },
        },
      },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 99 } },
      { jsonrpc: "2.0", method: "notifications/of_the_future", params: {} },
      { jsonrpc: "2.0", method: "tools/call", params: { name: "add", arguments: { a: 1, b: 1 } } },
      { jsonrpc: "2.0", id: "a", method: "tools/call", params: { name: "add", arguments: { a: 2, b: 2 } } },
      { jsonrpc: "2.0", id: "b", method: "tools/call", params: { name: "nothing" } },
      { jsonrpc: "2.0", id: "c", method: "nothing" },
      { jsonrpc: "2.0", id: "d", method: "tools/call", params: { name: "add", arguments: [1] } },
    ];
    const stdin = messages.map((message) => `${JSON.stringify(message)}\n`).join("");
    const { code, stdout } = await runProcess(process.execPath, childArguments("serve"), { stdin });
    assert.equal(code, 0);
    const answers = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: string; result?: JsonObject; error?: { code: number } });
    assert.deepEqual(answers.map(({ id }) => id).sort(), [1, "a", "b", "c", "d"]);
    const answer = (id: string) => answers.find((one) => one.id === id);
    assert.deepEqual(answer("a")?.result, {
      content: [{ type: "text", text: '{"sum":4}' }],
      structuredContent: { sum: 4 },
    });
    assert.equal(answer("b")?.error?.code, -32602);
    assert.equal(answer("c")?.error?.code, -32601);
    assert.equal(answer("d")?.error?.code, -32602);
  });
});

describe("a registry that is never started", () => {
  it("does not keep its process alive", async () => {
    const { code } = await runProcess(process.execPath, childArguments("idle"));
    assert.equal(code, 0);
  });
});

describe("a registry with a backend over HTTPS", () => {
  it("trusts the authorities of SSL_CERT_FILE", async () => {
    const authority = createTestAuthority();
    await using directory = await makeTemporaryDirectory();
    await writeFiles(directory.path, { "ca.pem": authority.certificate, "none.pem": "nothing" });
    await using server = await startRawServer(undefined, {
      certificate: authority.sign({ hosts: ["localhost"] }),
    });
    const stateWith = async (file: string | undefined) => {
      const { SSL_CERT_FILE: _, ...rest } = process.env;
      const env = file === undefined ? rest : { ...rest, SSL_CERT_FILE: directory.join(file) };
      const { code, stderr } = await runProcess(process.execPath, childArguments("url", server.url), { env });
      assert.equal(code, 0, stderr);
      return stderr.trim().split("\n").at(-1);
    };
    assert.equal(await stateWith("ca.pem"), '"ready"');
    assert.notEqual(await stateWith(undefined), '"ready"');
    assert.notEqual(await stateWith("none.pem"), '"ready"');
  });
});
