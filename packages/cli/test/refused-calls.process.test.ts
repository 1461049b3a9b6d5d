/** Calls that the command line makes are refused by the same decisions as those of clients: itself, and through a gateway that runs. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { runToolcrib, runToolcribProcess, startServe } from "./transcript.ts";

/** A server with the tools that its arguments name. */
const program = `
const tools = process.argv.slice(2).map((name) => ({ name, inputSchema: { type: "object" }, annotations: { destructiveHint: true } }));
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name }) => ({ content: [{ type: "text", text: name + " ran" }] }),
};
let text = "";
process.stdin.on("data", (chunk) => {
  text += chunk;
  for (let end = text.indexOf("\\n"); end !== -1; end = text.indexOf("\\n")) {
    const { id, method, params } = JSON.parse(text.slice(0, end));
    text = text.slice(end + 1);
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method]?.(params) ?? {} }));
  }
});
`;

/** The exit code of `why` about each, what it says, and its cell in the matrix; undefined where it has no row. */
const explained: readonly (readonly [tool: string, code: number, says: RegExp, cell: string | undefined])[] =
  [
    ["s__denied", 3, /denied by policy\.deny/, "-"],
    ["s__nil", 4, /CLI_TOOL_NOT_FOUND/, undefined],
    ["w__waiting", 5, /error TOOL_UNAVAILABLE: The tool "w__waiting" waits for approval/, undefined],
    ["s__paused", 3, /But tool "s:paused" is paused, so that the call is refused/, "paused"],
    [
      "r__blocked",
      3,
      /But no call is made \(mutability\.read_only\): it declares destructiveHint: true, and its server "r" has mutability_class: read_only\nTo allow it, set for the server: mutability_class: unknown or write\n/,
      "blocked",
    ],
    ["a__asked", 0, /your own calls need none/, "call"],
  ];

const cases: readonly (readonly [tool: string, answer: RegExp])[] = [
  // The operator reads the rule.
  ["s__denied", /error POLICY_DENIED: .*policy\.deny/],
  ["s__nil", /error (?:TOOL_NOT_FOUND|CLI_\w+): .*s__nil/],
  ["w__waiting", /error TOOL_UNAVAILABLE: .*"w:waiting" waits for approval/],
  ["s__limited", /error BUDGET_EXCEEDED: .*limit "money"/],
  ["s__paused", /error CALL_PAUSED: .*paused/],
  ["r__blocked", /error MUTABILITY_VIOLATION: .*declares destructiveHint: true/],
];

test("toolcrib call is refused as a client is, and why says so; the operator needs no approval of a call", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("server.mjs"), program);
  const server = (id: string, tools: readonly string[], more: object) => ({
    id,
    transport: { kind: "stdio", command: process.execPath, args: [directory.join("server.mjs"), ...tools] },
    containment: { read_paths: [directory.path] },
    ...more,
  });
  const config = {
    sandbox: { mode: "preferred" },
    tool_servers: [
      server("s", ["denied", "limited", "paused"], { trust_state: "certified" }),
      server("w", ["waiting"], {}),
      server("a", ["asked"], { first_contact: "pin" }),
      server("r", ["blocked"], { trust_state: "verified", mutability_class: "read_only" }),
    ],
    policy: { deny: ["s:denied"] },
    guards: {
      limits: [{ name: "money", tools: ["s:limited"], budget: { cost: 1 }, every: "day" }],
      costs: { "s:limited": 2 },
    },
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const setting = { directory: directory.path };
  assert.equal((await runToolcribProcess(["pause", "tool", "s:paused"], setting)).code, 0);
  const answers = async () => {
    const outcomes = await Promise.all(cases.map(([tool]) => runToolcribProcess(["call", tool], setting)));
    for (const [at, { code, stdout, stderr }] of outcomes.entries()) {
      const [tool, expected] = cases[at] ?? assert.fail();
      assert.match(stderr, expected, `${tool}: ${stderr}`);
      assert.deepEqual([stdout, code === 0], ["", false], tool);
    }
    const { stdout } = await runToolcribProcess(["call", "a__asked"], setting);
    assert.equal(stdout, "asked ran\n");
    return outcomes.map(({ stderr }) => stderr.replace(/in [\d.]+ (?:s|min|h)\b/g, "in TIME"));
  };
  const explanations = async () => {
    const matrix = await runToolcrib(["policy", "matrix", "--client", "cli"], setting);
    for (const [tool, expected, says, cell] of explained) {
      const { code, stdout, stderr } = await runToolcrib(["why", tool], setting);
      assert.match(`${stdout}${stderr}`, says, tool);
      assert.equal(code, expected, tool);
      const row = new RegExp(`^${tool.replace("__", ":")} +(\\S+)$`, "m").exec(matrix.stdout);
      assert.equal(row?.[1], cell, tool);
    }
    assert.match(matrix.stdout, /^blocked: .*\npaused: /m);
  };
  const alone = await answers();
  await explanations();
  await using _served = await startServe(["--listen", "127.0.0.1:0"], setting);
  assert.deepEqual(await answers(), alone);
  await explanations();
  const json = JSON.parse((await runToolcrib(["why", "r__blocked", "--json"], setting)).stdout);
  assert.deepEqual([json.decision.kind, json.blocked.rule], ["allow", "mutability.read_only"]);
  // A call that was refused by a pause which still holds; one that was made was not paused.
  const { stdout: records } = await runToolcrib(["audit", "list", "--json", "--tool", "s:paused"], setting);
  const [paused] = JSON.parse(records);
  assert.equal((await runToolcrib(["why", paused.data.callId], setting)).code, 3);
  assert.equal((await runToolcribProcess(["pause", "tool", "a:asked"], setting)).code, 0);
  const { stdout: made } = await runToolcrib(["audit", "list", "--json", "--tool", "a:asked"], setting);
  const [call] = JSON.parse(made);
  assert.equal((await runToolcrib(["why", call.data.callId], setting)).code, 0);
  // The settings of the servers in another file are not those of the gateway.
  writeFileSync(directory.join("other.json"), JSON.stringify(config));
  const other = await runToolcrib(["why", "r__blocked", "--config", "other.json"], setting);
  assert.match(other.stdout, /decision of the policy alone/);
  assert.equal((await runToolcribProcess(["call", "r__blocked"], setting)).code, 3);
});
