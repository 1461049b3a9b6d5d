import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { openStore, type Store, toAuditClient } from "@toolcrib/store";
import { checkGolden, makeTemporaryDirectory, type TemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import { cleanEnvironment, commandLine, golden, normalize, runToolcrib, transcript } from "./transcript.ts";

const start = Date.UTC(2026, 5, 1, 12);
const ids = [1, 2, 3, 4].map((number) => `0190000${number}-0000-7000-8000-00000000000${number}`);

let directory: TemporaryDirectory;

/** A call with an inner call, a failed call, a call that was denied with a hostile reason, and a server. */
async function writeTrail({ audit }: Store): Promise<void> {
  const client = toAuditClient(localIdentity("token", "default"), { name: "editor", version: "1.2" });
  const person = { issuer: "https://id.example.com", subject: "248289761001", name: "default" };
  const call = (at: number, tool: string, parent?: number) => ({
    callId: ids[at] ?? "",
    ...(parent === undefined ? undefined : { parentId: ids[parent] }),
    depth: parent === undefined ? 0 : 1,
    client: at === 2 ? person : client,
    tool,
    origin: "server",
  });
  const intent = (at: number, tool: string, parent?: number) =>
    audit.intent({
      ...call(at, tool, parent),
      argumentsDigest: `sha256:${"0".repeat(64)}`,
      preview: { path: "a.txt" },
      decision: "allow",
      rule: "default",
    });
  audit.record("server.started", { server: "files", transport: "stdio", toolCount: 14 });
  await intent(0, "saved:report");
  await intent(1, "files:read", 0);
  audit.record("call.completed", {
    ...call(1, "files:read", 0),
    outcome: "ok",
    durationMs: 12,
    resultBytes: 5,
  });
  audit.record("call.completed", { ...call(0, "saved:report"), outcome: "tool_error", durationMs: 1520 });
  await intent(2, "files:write");
  const code = "CALL_TIMEOUT";
  audit.record("call.completed", { ...call(2, "files:write"), outcome: "failed", code, durationMs: 30_000 });
  audit.record("containment.violation", {
    callId: ids[3] ?? "",
    client,
    tool: "files:delete",
    server: "files",
    rule: "containment.write.certified",
    reason: "it declares destructiveHint: true",
    effect: "recorded",
  });
  audit.record("call.denied", {
    ...call(3, "files:delete"),
    // As an earlier version recorded it.
    client: { kind: "cli", name: "cli" },
    outcome: "denied",
    decision: "deny",
    code: "POLICY_DENIED",
    reason: "no \u001b[31mred\u001b[0m\nsecond line \u202ereversed",
  });
}

before(async () => {
  directory = await makeTemporaryDirectory();
  let now = start;
  const clock = () => {
    now += 1000;
    return now;
  };
  await using store = await openStore({ home: directory.join(".toolcrib") }, { now: clock });
  await writeTrail(store);
});
after(() => directory[Symbol.asyncDispose]());

/** Ids and times of this trail are constant. */
const raw = { directory: "", env: {} };

test("the trail is listed, filtered, shown as a tree and tailed without a gateway", async () => {
  const setting = { ...raw, directory: directory.path };
  const text = await transcript(
    [
      ["audit", "list"],
      ["audit", "list", "--tool", "files:*", "--outcome", "failed"],
      ["audit", "list", "--client", "cli", "--limit", "1"],
      ["audit", "list", "--issuer", "cli"],
      ["audit", "list", "--issuer", "toolcrib:token", "--subject", "default", "--limit", "1"],
      ["audit", "list", "--issuer", "https://id.example.com"],
      ["audit", "list", "--since", "2026-06-01T12:00:08Z"],
      ["audit", "list", "--since", "1s"],
      ["audit", "list", "--type", "call.denied"],
      ["audit", "list", "--type", "server.*"],
      ["audit", "list", "--type", "denied"],
      ["audit", "show", ids[0]?.slice(0, 8) ?? ""],
      ["audit", "show", ids[2] ?? ""],
      ["audit", "show", ids[3] ?? ""],
      ["audit", "show", "0190000"],
      ["audit", "show", "nope"],
      ["audit", "tail", "-n", "2"],
    ],
    setting,
  );
  checkGolden(golden("audit.txt"), text);
});

test("records that are not about a call say what happened", async () => {
  await using other = await makeTemporaryDirectory();
  const digest = (digit: string) => `sha256:${digit.repeat(64)}`;
  const by = toAuditClient(localIdentity("cli", "cli"));
  const change = { digest: digest("2"), previousDigest: digest("1") };
  {
    await using store = await openStore({ home: other.join(".toolcrib") }, { now: Date.now, randomBytes });
    const { audit } = store;
    audit.record("policy.changed", change);
    audit.record("policy.rejected", { ...change, problem: "line 3: unexpected end" });
    audit.record("definition.changed", {
      server: "files",
      kind: "prompt",
      tool: "files:prompts/greet",
      ...change,
      effect: "quarantined",
    });
    audit.record("definition.approved", { server: "files", tool: "files:read", ...change, approvedBy: by });
    audit.record("labels.forgotten", { client: by, labels: ["secret", "hr"] });
    audit.record("guard.paused", { kind: "server", name: "files", reason: "odd", by, cancelledCalls: 2 });
    audit.record("guard.resumed", { kind: "all", by });
    audit.record("token.revoked", { name: "ci", by });
    audit.record("config.changed", { files: ["toolcrib.yaml"], digest: digest("3"), changed: ["serve"] });
    audit.record("config.changed", {
      files: ["toolcrib.yaml"],
      digest: digest("3"),
      changed: ["tool_servers.files"],
      loosened: [{ server: "files", changes: ["network_egress from deny to allow", "no sandbox"] }],
    });
    audit.record("secret.used", { server: "crm", host: "api.example.com", credential: "key", secret: "CRM" });
    audit.record("tool.saved", { tool: "saved:x", codeDigest: digest("4"), reach: ["files:read"] });
  }
  const { stdout } = await runToolcrib(["audit", "list"], {
    directory: other.path,
    env: { COLUMNS: "240" },
  });
  const rows = stdout
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) =>
      line
        .slice(line.indexOf("Z") + 1)
        .replaceAll(/ +/g, " ")
        .trim(),
    )
    .toReversed();
  assert.match(rows[0] ?? "", /^audit\.key signed with key [0-9a-f]{12}$/);
  assert.deepEqual(rows.slice(1), [
    "policy.changed 111111111111 to 222222222222",
    "policy.rejected line 3: unexpected end; in force: 222222222222",
    "definition.changed files:prompts/greet quarantined: prompt 111111111111 to 222222222222",
    "definition.approved files:read cli 111111111111 to 222222222222",
    "labels.forgotten cli secret, hr",
    "guard.paused files cli server, 2 calls cancelled, odd",
    "guard.resumed everything cli",
    "token.revoked ci cli",
    "config.changed toolcrib.yaml; changed: serve",
    "config.changed toolcrib.yaml; changed: tool_servers.files; files may do more: network_egress from deny to allow, no sandbox",
    "secret.used crm CRM, api.example.com",
    "tool.saved saved:x code 444444444444, calls files:read",
  ]);
});

test("--json prints the records unchanged", async () => {
  const run = async (...args: readonly string[]) =>
    JSON.parse((await runToolcrib(["audit", ...args, "--json"], { directory: directory.path })).stdout);
  const [list, tail, show] = await Promise.all([run("list"), run("tail"), run("show", ids[0] ?? "")]);
  assert.deepEqual(list.toReversed(), tail);
  assert.equal(list[0].data.reason, "no \u001b[31mred\u001b[0m\nsecond line \u202ereversed");
  assert.equal(show.calls[0].completion.data.resultBytes, 5);
});

test("tail --follow shows new records until Ctrl-C, which is a normal exit", async () => {
  const args = [
    ...commandLine,
    "audit",
    "tail",
    "--follow",
    "--issuer",
    "cli",
    "--subject",
    "cli",
    "--type",
    "call.*",
    "-n",
    "1",
    "--json",
  ];
  const env = { ...process.env, ...cleanEnvironment(directory.path) };
  const child = spawn(process.execPath, args, {
    cwd: directory.path,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = once(child, "close");
  try {
    const linesOf = () =>
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as { readonly data: { readonly tool: string } });
    await waitUntil(() => stdout.includes("\n"));
    {
      await using store = await openStore({ home: directory.join(".toolcrib") }, { now: Date.now });
      const identities = [localIdentity("token", "cli"), localIdentity("cli", "cli")];
      for (const [at, tool] of ["web:get", "files:list"].entries()) {
        const client = toAuditClient(identities[at]!);
        const call = { callId: `new-${tool}`, depth: 0, client, tool, origin: "server" };
        const { callId } = call;
        const violation = {
          rule: "containment.write.certified",
          reason: "it may write",
          effect: "recorded",
        } as const;
        store.audit.record("containment.violation", { callId, client, tool, server: "files", ...violation });
        await store.audit.intent({ ...call, argumentsDigest: "sha256:0", decision: "allow" });
      }
    }
    await waitUntil(() => linesOf().length === 2);
    assert.deepEqual(
      linesOf().map(({ data }) => data.tool),
      ["files:delete", "files:list"],
    );
  } finally {
    child.kill("SIGINT");
    await ended;
  }
  assert.deepEqual([child.exitCode, normalize(stderr, directory.path)], [0, ""]);
});
