/** `toolcrib trace`: the tree of a call with times, from a trail with hooks, approvals, secrets, denials and hostile names. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openStore, type Store, toAuditClient } from "@toolcrib/store";
import { checkGolden, makeTemporaryDirectory, type TemporaryDirectory } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import { golden, runToolcrib, transcript } from "./transcript.ts";

const start = Date.UTC(2026, 5, 1, 12);
const ids = Array.from({ length: 7 }, (_one, at) => `0190000${at}-0000-7000-8000-00000000000${at}`);
const client = toAuditClient(localIdentity("token", "default"), { name: "editor", version: "1.2" });
const digest = `sha256:${"0".repeat(64)}`;

/** Longer than a line. */
const longReason = `: ${"the operator paused this tool; ".repeat(4)}ask again tomorrow`;

let directory: TemporaryDirectory;
let now = start;

function subject(at: number, tool: string, parent?: number) {
  return {
    callId: ids[at] ?? "",
    ...(parent === undefined ? undefined : { parentId: ids[parent] }),
    depth: parent === undefined ? 0 : 1,
    client,
    tool,
    origin: "server",
  };
}

/** A composite with hooks, two inner calls and an approval; a call in flight; a denied call with a hostile name; one that waits. */
async function writeTrail({ audit }: Store): Promise<void> {
  const at = (ms: number) => {
    now = start + ms;
  };
  const allow = { argumentsDigest: digest, decision: "allow" as const, rule: "default" };
  const asked = [{ hook: "ask first", decision: "allow" as const, durationMs: 120 }];
  at(200);
  await audit.intent({ ...subject(0, "saved:report"), ...allow, hooks: asked, labels: ["private"] });
  at(300);
  await audit.intent({ ...subject(1, "files:read", 0), ...allow, containment: "bubblewrap" });
  at(400);
  audit.record("secret.used", {
    server: "files",
    callId: ids[1] ?? "",
    host: "api.example.com",
    credential: "main",
    secret: "files-main",
  });
  at(500);
  audit.record("call.completed", {
    ...subject(1, "files:read", 0),
    outcome: "ok",
    durationMs: 200,
    resultBytes: 5,
  });
  at(600);
  audit.record("approval.call.granted", {
    approval: "call-1",
    client,
    tool: "files:write",
    server: "files",
    argumentsDigest: digest,
    decidedBy: { name: "cli" },
  });
  await audit.intent({ ...subject(2, "files:write", 0), ...allow, approval: "call-1" });
  at(1100);
  const code = "CALL_TIMEOUT";
  audit.record("call.completed", {
    ...subject(2, "files:write", 0),
    outcome: "failed",
    code,
    durationMs: 500,
  });
  at(1200);
  const replaced = [{ hook: "mask", decision: "replace" as const, durationMs: 50, reason: "a number" }];
  audit.record("call.completed", {
    ...subject(0, "saved:report"),
    outcome: "tool_error",
    durationMs: 1000,
    resultBytes: 900,
    hooks: replaced,
  });
  at(2000);
  await audit.intent({ ...subject(3, "files:list"), ...allow });
  at(3000);
  const evil = "files:\u001b[31mred\u001b[0m\u202e\u{1f9d1}\u6f22\u5b57";
  const refusal = {
    outcome: "denied" as const,
    code: "POLICY_DENIED",
    reason: `no \u001b]0;x\u0007way${longReason}`,
  };
  audit.record("call.denied", { ...subject(4, evil), ...refusal, decision: "deny", rule: "policy.deny" });
  at(4000);
  const waits = { outcome: "denied" as const, code: "CALL_APPROVAL_REQUIRED", approval: "call-2" };
  audit.record("call.denied", { ...subject(5, "files:delete"), ...waits, decision: "approve" });
  at(5000);
  await audit.intent({ ...subject(6, "files:stat"), ...allow });
  at(5025);
  audit.record("call.completed", {
    ...subject(6, "files:stat"),
    outcome: "ok",
    durationMs: 25,
    resultBytes: 2,
  });
}

before(async () => {
  directory = await makeTemporaryDirectory();
  await using store = await openStore({ home: directory.join(".toolcrib") }, { now: () => now });
  await writeTrail(store);
});
after(() => directory[Symbol.asyncDispose]());

test("a call is shown as a tree with times, found by its prefix or as the last one", async () => {
  const commands = [
    ["trace", ids[0] ?? ""],
    ["trace", "01900001"],
    ["trace", "01900003"],
    ["trace", "01900004"],
    ["trace", "01900005"],
    ["trace", "last"],
    ["trace", "0190"],
    ["trace", "nope"],
    ["trace", "01900001", "--json"],
  ];
  checkGolden(golden("trace.txt"), await transcript(commands, { directory: directory.path }));
});

test("the reason of a denial is shown whole, and an error of a tool says where its text is not", async () => {
  const setting = { directory: directory.path };
  const denied = (await runToolcrib(["trace", "01900004"], setting)).stdout;
  const shown = denied.replaceAll(/\n[\s│]*/g, " ");
  assert.ok(shown.includes("the operator paused this tool; ".repeat(4)), denied);
  assert.match(shown, /ask again tomorrow/);
  assert.ok(
    denied.split("\n").every((line) => line.length <= 100),
    denied,
  );
  const failed = (await runToolcrib(["trace", ids[0] ?? ""], setting)).stdout;
  assert.match(
    failed.replaceAll(/\n[\s│]*/g, " "),
    /the tool answered with an error, whose text the audit trail does not keep/,
  );
});

test("the JSON of a trace has the whole tree with starts, durations and decisions", async () => {
  const { stdout } = await runToolcrib(["trace", ids[0] ?? "", "--json"], { directory: directory.path });
  interface Node {
    readonly kind: string;
    readonly name: string;
    readonly start: string;
    readonly durationMs?: number;
    readonly rule?: string;
    readonly children?: readonly Node[];
  }
  const { trace } = JSON.parse(stdout) as { readonly trace: Node };
  const flat = (node: Node): readonly Node[] => [node, ...(node.children ?? []).flatMap(flat)];
  assert.deepEqual(
    flat(trace).map(({ kind, name, start: began, durationMs }) => [
      kind,
      name,
      Date.parse(began) - start,
      durationMs,
    ]),
    [
      ["call", "saved:report", 200, 1000],
      ["hook", "hook ask first (before)", 80, 120],
      ["call", "files:read", 300, 200],
      ["event", "secret.used", 400, undefined],
      ["call", "files:write", 600, 500],
      ["approval", "approval call-1", 600, undefined],
      ["hook", "hook mask (after)", 1150, 50],
    ],
  );
  assert.equal(trace.rule, "default");
});

test("the last call is none that a command made to look a tool up", async () => {
  await using home = await makeTemporaryDirectory();
  {
    await using store = await openStore({ home: home.join(".toolcrib") }, { now: () => start });
    const cli = toAuditClient(localIdentity("cli", "cli"), { name: "toolcrib", version: "1.2" });
    const allow = { argumentsDigest: digest, decision: "allow" as const, rule: "default" };
    await store.audit.intent({ ...subject(0, "files:read"), ...allow });
    await store.audit.intent({ ...subject(1, "toolcrib:describe_tool"), client: cli, ...allow });
  }
  const { stdout, stderr } = await runToolcrib(["trace", "last"], { directory: home.path });
  assert.match(stdout, /^files:read /m, stderr);
});

test("an empty home has no last call", async () => {
  await using empty = await makeTemporaryDirectory();
  const { code, stderr } = await runToolcrib(["trace", "last"], { directory: empty.path });
  assert.equal(code, 4);
  assert.match(stderr, /CLI_CALL_NOT_FOUND: The audit trail has no call yet\n/);
});
