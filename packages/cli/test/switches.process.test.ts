/** `toolcrib enable` and `toolcrib disable` with and without a running gateway, and over HTTP. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { echoStdioPath, fixtureCommand, makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { runToolcrib, startServe } from "./transcript.ts";

async function setUp(more: object = {}) {
  const directory = await makeTemporaryDirectory();
  const transport = { kind: "stdio", ...fixtureCommand(echoStdioPath) };
  const config = {
    tool_servers: [
      { id: "s", transport, trust_state: "certified" },
      { id: "t", transport, trust_state: "certified", enabled: false },
    ],
    serve: { listen: "127.0.0.1:0" },
    ...more,
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const setting = { directory: directory.path };
  return {
    directory,
    setting,
    switches: directory.join(".toolcrib/switches.json"),
    run: (...words: readonly string[]) => runToolcrib(words, setting),
  };
}

/** Calls a method of the endpoint as a client without an initialized session would not: one session for each call. */
async function rpc(
  url: string,
  method: string,
  params: object,
): Promise<{ result?: { tools?: readonly { name: string }[] } }> {
  const post = async (body: object, session?: string) =>
    await fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(session === undefined ? {} : { "mcp-session-id": session }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...body }),
    });
  const clientInfo = { name: "test", version: "1" };
  const opened = await post({
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
  });
  await opened.text();
  const session = opened.headers.get("mcp-session-id") ?? undefined;
  await (await post({ method: "notifications/initialized" }, session)).text();
  const text = await (await post({ id: 1, method, params }, session)).text();
  const data = text.startsWith("{") ? text : text.slice(text.lastIndexOf("data: ") + 6);
  return JSON.parse(data);
}

test("servers and tools are switched without a gateway, and the switches are kept", async () => {
  const { directory, run, switches } = await setUp();
  await using _directory = directory;
  const listed = await run("disable");
  assert.equal(listed.stdout, 'disabled server "t" (its entry says enabled: false)\n');
  const unknown = await run("disable", "server", "s", "tt");
  assert.deepEqual([unknown.code, /did you mean t\?/.test(unknown.stderr)], [4, true], unknown.stderr);
  const short = await run("disable", "s");
  assert.match(short.stderr, /hint: did you mean .*toolcrib .*disable server s\?/);
  const off = await run("disable", "server", "s");
  assert.match(off.stdout, / enable server s enables it again\n/);
  const again = await run("disable", "server", "s");
  assert.deepEqual([again.code, again.stdout], [0, 'Server "s" is already disabled\n']);
  const call = await run("call", "s__echo", '{"text":"x"}');
  assert.match(call.stderr, /The server "s" is disabled: .*\nhint: .*enable server s/);
  assert.equal((await run("list")).stdout, "No tools.\n");

  // The switch wins over the file, and back.
  assert.equal((await run("enable", "server", "t", "s")).code, 0);
  assert.match((await run("call", "t__echo", '{"text":"on"}')).stdout, /on/);
  assert.equal((await run("disable", "server", "t")).code, 0);
  assert.throws(() => readFileSync(switches), { code: "ENOENT" });

  assert.equal((await run("list")).code, 0);
  const tool = await run("disable", "tool", "s:ech");
  assert.match(tool.stderr, /no tool matches "s:ech"; did you mean "s:echo"\?/);
  assert.equal((await run("disable", "tool", "s:echo")).code, 0);
  assert.equal(statSync(switches).mode & 0o777, 0o600);
  assert.doesNotMatch((await run("list")).stdout, /s__echo\b/);
  const refused = await run("call", "s__echo", '{"text":"x"}');
  assert.match(
    refused.stderr,
    /"s:echo" is disabled: the operator switched it off.*\nhint: .*enable tool s:echo/,
  );
  assert.equal(refused.code, 3);
  assert.equal((await run("enable", "tool", "s:echo")).code, 0);
  assert.equal((await run("call", "s__echo", '{"text":"x"}')).code, 0);
  const { stdout } = await run("audit", "list");
  for (const type of ["switch.enabled", "switch.disabled"]) assert.ok(stdout.includes(type), stdout);
});

test("a package that its settings switch off is enabled like a server", async () => {
  const user = await setUp({ tool_servers: [], packages: { "demo.echo": { enabled: false } } });
  await using _directory = user.directory;
  const { stdout } = await user.run("disable");
  assert.equal(stdout, 'disabled server "demo.echo" (its entry says enabled: false)\n');
  const enabled = await user.run("enable", "server", "demo.echo");
  assert.deepEqual([enabled.stdout, enabled.stderr], ['Enabled server "demo.echo"\n', ""]);
  assert.equal((await user.run("disable")).stdout, "Nothing is disabled\n");
});

test("a gateway starts without what is disabled, shows it, and explains a call of it", async () => {
  const { directory, setting, run } = await setUp({ tools: { "s:progress": { name: "advance" } } });
  await using _directory = directory;
  assert.equal((await run("disable", "tool", "s:echo")).code, 0);
  await using gateway = await startServe(["--auth", "none"], setting);
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  const status = await run("status");
  assert.match(status.stdout, /^t +disabled +stdio/m);
  assert.doesNotMatch(status.stdout, /undefined/);
  assert.match(status.stdout, /^disabled tool s:echo$/m);
  const names = (await rpc(gateway.url, "tools/list", {})).result?.tools?.map(({ name }) => name) ?? [];
  assert.ok(
    names.some((name) => name.startsWith("s__")),
    names.join(),
  );
  assert.ok(!names.includes("s__echo") && !names.some((name) => name.startsWith("t__")), names.join());
  const tool = JSON.stringify(
    await rpc(gateway.url, "tools/call", { name: "s__echo", arguments: { text: "x" } }),
  );
  assert.match(
    tool,
    /cannot be called: it is disabled; the operator can enable it: toolcrib enable tool s:echo/,
  );
  const server = JSON.stringify(
    await rpc(gateway.url, "tools/call", { name: "t__echo", arguments: { text: "x" } }),
  );
  assert.match(server, /the server \\"t\\" is disabled; its operator can enable it/);
  const why = await run("why", "s__echo");
  assert.equal(why.code, 3, why.stdout);
  assert.match(why.stdout, /^To allow it: toolcrib enable tool s:echo$/m);
  const found = JSON.stringify(
    await rpc(gateway.url, "tools/call", { name: "search_tools", arguments: { query: "echo text" } }),
  );
  assert.doesNotMatch(found, /s__echo\\?"/);
  // A client that is not the operator cannot switch, also without authentication.
  for (const path of ["servers/s/disable", "tools/s%3Aecho/enable"]) {
    const response = await fetch(`${gateway.url}/api/v1/${path}`, { method: "POST" });
    assert.equal(response.status, 403, await response.text());
  }
  const problem = await run("disable", "tool", "s:nothing");
  assert.match(problem.stderr, /no tool matches "s:nothing"/);
  const renamed = await run("disable", "tool", "s__advance");
  assert.match(renamed.stderr, /no tool matches "s__advance"; clients see "s__progress" under this name/);
  const changed = await run("--json", "enable", "tool", "s:echo", "s:nothing", "other:*");
  assert.equal(changed.code, 4, changed.stdout);
  const outcome = JSON.parse((await run("--json", "enable", "tool", "s:echo")).stdout);
  assert.deepEqual([outcome.changed, outcome.enabled], [["s:echo"], true]);
});

test("the two names of a tool are one switch", async () => {
  const { directory, setting, run } = await setUp();
  await using _directory = directory;
  // Nothing has listed the tools yet.
  assert.equal((await run("disable", "tool", "s__echo")).code, 0);
  assert.equal((await run("enable", "tool", "s:echo")).stdout, 'Enabled tool "s:echo"\n');
  assert.equal((await run("disable")).stdout, 'disabled server "t" (its entry says enabled: false)\n');
  await using gateway = await startServe(["--auth", "none"], setting);
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  assert.match((await run("disable", "tool", "s__echo")).stdout, /^Disabled tool "s:echo"/);
  assert.equal((await run("disable", "tool", "s:echo")).stdout, 'Tool "s:echo" is already disabled\n');
  await gateway.stop();
  assert.equal((await run("disable", "tool", "s__echo")).stdout, 'Tool "s:echo" is already disabled\n');
  assert.equal((await run("enable", "tool", "s__echo")).stdout, 'Enabled tool "s:echo"\n');
  const call = await run("call", "s__echo", "-a", "text=hello");
  assert.equal(call.code, 0, call.stderr);
});

test("a running gateway applies switches", async (context) => {
  const { directory, setting, run } = await setUp();
  await using _directory = directory;
  await using gateway = await startServe(["--auth", "none"], setting);
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  const status = JSON.parse((await run("--json", "status")).stdout);
  if (status.configuration === undefined)
    return context.skip("this gateway does not reload its configuration");
  assert.match((await run("disable", "server", "s")).stdout, /within a second/);
  const listsOf = async () => JSON.stringify(await rpc(gateway.url, "tools/list", {}));
  await waitUntil(async () => !(await listsOf()).includes("s__echo"));
  await run("enable", "server", "s");
  await waitUntil(async () => (await listsOf()).includes("s__echo"));
  await run("disable", "tool", "s:echo");
  await waitUntil(async () => !(await listsOf()).includes("s__echo"));
});

test("writers at the same time lose no switch", async () => {
  const { directory, run } = await setUp();
  await using _directory = directory;
  const names = Array.from({ length: 6 }, (_, at) => `*:tool_${at}`);
  const outcomes = await Promise.all(names.map((name) => run("disable", "tool", name)));
  assert.deepEqual(
    outcomes.map(({ code }) => code),
    names.map(() => 0),
    outcomes.map(({ stderr }) => stderr).join("\n"),
  );
  const { tools } = JSON.parse((await run("--json", "disable")).stdout);
  assert.deepEqual([...tools].sort(), names);
});

test("a damaged file is an error of every command and is never replaced", async () => {
  const { directory, run, switches } = await setUp();
  await using _directory = directory;
  assert.equal((await run("disable", "server", "s")).code, 0);
  writeFileSync(switches, '{"format":1,"records":[{"kind":"server"');
  for (const words of [["list"], ["enable", "server", "s"], ["disable", "tool", "*:x"]]) {
    const outcome = await run(...words);
    assert.deepEqual(
      [outcome.code === 0, /STORE_UNREADABLE.*switches\.json/.test(outcome.stderr)],
      [false, true],
    );
  }
  assert.equal(readFileSync(switches, "utf8"), '{"format":1,"records":[{"kind":"server"');
  assert.ok(!readdirSync(directory.join(".toolcrib")).some((name) => name.endsWith(".tmp")));
});
