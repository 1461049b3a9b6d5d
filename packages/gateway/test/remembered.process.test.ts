/** Definitions that a gateway remembers in its home, and lists before their servers are connected. */

import assert from "node:assert/strict";
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import {
  echoStdioPath,
  fixtureCommand,
  makeTemporaryDirectory,
  type TemporaryDirectory,
  waitUntil,
} from "@toolcrib/testing";
import { callsIn, dataOf, somebody, startTestGateway, type TestGateway, textOf } from "./gateway-harness.ts";

/** A server whose declaration stays the same while its flags change. */
function changingServer(directory: TemporaryDirectory, id: string, ...flags: readonly string[]): JsonObject {
  const wrapper = directory.join(`${id}.mjs`);
  setFlags(directory, id, ...flags);
  writeFileSync(
    wrapper,
    `import { readFileSync } from "node:fs";
     process.argv.splice(2, 0, ...JSON.parse(readFileSync(${JSON.stringify(directory.join(`${id}.json`))}, "utf8")));
     await import(${JSON.stringify(echoStdioPath)});`,
  );
  return { id, transport: { kind: "stdio", ...fixtureCommand(wrapper) }, trust_state: "certified" };
}

function setFlags(directory: TemporaryDirectory, id: string, ...flags: readonly string[]): void {
  writeFileSync(directory.join(`${id}.json`), JSON.stringify(flags));
}

/** Runs a gateway until its servers are ready, so that it remembers their definitions. */
async function remember(home: string, document: JsonObject, environment = {}): Promise<void> {
  const test = await startTestGateway(document, { home, environment });
  await test[Symbol.asyncDispose]();
}

/** Starts a gateway in `home` and does not wait for its servers. */
function restart(home: string, document: JsonObject, more = {}): Promise<TestGateway> {
  return startTestGateway(document, { home, isAwaited: false, ...more });
}

function stateOf({ gateway }: TestGateway, id: string): string | undefined {
  return gateway.status().servers.find((server) => server.id === id)?.health.state;
}

function filesIn(home: string): string[] {
  const folder = join(home, "definitions");
  return readdirSync(folder).map((name) => join(folder, name));
}

const define = (...definitions: readonly JsonObject[]) => ["--define", JSON.stringify(definitions)];
const tool = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  description: `The tool ${name}`,
  inputSchema: { type: "object" },
  ...more,
});

describe("after a restart", () => {
  test("lists, search and programs know a server that is still starting, and a call waits for it", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    const flags = ["--builtin", "echo", "--prompts", "welcome", "--instructions", "Echo politely"];
    const server = changingServer(directory, "slow", ...flags);
    await remember(home, { tool_servers: [server] });
    const gate = directory.join("gate");
    setFlags(directory, "slow", ...flags, "--start-when", gate);
    const test = await restart(home, { tool_servers: [server] });
    await using stack = new AsyncDisposableStack();
    stack.use(test);
    const clients = [await test.connect(), await test.connectModern()];
    for (const client of clients) {
      const [tools, prompts, resources, templates] = await Promise.all([
        client.listTools(),
        client.listPrompts(),
        client.listResources(),
        client.listResourceTemplates(),
      ]);
      assert.ok(tools.tools.some(({ name }) => name === "slow__echo"));
      assert.ok(prompts.prompts.some(({ name }) => name === "slow__welcome"));
      assert.ok(resources.resources.length > 0 && templates.resourceTemplates.length > 0);
    }
    const single = await test.connect({ server: "slow" });
    assert.equal(single.getInstructions(), "Echo politely");
    const found = await single.listTools();
    assert.deepEqual(
      found.tools.map(({ name }) => name),
      ["echo"],
    );
    const [client] = clients as [(typeof clients)[0] & object];
    const search = await client.callTool({ name: "search_tools", arguments: { query: "echo" } });
    assert.match(textOf(search), /slow__echo/);
    assert.equal(stateOf(test, "slow"), "starting", "everything so far did not wait for the server");
    let changes = 0;
    single.fallbackNotificationHandler = async () => {
      changes += 1;
    };
    const answers = Promise.all([
      client.callTool({ name: "slow__echo", arguments: { text: "direct" } }),
      client.callTool({
        name: "eval_starlark",
        arguments: { code: 'return slow.echo(text = "composite")' },
      }),
      client.readResource({ uri: "echo://hello" }),
    ]);
    await waitUntil(() => test.gateway.status().callsInFlight >= 3);
    writeFileSync(gate, "");
    const [direct, composite, read] = await answers;
    assert.equal(textOf(direct), "direct");
    assert.match(textOf(composite), /composite/);
    assert.ok(read.contents.length > 0);
    assert.equal(stateOf(test, "slow"), "ready");
    assert.equal(changes, 0, "nothing changed, so nothing is announced");
    await test.stop();
    const calls = callsIn(test.audit()).filter((line) => line.startsWith("slow:echo"));
    assert.deepEqual(calls, Array(2).fill("slow:echo intent, completed ok"));
  });

  test("a changed server replaces its remembered definitions", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    const described = tool("described");
    const server = changingServer(
      directory,
      "s",
      ...define(described, tool("renewed"), tool("removed"), tool("broken")),
    );
    await remember(home, { tool_servers: [server] });
    const required = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    setFlags(
      directory,
      "s",
      "--start-when",
      directory.join("gate"),
      ...define(
        { ...described, description: "Another description" },
        tool("renewed", { inputSchema: required }),
        tool("broken", { inputSchema: { type: "array" } }),
      ),
    );
    {
      await using test = await restart(home, { tool_servers: [server] });
      const client = await test.connect();
      const listed = async () => (await client.listTools()).tools.map(({ name }) => name);
      assert.equal((await listed()).filter((name) => name.startsWith("s__")).length >= 4, true);
      writeFileSync(directory.join("gate"), "");
      const codeOf = async (name: string) => {
        const outcome = await test.gateway.call(somebody, `s:${name}`, {});
        return outcome.kind === "failed" ? (outcome.error as { code?: string }).code : outcome.kind;
      };
      const codes = await Promise.all(["described", "renewed", "removed", "broken"].map(codeOf));
      assert.deepEqual(codes, ["result", "TOOL_CHANGED", "TOOL_NOT_FOUND", "TOOL_UNAVAILABLE"]);
      assert.deepEqual(
        (await listed()).filter((name) => ["s__removed", "s__broken"].includes(name)),
        [],
      );
    }
    await using again = await restart(home, { tool_servers: [server] });
    const names = again.gateway.listTools(somebody).map(({ id }) => id);
    assert.deepEqual([names.includes("s:renewed"), names.includes("s:removed")], [true, false]);
  });

  test("another declaration with the same id has no remembered definitions", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    await remember(home, { tool_servers: [changingServer(directory, "a")] });
    const other = changingServer(directory, "b", "--hang-initialize");
    await using test = await restart(home, { tool_servers: [{ ...other, id: "a" }] });
    assert.deepEqual(
      test.gateway.listTools(somebody).filter(({ namespace }) => namespace === "a"),
      [],
    );
  });
});

describe("remembered definitions are untrusted", () => {
  /** Remembers a server, changes its file, and starts a gateway whose server does not start. */
  async function tampered(
    directory: TemporaryDirectory,
    change: (path: string) => void,
    document: JsonObject = {},
  ): Promise<TestGateway> {
    const home = directory.join("home");
    const servers = { tool_servers: [changingServer(directory, "s", "--builtin", "echo")], ...document };
    await remember(home, servers);
    const [path] = filesIn(home);
    change(path as string);
    setFlags(directory, "s", "--hang-initialize");
    return restart(home, servers);
  }

  const rewrite = (change: (content: JsonObject) => unknown) => (path: string) =>
    writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, "utf8")))));

  const damages: { readonly name: string; readonly change: (path: string) => void }[] = [
    { name: "not JSON", change: (path) => writeFileSync(path, '{"formatVersion": 1, "tools": [') },
    { name: "empty", change: (path) => writeFileSync(path, "") },
    { name: "not UTF-8", change: (path) => writeFileSync(path, Buffer.from([0xff, 0xfe, 0x7b])) },
    { name: "of another format", change: rewrite((content) => ({ ...content, formatVersion: 99 })) },
    { name: "of the wrong shape", change: rewrite((content) => ({ ...content, tools: ["x"] })) },
    { name: "too large", change: (path) => writeFileSync(path, " ".repeat(9 * 1024 * 1024)) },
    { name: "too deeply nested", change: (path) => writeFileSync(path, "[".repeat(100_000)) },
    ...(process.platform === "win32"
      ? []
      : [{ name: "writable by others", change: (path: string) => chmodSync(path, 0o666) }]),
  ];
  for (const { name, change } of damages) {
    test(`a file that is ${name} is ignored and logged`, async () => {
      await using directory = await makeTemporaryDirectory();
      await using test = await tampered(directory, change);
      assert.ok(!test.gateway.listTools(somebody).some(({ namespace }) => namespace === "s"));
      const warned = test.logger.records.filter(
        ({ level, message }) => level === "warn" && message === "remembered definitions are not used",
      );
      assert.equal(warned.length, 1);
    });
  }

  test("malformed and confusable definitions in a file are quarantined, and hidden ones stay hidden", async () => {
    await using directory = await makeTemporaryDirectory();
    const test = await tampered(
      directory,
      rewrite((content) => ({
        ...content,
        tools: [
          tool("good"),
          tool("Good"),
          tool("secret"),
          tool("malformed", { inputSchema: { type: "string" } }),
          { name: "line\nbreak", inputSchema: { type: "object" } },
        ],
        prompts: [{ name: 7 }],
        resources: [{ uri: "x:y" }],
      })),
      { policy: { deny: ["s:secret"] } },
    );
    await using stack = new AsyncDisposableStack();
    stack.use(test);
    const client = await test.connect();
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.filter(({ name }) => name.startsWith("s__")).map(({ name }) => name),
      ["s__good"],
    );
    assert.deepEqual((await client.listPrompts()).prompts, []);
    const quarantined = test.gateway.status().quarantined.map(({ id }) => id);
    assert.deepEqual(
      quarantined.sort(),
      ["s:Good", "s:malformed", "s:prompts/[0]", "s:resources/x:y"].sort(),
    );
    const denied = await test.gateway.call(somebody, "s:secret", {});
    assert.equal(denied.kind, "denied");
    await test.stop();
    assert.equal(dataOf(test.audit(), "server.quarantined").length, 4);
  });

  test("a file contains no secret, is private, and is replaced as a whole", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    const secret = "V3ry-Secret-Token-7731";
    const leaking = changingServer(
      directory,
      "s",
      ...define(tool("leak", { description: `use ${secret}` })),
      "--instructions",
      `the key is ${secret}`,
    );
    const env = { API_KEY: { secret_key_ref: { env: "LEAKED" } } };
    const server = { ...leaking, transport: { ...(leaking["transport"] as JsonObject), env } };
    await remember(home, { tool_servers: [server] }, { LEAKED: secret });
    const [path] = filesIn(home);
    assert.equal(filesIn(home).length, 1);
    assert.doesNotMatch(readFileSync(path as string, "utf8"), new RegExp(secret));
    if (process.platform !== "win32") {
      assert.equal(statSync(path as string).mode & 0o777, 0o600);
      assert.equal(statSync(join(home, "definitions")).mode & 0o777, 0o700);
    }
    setFlags(directory, "s", "--hang-initialize");
    await using test = await restart(home, { tool_servers: [server] }, { environment: { LEAKED: secret } });
    const client = await test.connect({ server: "s" });
    const text = JSON.stringify([await client.listTools(), client.getInstructions()]);
    assert.match(text, /leak/);
    assert.doesNotMatch(text, new RegExp(secret));
  });
});

test("a change of the tools while the gateway runs is remembered", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const server = changingServer(directory, "s", "--builtin", "echo,change_tools");
  {
    await using test = await restart(home, { tool_servers: [server] });
    await test.gateway.ready();
    await test.gateway.call(somebody, "s:change_tools", { add: "added" });
    await waitUntil(() => test.gateway.listTools(somebody).some(({ id }) => id === "s:added"));
  }
  setFlags(directory, "s", "--hang-initialize");
  await using test = await restart(home, { tool_servers: [server] });
  assert.ok(test.gateway.listTools(somebody).some(({ id }) => id === "s:added"));
});
