/** `toolcrib why` about calls that wait for approval, limits, the last refused call, and what a denial's hint names. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { valid, writePolicies } from "./policy-files.ts";
import { runToolcrib, startServe } from "./transcript.ts";

const dayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
/** A weekday that is neither today nor next to it, wherever the clock is. */
const otherDay = dayNames[(new Date().getUTCDay() + 3) % 7];

/** A home whose server is unverified, and limits its calls. */
async function setUp(more: object) {
  const directory = await makeTemporaryDirectory();
  writePolicies(directory, valid);
  const config = JSON.parse(readFileSync(directory.join("toolcrib.json"), "utf8"));
  const { policy: _policy, ...rest } = config;
  const whole = { ...rest, serve: { listen: "127.0.0.1:0" }, ...more };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(whole));
  const setting = { directory: directory.path };
  const run = (...words: readonly string[]) => runToolcrib(words, setting);
  return { directory, setting, run, config: whole };
}

/** Calls a tool as the client of a token. @returns the text of the result */
async function callAs(
  url: string,
  token: string,
  call: { readonly name: string; readonly arguments: { readonly [name: string]: unknown } },
): Promise<string> {
  const client = new Client({ name: "test", version: "1" });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  );
  try {
    const { content } = await client.callTool(call);
    return (content as readonly { readonly text: string }[]).map(({ text }) => text).join("\n");
  } finally {
    await client.close();
  }
}

test("why names the approval that waits for exactly this call, and explains a call by that id and as the last one", async () => {
  const { directory, setting, run, config } = await setUp({});
  await using _directory = directory;
  const [server] = config.tool_servers;
  const unverified = {
    ...config,
    tool_servers: [{ ...server, trust_state: "unverified", first_contact: "pin" }],
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(unverified));
  const none = await run("why", "last");
  assert.equal(none.code, 4);
  assert.match(
    none.stderr,
    /CLI_CALL_NOT_FOUND: The audit trail has no call that was refused before it began\nhint: .* why CALL /,
  );
  assert.equal((await run("token", "create", "ci")).code, 0);
  const token = readFileSync(directory.join(".toolcrib/tokens/ci"), "utf8").trim();
  await using gateway = await startServe([], setting);
  const call = { name: "notes__echo", arguments: { text: "hello" } };
  await waitUntil(async () => (await run("why", "notes:echo")).code === 0);
  const answer = await callAs(gateway.url, token, call);
  await waitUntil(async () => (await run("why", "last")).code === 3);
  const id = /call:[0-9a-f]{16}/.exec(answer)?.[0] ?? "";
  assert.notEqual(id, "", answer);

  const exact = new RegExp(
    `\nExactly this call of "ci" waits for your approval: .*toolcrib\\S* approve ${id}\n`,
  );
  const asked = await run("why", "notes:echo", "--client", "ci", "--args", '{"text": "hello"}');
  assert.match(asked.stdout, exact);
  assert.equal(asked.code, 3, "it would be refused now");
  const other = await run("why", "notes:echo", "--client", "ci", "--args", '{"text": "bye"}', "--json");
  assert.deepEqual(JSON.parse(other.stdout).waiting, [{ approval: id, client: "ci", isExact: false }]);
  assert.match(
    (await run("why", "notes:echo")).stdout,
    /\nA call of it by "ci" with other arguments waits for your approval: .* approve call:/,
  );
  for (const words of [[id], ["last"], ["last", "--client", "ci"]]) {
    const { stdout, stderr } = await run("why", ...words);
    assert.match(stdout, /^"ci" call "notes:echo"\n/, stderr);
    assert.match(stdout, exact);
  }
  // After the decision, the id still finds the call.
  assert.equal((await run("approve", id, "--yes")).code, 0);
  const decided = await run("why", id);
  assert.match(decided.stdout, /^"ci" call "notes:echo"\ncall \S+: denied/, decided.stderr);
  assert.match(
    decided.stdout,
    new RegExp(`\nExactly this call is approved \\(${id}\\) for one call until \\S+Z`),
  );
  assert.equal(decided.code, 0);
  assert.match((await run("approve", id, "--yes")).stderr, /waits for approval: it is approved until \S+Z\n/);
  assert.equal((await run("approve", id, "--deny")).code, 0);
  const denied = await run("why", "notes:echo", "--client", "ci", "--args", '{"text": "hello"}', "--json");
  assert.equal(denied.code, 3);
  assert.deepEqual(JSON.parse(denied.stdout).approval.state, "denied");
  assert.match(
    (await run("why", id)).stdout,
    /\nExactly this call was denied \(call:\w+\), so that it is refused/,
  );
  assert.match((await run("approve", id, "--yes")).stderr, /waits for approval: it is denied until \S+Z\n/);
  await callAs(gateway.url, token, { ...call, arguments: { text: "bye" } });
  const kept = await callAs(gateway.url, token, { ...call, arguments: { text: "kept" } });
  assert.equal((await run("approve", /call:[0-9a-f]{16}/.exec(kept)?.[0] ?? "", "--yes")).code, 0);
  const askKept = () => run("why", "notes:echo", "--client", "ci", "--args", '{"text": "kept"}');
  assert.equal((await askKept()).code, 0);
  const changed = { ...unverified, policy: { deny: ["notes:env"] } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(changed));
  await waitUntil(async () => {
    const { stdout } = await run("why", "notes:echo", "--client", "ci", "--args", '{"text": "bye"}');
    return /\nExactly this call of "ci" \(call:\w+\) cannot be approved any more: the policy/.test(stdout);
  });
  assert.doesNotMatch((await run("why", "notes:echo")).stdout, /with other arguments/);
  const outdated = await askKept();
  assert.equal(outdated.code, 3, "an approval by another policy does not count");
  assert.doesNotMatch(outdated.stdout, /is approved/);
  const unknown = await run("why", "call:0123456789abcdef");
  assert.equal(unknown.code, 4);
  assert.match(unknown.stderr, /CLI_APPROVAL_NOT_FOUND.*\nhint: .*audit list --type call.denied/);
});

test("why says which limit or closed window refuses a call now, from the running gateway and without one", async () => {
  const { directory, setting, run } = await setUp({
    guards: {
      limits: [
        { name: "hourly", tools: ["notes:echo"], rate: "1/hour", burst: 1 },
        { name: "closed", tools: ["notes:env"], windows: [{ days: [otherDay], from: "09:00", to: "10:00" }] },
      ],
    },
  });
  await using _directory = directory;
  const closed =
    /\nBut a limit refuses it now \(OUTSIDE_WINDOW\): "notes__env" was not called \(limit "closed"\): it is allowed at certain times only .*\nit is possible again in /;
  const alone = await run("why", "notes:env");
  assert.equal(alone.code, 3, alone.stderr);
  assert.match(alone.stdout, closed);
  await using _gateway = await startServe([], setting);
  await waitUntil(async () => (await run("why", "notes:echo")).code === 0);
  const free = await run("why", "notes:echo");
  assert.match(free.stdout, /\nHooks are checked at each call\n/);
  assert.equal((await run("call", "notes__echo", "-a", "text=hi")).code, 0);
  const used = await run("why", "notes:echo", "--json");
  assert.equal(used.code, 3);
  const { limit } = JSON.parse(used.stdout);
  assert.deepEqual([limit.code, limit.rule], ["RATE_LIMITED", "limit.hourly"]);
  assert.equal((await run("why", "notes:echo", "--client", "other")).code, 0, "each client has its own");
  // Questions are not counted as refusals.
  const { limits } = JSON.parse((await run("status", "--json")).stdout);
  assert.deepEqual(
    limits.map(({ refused }: { readonly refused: number }) => refused),
    [0, 0],
  );
  const window = await run("why", "notes:env");
  assert.equal(window.code, 3);
  assert.match(window.stdout, closed);
  assert.equal((await run("call", "notes__env")).code, 3);
  // Records of denials are written in batches.
  await waitUntil(async () => /: denied \(limit\.closed\)\n/.test((await run("why", "last")).stdout));
});

test("the hint of a denial names the call, whose arguments decide again", async () => {
  await using directory = await makeTemporaryDirectory();
  writePolicies(directory, valid);
  const run = (...words: readonly string[]) => runToolcrib(words, { directory: directory.path });
  const denied = await run("call", "notes__echo", "-a", "n=101", "-a", "text=hi");
  assert.equal(denied.code, 3, denied.stderr);
  const id = /toolcrib\S* why ([0-9a-f-]+) shows what would allow it/.exec(denied.stderr)?.[1] ?? "";
  const why = await run("why", id);
  assert.equal(why.code, 3, why.stderr);
  assert.match(why.stdout, /\ndenied by policies\/main\.cedar#sums\n/);
});

test("the start of several call ids lists these calls, and says how to choose", async () => {
  await using directory = await makeTemporaryDirectory();
  writePolicies(directory, valid);
  const run = (...words: readonly string[]) => runToolcrib(words, { directory: directory.path });
  for (const text of ["one", "two"])
    assert.equal((await run("call", "notes__echo", "-a", `text=${text}`)).code, 0);
  const records: readonly { readonly data: { readonly callId: string } }[] = JSON.parse(
    (await run("audit", "list", "--outcome", "ok", "--json")).stdout,
  );
  const [first, second] = records.map(({ data }) => data.callId);
  // Ids begin with the time.
  const start = first?.slice(0, 8) ?? "";
  for (const command of [["audit", "show"], ["why"], ["trace"]]) {
    const { code, stderr } = await run(...command, start);
    assert.equal(code, 2, stderr);
    assert.match(stderr, new RegExp(`The ids of several calls start with "${start}"`));
    assert.match(stderr, new RegExp(`hint: .*${command.join(" ")} ID with the whole id of one of them`));
    assert.match(stderr, new RegExp(`\n  ${first}  .*notes:echo.*\n  ${second}  .*notes:echo`));
  }
});

test("why and policy matrix answer where it is not known what is paused, and say so", async () => {
  await using directory = await makeTemporaryDirectory();
  writePolicies(directory, valid);
  const run = (...words: readonly string[]) => runToolcrib(words, { directory: directory.path });
  assert.equal((await run("pause", "client", "cli")).code, 0);
  writeFileSync(directory.join(".toolcrib/guards/pauses.json"), "{");
  const unknown = /\nIt is not known what is paused, so that every call is refused \(PAUSES_UNREADABLE\): /;
  const matrix = await run("policy", "matrix");
  assert.equal(matrix.code, 0, matrix.stderr);
  assert.match(matrix.stdout, /notes:echo +depends/);
  assert.match(matrix.stdout, unknown);
  assert.equal(typeof JSON.parse((await run("policy", "matrix", "--json")).stdout).pausesProblem, "string");
  const why = await run("why", "notes:env");
  assert.equal(why.code, 3, why.stderr);
  assert.match(why.stdout, /^"cli" call "notes:env"\nallowed by/);
  assert.match(why.stdout, unknown);
});

test("why answers where it is not known which calls wait for approval, and says so", async () => {
  const { directory, setting, run, config } = await setUp({});
  await using _directory = directory;
  const [server] = config.tool_servers;
  const unverified = { ...server, trust_state: "unverified", first_contact: "pin" };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ ...config, tool_servers: [unverified] }));
  assert.equal((await run("token", "create", "ci")).code, 0);
  const token = readFileSync(directory.join(".toolcrib/tokens/ci"), "utf8").trim();
  let id = "";
  {
    await using gateway = await startServe([], setting);
    await waitUntil(async () => (await run("why", "notes:echo")).code === 0);
    const answer = await callAs(gateway.url, token, { name: "notes__echo", arguments: { text: "hello" } });
    id = /call:[0-9a-f]{16}/.exec(answer)?.[0] ?? "";
    await waitUntil(async () => (await run("why", "last")).code === 3);
  }
  writeFileSync(directory.join(".toolcrib/approvals/calls.json"), "{");
  const unknown = /\nIt is not known which calls wait for your approval: .*calls\.json/;
  for (const what of ["notes:echo", "toolcrib:search_tools", "last"]) {
    const { code, stdout, stderr } = await run("why", what);
    assert.equal(code, what === "last" ? 3 : 0, stderr);
    assert.match(stdout, unknown);
  }
  const { approvalsProblem, waiting } = JSON.parse((await run("why", "notes:echo", "--json")).stdout);
  assert.equal(typeof approvalsProblem, "string");
  assert.equal(waiting, undefined);
  const refused = await run("why", id);
  assert.match(refused.stdout, /^"ci" call "notes:echo"\ncall \S+: denied/, refused.stderr);
  const other = await run("why", "call:0123456789abcdef");
  assert.equal(other.code, 1);
  assert.match(other.stderr, /STORE_UNREADABLE/);
});

/** A server whose tools are in the file of its argument. */
const listingServer = `
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answers = {
    initialize: () => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } }),
    "tools/list": () => ({ tools: JSON.parse(readFileSync(process.argv[2], "utf8")) }),
  };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method]?.() ?? {} }));
});
`;

test("policy matrix shows names on a narrow terminal so that its rows differ", async () => {
  await using directory = await makeTemporaryDirectory();
  const long = (one: string) => `${"customer-".repeat(5)}${one}${"-reports".repeat(5)}`;
  const tools = [long("first"), long("second"), "short"];
  writeFileSync(
    directory.join("tools.json"),
    JSON.stringify(tools.map((name) => ({ name, inputSchema: { type: "object" } }))),
  );
  writeFileSync(directory.join("server.mjs"), listingServer);
  const args = [directory.join("server.mjs"), directory.join("tools.json")];
  const transport = { kind: "stdio", command: process.execPath, args };
  const config = { tool_servers: [{ id: "crm", transport, trust_state: "certified" }] };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const setting = { directory: directory.path, columns: 80 };
  const whole = await runToolcrib(["policy", "matrix", "--tool", "crm:*"], setting);
  const shown = stripVTControlCharacters(whole.stdout);
  for (const name of tools)
    assert.ok(shown.includes(`crm:${name}\n  cli call\n`), whole.stdout + whole.stderr);
  const some = await runToolcrib(["policy", "matrix", "--tool", "crm:*first*", "--tool", "*:short"], setting);
  assert.match(
    some.stdout,
    /^crm:customer-[\w-]+…[\w-]+-reports {2}call$/m,
    "one of them is shortened in the middle",
  );
});

test("audit show and policy check wrap sentences at the width of the terminal", async () => {
  await using directory = await makeTemporaryDirectory();
  const text = `permit(principal, action, resource);
@id("no-texts") forbid(principal == Client::"cli", action == Action::"call", resource == Tool::"notes:echo");
permit(principal == Client::"nobody-has-this-name", action, resource);`;
  writePolicies(directory, text);
  const setting = { directory: directory.path };
  assert.equal((await runToolcrib(["call", "notes__echo", "-a", "text=long"], setting)).code, 3);
  const [record] = JSON.parse(
    (await runToolcrib(["audit", "list", "--outcome", "denied", "--json"], setting)).stdout,
  );
  for (const words of [
    ["audit", "show", record.data.callId],
    ["policy", "check"],
  ]) {
    const { stdout, stderr } = await runToolcrib(words, { ...setting, columns: 60 });
    const lines = stripVTControlCharacters(stdout).split("\n");
    const wide = lines.filter((line) => line.length > 60 && !/^ *\d+ \||^digest|^arguments/.test(line));
    assert.deepEqual(wide, [], stderr);
  }
});

test("commands in findings and explanations name the home that was given", async () => {
  await using directory = await makeTemporaryDirectory();
  writePolicies(directory, valid);
  const path = directory.join("toolcrib.json");
  const config = JSON.parse(readFileSync(path, "utf8"));
  const limits = [{ name: "a", clients: ["robot"], rate: "1/minute" }];
  writeFileSync(path, JSON.stringify({ ...config, guards: { limits }, serve: { listen: "127.0.0.1:0" } }));
  const home = directory.join("home of it");
  const run = (...words: readonly string[]) =>
    runToolcrib(["--home", home, ...words], { directory: directory.path });
  const created = `hint: create the token: toolcrib --home '${home}' token create robot\n`;
  for (const command of ["policy", "config"]) {
    const { stdout } = await run(command, "check");
    assert.ok(stdout.includes(created), stdout);
  }
  await using gateway = await startServe(["--home", home], { directory: directory.path });
  assert.ok(gateway.stderr().includes(created), gateway.stderr());
  assert.equal((await run("disable", "tool", "notes:env")).code, 0);
  await waitUntil(async () => (await run("why", "notes:env")).code === 3);
  const { stdout } = await run("why", "notes:env");
  assert.ok(stdout.includes(`To allow it: toolcrib --home '${home}' enable tool notes:env\n`), stdout);
});
