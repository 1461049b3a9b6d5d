/** Real clients over each transport, with the real servers of the quickstart. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
  SSEClientTransport as SseV2,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport as SseV1 } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { makeTemporaryDirectory, runProcess, type TemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { commandLine } from "../transcript.ts";
import { quickstartConfig, type ServedGateway, serveGateway } from "./gateway-process.ts";

describe("real clients against the quickstart", () => {
  let directory: TemporaryDirectory;
  let gateway: ServedGateway;
  let stdioHome: string;

  before(async () => {
    directory = await makeTemporaryDirectory();
    stdioHome = join(directory.path, "stdio-home");
    gateway = await serveGateway(quickstartConfig, join(directory.path, "home"));
    await waitUntil(async () => (await fetch(`${gateway.baseUrl}/readyz`)).ok);
  });

  after(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await directory?.[Symbol.asyncDispose]();
  });

  const headers = () => ({ Authorization: `Bearer ${gateway.token}` });
  const stdio = () => ({
    command: process.execPath,
    args: [...commandLine, "serve", "--stdio", "--config", quickstartConfig, "--home", stdioHome],
    stderr: "ignore" as const,
    env: { PATH: process.env["PATH"] ?? "" },
  });

  /** Checks the operations that every client must support. */
  async function exercise(client: Pick<ClientV1, "listTools" | "callTool" | "close">): Promise<void> {
    const hasAll = async () => {
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      return ["everything__echo", "filesystem__read_text_file", "memory__read_graph", "search_tools"].every(
        (name) => names.includes(name),
      );
    };
    await waitUntil(hasAll, { intervalMs: 200 });
    const echoed = await client.callTool({ name: "everything__echo", arguments: { message: "hello" } });
    assert.deepEqual(echoed.content, [{ type: "text", text: "Echo: hello" }]);
    const read = await client.callTool({
      name: "filesystem__read_text_file",
      arguments: { path: "welcome.txt" },
    });
    assert.match(JSON.stringify(read.content), /Welcome to Toolcrib/);
    const refused = await client.callTool({ name: "filesystem__read_text_file", arguments: { path: 1 } });
    assert.equal(refused.isError, true);
    await client.close();
  }

  it("SDK v1 over streamable HTTP", async () => {
    const client = new ClientV1({ name: "v1", version: "1" });
    await client.connect(
      new HttpV1(new URL(`${gateway.baseUrl}/mcp`), { requestInit: { headers: headers() } }),
    );
    await exercise(client);
  });

  it("SDK v1 over legacy SSE", async () => {
    const client = new ClientV1({ name: "v1", version: "1" });
    const eventSourceInit = {
      fetch: (url: string | URL, init?: RequestInit) =>
        fetch(url, { ...init, headers: { ...(init?.headers as object), ...headers() } }),
    };
    const options = { requestInit: { headers: headers() }, eventSourceInit: eventSourceInit as never };
    await client.connect(new SseV1(new URL(`${gateway.baseUrl}/sse`), options));
    await exercise(client);
  });

  it("SDK v1 over stdio", async () => {
    const client = new ClientV1({ name: "v1", version: "1" });
    await client.connect(new StdioV1(stdio()));
    await exercise(client);
  });

  for (const mode of ["legacy", "auto"] as const) {
    const era = mode === "auto" ? "2026-07-28" : "2025-11-25";

    it(`SDK v2 over streamable HTTP (${era})`, async () => {
      const client = new ClientV2({ name: "v2", version: "2" }, { versionNegotiation: { mode } });
      await client.connect(
        new HttpV2(new URL(`${gateway.baseUrl}/mcp`), { requestInit: { headers: headers() } }),
      );
      assert.equal(client.getNegotiatedProtocolVersion(), era);
      await exercise(client as never);
    });

    it(`SDK v2 over stdio (${era})`, async () => {
      const client = new ClientV2({ name: "v2", version: "2" }, { versionNegotiation: { mode } });
      await client.connect(new StdioV2(stdio()));
      assert.equal(client.getNegotiatedProtocolVersion(), era);
      await exercise(client as never);
    });
  }

  it("SDK v2 over legacy SSE", async () => {
    const client = new ClientV2({ name: "v2", version: "2" }, { versionNegotiation: { mode: "legacy" } });
    await client.connect(
      new SseV2(new URL(`${gateway.baseUrl}/sse`), { requestInit: { headers: headers() } }),
    );
    await exercise(client as never);
  });

  describe("MCP inspector --cli", () => {
    const inspector = join(dirname(quickstartConfig), "../../node_modules/.bin/mcp-inspector");

    async function inspect(...args: string[]): Promise<string> {
      const { code, stdout, stderr } = await runProcess(process.execPath, [inspector, "--cli", ...args], {});
      assert.equal(code, 0, `${stdout}\n${stderr}`);
      return stdout;
    }

    it("lists and calls with the address that serve printed", async () => {
      const printed = /^ +URL +(\S+)\n +header +Authorization: Bearer TOKEN$/m.exec(gateway.process.stdout());
      assert.ok(printed, `no address in:\n${gateway.process.stdout()}`);
      const file = join(directory.path, "mcp.json");
      const server = "toolcrib";
      // The output is not a terminal, so it names the file of the token.
      const entry = { type: "http", url: printed[1], headers: { Authorization: `Bearer ${gateway.token}` } };
      writeFileSync(file, JSON.stringify({ mcpServers: { [server]: entry } }));
      const listed = await inspect("--config", file, "--server", String(server), "--method", "tools/list");
      assert.match(listed, /everything__echo/);
      const called = await inspect(
        ...["--config", file, "--server", String(server), "--method", "tools/call"],
        ...["--tool-name", "everything__echo", "--tool-arg", "message=hello"],
      );
      assert.match(called, /Echo: hello/);
    });

    it("lists and calls over legacy SSE", async () => {
      const target = [
        `${gateway.baseUrl}/sse`,
        "--transport",
        "sse",
        "--header",
        `Authorization: Bearer ${gateway.token}`,
      ];
      assert.match(await inspect(...target, "--method", "tools/list"), /everything__echo/);
      const call = [
        "--method",
        "tools/call",
        "--tool-name",
        "everything__echo",
        "--tool-arg",
        "message=hello",
      ];
      assert.match(await inspect(...target, ...call), /Echo: hello/);
    });

    it("lists and calls over stdio", async () => {
      const file = join(directory.path, "stdio.json");
      const { command, args } = stdio();
      writeFileSync(file, JSON.stringify({ mcpServers: { toolcrib: { type: "stdio", command, args } } }));
      const target = ["--config", file, "--server", "toolcrib"];
      assert.match(await inspect(...target, "--method", "tools/list"), /search_tools/);
    });
  });
});
