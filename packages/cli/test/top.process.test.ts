/** `toolcrib top`: sums of the calls of a trail, once and live on a terminal while calls are recorded. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { openStore, type Store, toAuditClient } from "@toolcrib/store";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import { skipWithoutTerminal, TerminalRun } from "./terminal.ts";
import { runToolcrib } from "./transcript.ts";

let count = 0;

/** Records a call that has ended, of the client `name`. */
async function recordCall(
  { audit }: Store,
  {
    tool,
    name = "ada",
    ms = 10,
    outcome = "ok",
    parentId,
  }: {
    readonly tool: string;
    readonly name?: string;
    readonly ms?: number;
    readonly outcome?: "ok" | "failed" | "open";
    readonly parentId?: string;
  },
): Promise<string> {
  count += 1;
  const callId = `01900000-0000-7000-8000-${String(count).padStart(12, "0")}`;
  const subject = {
    callId,
    ...(parentId === undefined ? {} : { parentId }),
    depth: parentId === undefined ? 0 : 1,
    client: toAuditClient(localIdentity("token", name)),
    tool,
    origin: "server",
    server: tool.split(":")[0] ?? "",
  };
  await audit.intent({ ...subject, argumentsDigest: `sha256:${"0".repeat(64)}`, decision: "allow" });
  if (outcome !== "open")
    audit.record("call.completed", { ...subject, outcome, durationMs: ms, resultBytes: 400 });
  return callId;
}

interface Sums {
  readonly name: string;
  readonly calls: number;
  readonly errors: number;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly inFlight: number;
  readonly resultTokens: number;
}

test("top --once sums the calls of the last seconds by server, client and tool", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  {
    const old = Date.now() - 3_000_000;
    await using store = await openStore({ home: directory.join(".toolcrib") }, { now: () => old });
    await recordCall(store, { tool: "files:old" });
  }
  {
    await using store = await openStore({ home: directory.join(".toolcrib") }, { now: Date.now });
    for (let at = 1; at <= 99; at += 1) await recordCall(store, { tool: "files:read", ms: at });
    await recordCall(store, { tool: "files:read", ms: 5000, outcome: "failed" });
    const composite = await recordCall(store, { tool: "saved:report", name: "bob" });
    await recordCall(store, { tool: "web:get", name: "bob", parentId: composite });
    await recordCall(store, { tool: "web:get", name: "evil\u001b[31m\u202e" });
    await recordCall(store, { tool: "web:get", name: "slow", outcome: "open" });
  }
  const { stdout } = await runToolcrib(["top", "--once", "--json"], setting);
  const { servers, clients, tools, isGatewayRunning } = JSON.parse(stdout) as {
    readonly [table in "servers" | "clients" | "tools"]: readonly Sums[];
  } & { readonly isGatewayRunning: boolean };
  assert.equal(isGatewayRunning, false);
  const rows = (sums: readonly Sums[]) => sums.map(({ name, calls, errors }) => [name, calls, errors]);
  assert.deepEqual(rows(servers), [
    ["files", 100, 1],
    ["web", 2, 0],
    ["saved", 1, 0],
  ]);
  // The inner call of a composite is no call of its client.
  assert.deepEqual(rows(clients), [
    ["ada", 100, 1],
    ["bob", 1, 0],
    ["evil\u001b[31m\u202e", 1, 0],
  ]);
  assert.equal(tools.length, 3);
  const [files] = servers;
  assert.deepEqual([files?.p50Ms, files?.p99Ms, files?.resultTokens, files?.inFlight], [50, 99, 10_000, 0]);

  const text = await runToolcrib(["top", "--once", "--sort", "p99", "--window", "3600"], setting);
  assert.match(text.stdout, /Calls of the last 3600 s; no gateway is running/);
  assert.match(text.stdout, /files +\d\.\d\d +101 +1 +50 ms +99 ms +0 +10100\n/);
  assert.match(text.stdout, /evil\\u001b\[31m\\u202e/);
  const byTool = await runToolcrib(["top", "--once", "--by", "tool", "--sort", "name"], setting);
  assert.match(byTool.stdout, /TOOL▾[\s\S]*files:read[\s\S]*saved:report[\s\S]*web:get/);
  assert.doesNotMatch(byTool.stdout, /CLIENT/);
});

test("on a terminal of 80 columns, tools keep names that differ", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path, columns: 80 };
  const tools = ["list_directory", "list_directory_with_sizes", "list_allowed_directories_of_all_users"];
  {
    await using store = await openStore({ home: directory.join(".toolcrib") }, { now: Date.now });
    for (const tool of tools)
      await recordCall(store, { tool: `filesystem:${tool}`, ms: 61_000, name: "cursor" });
  }
  const top = await runToolcrib(["--no-color", "top", "--once", "--by", "tool", "--sort", "name"], setting);
  const list = await runToolcrib(["--no-color", "audit", "list"], setting);
  assert.match(top.stdout, /^filesystem:list_directory +1 +0 +61\.0 s +61\.0 s +0 +100$/m);
  for (const end of ["with_sizes", "f_all_users"])
    assert.match(top.stdout, new RegExp(`^filesystem:\\S+…\\S+${end} +1 `, "m"));
  for (const tool of tools) assert.match(list.stdout, new RegExp(` filesystem:${tool}$`, "m"));
  for (const line of `${top.stdout}${list.stdout}`.split("\n")) assert.ok(line.length <= 80, line);
});

test("top needs a terminal, or --once", async () => {
  await using directory = await makeTemporaryDirectory();
  const { code, stdout, stderr } = await runToolcrib(["top"], { directory: directory.path });
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /CLI_USAGE[\s\S]*toolcrib top --once --json/);
  const empty = await runToolcrib(["top", "--once"], { directory: directory.path });
  assert.equal(empty.code, 0);
  assert.match(empty.stdout, /no calls by server/);
});

test("top follows calls live, and a key sorts the tables", { skip: skipWithoutTerminal }, async () => {
  await using directory = await makeTemporaryDirectory();
  await using store = await openStore({ home: directory.join(".toolcrib") }, { now: Date.now });
  for (let at = 0; at < 3; at += 1) await recordCall(store, { tool: "first:a", ms: 1 });
  await using run = new TerminalRun(["top"], { directory: directory.path }, [90, 24]);
  await run.untilFrame(/first +\d\.\d\d +3 +0/);
  for (let at = 0; at < 2; at += 1) await recordCall(store, { tool: "later:b", ms: 900 });
  await run.untilFrame(/first[\s\S]*later +\d\.\d\d +2 +0 +900 ms/);
  run.press("l");
  await run.untilFrame(/P99▾[\s\S]*later[\s\S]*first/);
  run.press("q");
  await run.end();
  assert.match(run.text, /code=0/);
});
