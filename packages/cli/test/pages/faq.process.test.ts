/**
 * Answers of the page with questions, each compared with what a gateway does: the page still has the sentence, and the
 * sentence is true. One gateway with two servers, one of which nobody approved, serves all of them.
 */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  makeTemporaryDirectory,
  type ServerProcess,
  type TemporaryDirectory,
  waitUntil,
} from "@toolcrib/testing";
import { runToolcrib, startServe } from "../transcript.ts";
import { readPage } from "./page-steps.ts";

/** A server whose tool `mark` returns a text that each process of it chooses anew. */
const server = `const mark = Math.random().toString(36);
const tool = { name: "mark", description: "Returns the mark of this process", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } };
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const results = {
    initialize: () => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "marks", version: "1" } }),
    ping: () => ({}),
    "tools/list": () => ({ tools: [tool] }),
    "tools/call": () => ({ content: [{ type: "text", text: mark }] }),
  };
  const result = results[method]?.();
  const answer = result === undefined ? { error: { code: -32601, message: "no" } } : { result };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\\n");
});
`;
const page = readPage("faq.md");
let directory: TemporaryDirectory;
let gateway: ServerProcess;

function configuration(more: object = {}): string {
  const transport = { kind: "stdio", command: "node", args: ["marks.cjs"], cwd: "." };
  const containment = { read_paths: ["."] };
  return JSON.stringify({
    sandbox: { mode: "preferred" },
    tool_servers: [
      { id: "marks", transport, containment, trust_state: "verified" },
      { id: "fresh", transport, containment },
    ],
    serve: { listen: "127.0.0.1:0" },
    policy: { deny: ["marks:forbidden"] },
    ...more,
  });
}

const run = (...args: readonly string[]) => runToolcrib(args, { directory: directory.path });

/** Connects a client. @param path of the endpoint */
async function connected(path = "/mcp"): Promise<Client> {
  const token = readFileSync(directory.join(".toolcrib/tokens/default"), "utf8").trim();
  const client = new Client({ name: "faq", version: "1.0.0" });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}${path}`), { requestInit }));
  return client;
}

async function toolNames(path?: string): Promise<readonly string[]> {
  const client = await connected(path);
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name }) => name);
}

/** Tests a sentence of the page. */
function claim(sentence: string, work: () => Promise<void>): void {
  it(sentence, async () => {
    assert.ok(page.includes(sentence), `docs/faq.md does not say "${sentence}": change this test with it`);
    await work();
  });
}

describe("the page with questions says what a gateway does:", () => {
  before(async () => {
    directory = await makeTemporaryDirectory();
    writeFileSync(directory.join("marks.cjs"), server);
    writeFileSync(directory.join("toolcrib.yaml"), configuration());
    gateway = await startServe([], { directory: directory.path });
    await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  });
  after(async () => {
    await gateway[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });

  claim("A file with `mcpServers` or `servers` is read as it is", async () => {
    const entry = { marks: { command: "node", args: ["marks.cjs"] } };
    for (const name of ["mcpServers", "servers"]) {
      writeFileSync(directory.join("other.json"), JSON.stringify({ [name]: entry }));
      const { code, stdout, stderr } = await run("--config", "other.json", "config", "check");
      assert.equal(code, 0, stderr);
      assert.match(stdout, /OK other\.json/);
    }
  });

  claim("Two ids that differ only in case or separators are refused at the start.", async () => {
    const transport = { kind: "stdio", command: "node" };
    const ids = ["my-server", "My_Server"].map((id) => ({ id, transport }));
    writeFileSync(directory.join("same.yaml"), JSON.stringify({ tool_servers: ids }));
    const { code, stderr } = await run("--config", "same.yaml", "serve", "--listen", "127.0.0.1:0");
    assert.equal(code, 2);
    assert.match(stderr, /CONFIG_ID_COLLISION/);
  });

  claim("On any other address the gateway refuses to start without authentication.", async () => {
    const { code, stderr } = await run("serve", "--listen", "0.0.0.0:0", "--auth", "none");
    assert.equal(code, 2);
    assert.match(stderr, /CONFIG_AUTH_EXPOSED/);
  });

  claim("The name is `SERVER__TOOL`, always, with one server or with many", async () => {
    const names = await toolNames();
    assert.ok(names.includes("marks__mark") && !names.includes("mark"), names.join(" "));
  });

  claim("`/mcp/s/SERVER` serves one server with its own names.", async () => {
    assert.deepEqual(await toolNames("/mcp/s/marks"), ["mark"]);
  });

  claim("`SERVER:TOOL`, the name of the server's tool, whatever clients see.", async () => {
    const { stdout } = await run("why", "marks:mark");
    assert.match(stdout, /marks:mark/);
    const shown = await run("call", "marks:mark");
    assert.equal(shown.code, 0, shown.stderr);
  });

  claim("A definition that waits is not listed, found or called, through any interface.", async () => {
    assert.ok(!(await toolNames()).some((name) => name.startsWith("fresh")));
    assert.deepEqual(await toolNames("/mcp/s/fresh"), []);
    const found = await run("search", "mark of this process", "--json");
    assert.ok(found.stdout.includes("marks:mark") && !found.stdout.includes("fresh:mark"), found.stdout);
    assert.notEqual((await run("call", "fresh__mark")).code, 0);
    const client = await connected();
    const called = await client.callTool({ name: "fresh__mark", arguments: {} }).catch(String);
    await client.close();
    assert.match(JSON.stringify(called), /approv/);
  });

  claim("No: clients share one process of a stdio server", async () => {
    const clients = [await connected(), await connected()];
    const marks = await Promise.all(
      clients.map((client) => client.callTool({ name: "marks__mark", arguments: {} })),
    );
    for (const client of clients) await client.close();
    assert.deepEqual(marks[0]?.content, marks[1]?.content);
  });

  claim("do it without editing a file, and `toolcrib enable` switches them on again", async () => {
    const text = readFileSync(directory.join("toolcrib.yaml"), "utf8");
    for (const words of [
      ["server", "marks"],
      ["tool", "marks__mark"],
    ] as const) {
      assert.equal((await run("disable", ...words)).code, 0);
      await waitUntil(async () => !(await toolNames()).includes("marks__mark"));
      assert.equal((await run("enable", ...words)).code, 0);
      await waitUntil(async () => (await toolNames()).includes("marks__mark"));
    }
    assert.equal(readFileSync(directory.join("toolcrib.yaml"), "utf8"), text);
  });

  claim("An invalid change changes nothing, and `toolcrib status` shows its place.", async () => {
    writeFileSync(directory.join("toolcrib.yaml"), `${configuration()}\nbad: [`);
    await waitUntil(async () => /not in force/.test((await run("status")).stdout));
    assert.match((await run("status")).stdout, /toolcrib\.yaml:2:1/);
    assert.ok((await toolNames()).includes("marks__mark"));
    writeFileSync(directory.join("toolcrib.yaml"), configuration());
    await waitUntil(async () => !/not in force/.test((await run("status")).stdout));
  });

  claim("lists four tools that find and call all others, and a fifth while a server waits", async () => {
    writeFileSync(
      directory.join("toolcrib.yaml"),
      configuration({ serve: { listen: "127.0.0.1:0", mode: "search" } }),
    );
    await waitUntil(async () => (await toolNames()).includes("call_tool"));
    const four = ["search_tools", "describe_tool", "call_tool", "read_more"];
    assert.deepEqual(await toolNames(), [...four, "list_waiting_servers"]);
    assert.equal((await run("approve", "fresh", "--yes")).code, 0);
    await waitUntil(async () => (await toolNames()).length === four.length);
    assert.deepEqual(await toolNames(), four);
    const client = await connected();
    const result = await client.callTool({
      name: "call_tool",
      arguments: { name: "marks__mark", arguments: {} },
    });
    await client.close();
    assert.notEqual(result.isError, true, JSON.stringify(result));
  });

  claim("Over streamable HTTP they continue with their next request", async () => {
    const client = await connected();
    const listen = new URL(gateway.url).host;
    await gateway[Symbol.asyncDispose]();
    gateway = await startServe(["--listen", listen], { directory: directory.path });
    await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
    assert.ok((await client.listTools()).tools.some(({ name }) => name === "call_tool"));
    await client.close();
  });
});
