import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openAuditReader, openStore, StoreError } from "@toolcrib/store";
import { waitUntil } from "@toolcrib/testing";
import { startChildWriter } from "./child-process.ts";
import { callIdsOf, completionOf, intentOf, newHome, recordsOf, tickingClock } from "./sample-events.ts";

const isLinux = process.platform === "linux";

function hasCommand(command: string): boolean {
  return spawnSync(command, ["--version"]).status === 0;
}

/** Mounts a file system of `kilobytes` in memory; `undefined` where that is not possible. */
function mountTmpfs(t: TestContext, kilobytes: number): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), "toolcrib-tmpfs-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${kilobytes}k`, "tmpfs", directory]);
  t.after(() => {
    if (mounted.status === 0) execFileSync("umount", ["-l", directory]);
    rmSync(directory, { recursive: true });
  });
  if (mounted.status !== 0) return undefined;
  return directory;
}

/** Asserts that the segments contain every sequence number once, in order. */
function assertNoGap(home: string): void {
  const sequences = recordsOf(home).map(({ sequence }) => Number(sequence));
  assert.deepEqual(
    sequences,
    sequences.map((_, index) => index + 1),
  );
}

test("while nothing can be written, intents are refused and completions stay pending", async (t) => {
  const home = newHome(t);
  const problems: string[] = [];
  // A folder at the path of the segment fails like a missing disk.
  const inTheWay = join(home, "audit", "001-00000001.jsonl");
  await using store = await openStore(
    { home },
    { now: tickingClock(), onProblem: ({ code }) => problems.push(code) },
  );
  mkdirSync(inTheWay);
  const refused = await Promise.allSettled([1, 2].map((n) => store.audit.intent(intentOf(`refused${n}`))));
  for (const result of refused) {
    assert(result.status === "rejected" && result.reason instanceof StoreError);
    assert.equal(result.reason.code, "AUDIT_UNWRITABLE");
    assert.match(result.reason.message, /EISDIR/);
  }
  store.audit.record("call.completed", completionOf("running"));
  await assert.rejects(store.audit.flush(), { code: "AUDIT_UNWRITABLE" });
  assert.deepEqual(problems, ["AUDIT_UNWRITABLE"]);
  const failing = store.audit.stats();
  assert.deepEqual(
    [failing.failing, failing.refusedIntents, failing.pendingRecords, failing.failedWrites],
    [true, 2, 1, 2],
  );
  rmSync(inTheWay, { recursive: true });
  await store.audit.intent(intentOf("accepted"));
  assert.equal(store.audit.stats().failing, false);
  assert.deepEqual(callIdsOf(recordsOf(home)), ["running", "accepted"]);
  assertNoGap(home);
});

test("completions are retried without an intent", async (t) => {
  const home = newHome(t);
  const inTheWay = join(home, "audit", "001-00000001.jsonl");
  await using store = await openStore({ home }, { now: tickingClock() });
  mkdirSync(inTheWay);
  store.audit.record("call.completed", completionOf("running"));
  await assert.rejects(store.audit.flush(), { code: "AUDIT_UNWRITABLE" });
  rmSync(inTheWay, { recursive: true });
  await waitUntil(() => !store.audit.stats().failing);
  assert.deepEqual(callIdsOf(recordsOf(home)), ["running"]);
});

test("disposing reports how many records could not be written", async (t) => {
  const home = newHome(t);
  const store = await openStore({ home }, { now: tickingClock() });
  mkdirSync(join(home, "audit", "001-00000001.jsonl"));
  store.audit.record("call.completed", completionOf("running"));
  await assert.rejects(async () => store[Symbol.asyncDispose](), {
    code: "AUDIT_UNWRITABLE",
    message: "Cannot write the end of the audit trail; records lost: 1",
  });
});

test("a device at the path of a segment is not written to", { skip: !isLinux }, async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home }, { now: tickingClock() });
  const path = join(home, "audit", "001-00000001.jsonl");
  symlinkSync("/dev/null", path);
  await assert.rejects(store.audit.intent(intentOf("c1")), { code: "AUDIT_UNWRITABLE" });
  rmSync(path);
  await store.audit.intent(intentOf("c2"));
  assert.deepEqual(callIdsOf(recordsOf(home)), ["c2"]);
});

test("intents are refused on a full disk, and accepted when there is space", async (t) => {
  const directory = mountTmpfs(t, 1024);
  if (directory === undefined) return t.skip("a tmpfs cannot be mounted here");
  const home = join(directory, "home");
  const problems: string[] = [];
  const ballast = join(directory, "ballast");
  writeFileSync(ballast, Buffer.alloc(700 * 1024));
  const store = await openStore(
    { home },
    { now: tickingClock(), onProblem: ({ code }) => problems.push(code) },
  );
  const accepted: string[] = [];
  let refusedCount = 0;
  const call = async (callId: string): Promise<void> => {
    try {
      await store.audit.intent(intentOf(callId));
      accepted.push(callId);
    } catch (error) {
      assert.equal((error as StoreError).code, "AUDIT_UNWRITABLE");
      refusedCount += 1;
    }
  };
  for (let batch = 0; batch < 100 && refusedCount === 0; batch += 1) {
    await Promise.all(Array.from({ length: 16 }, (_, n) => call(`full${batch}-${n}`)));
  }
  assert(refusedCount > 0);
  store.audit.record("call.completed", completionOf("running"));
  await assert.rejects(store.audit.flush(), { code: "AUDIT_UNWRITABLE" });
  rmSync(ballast);
  await call("after");
  await store[Symbol.asyncDispose]();
  assert.equal(problems[0], "AUDIT_UNWRITABLE");
  const records = recordsOf(home);
  const intents = callIdsOf(records.filter(({ type }) => type === "call.intent"));
  assert.deepEqual(intents, accepted);
  assert.deepEqual(callIdsOf(records.filter(({ type }) => type === "call.completed")), ["running"]);
  assertNoGap(home);
  // A part of a line was written before the disk was full: the trail records it and the index finds it.
  const torn = records.flatMap((record) => (record.type === "audit.recovered" ? [record.data] : []));
  await using reader = await openAuditReader({ home });
  const unreadable = (await reader.problems()).filter(({ kind }) => kind === "unreadable");
  assert.equal(torn.length, 1);
  assert.deepEqual(
    unreadable.map(({ segment, position, bytes }) => ({ segment, reason: "torn", position, bytes })),
    torn,
  );
});

test("intents are refused at a limit of the file size until it is raised", async (t) => {
  if (!isLinux || !hasCommand("prlimit")) return t.skip("prlimit is not installed");
  const home = newHome(t);
  const child = startChildWriter(t, [home, "400", "8"], "ulimit -S -f 128");
  await child.until((lines) => lines.filter((line) => line === "refused AUDIT_UNWRITABLE").length >= 20);
  execFileSync("prlimit", ["--pid", String(child.process.pid), "--fsize=unlimited"]);
  assert.equal(await child.ended, 0);
  const accepted = child
    .lines()
    .slice(1)
    .filter((line) => !line.startsWith("refused"));
  const records = recordsOf(home);
  assert.deepEqual(callIdsOf(records.filter(({ type }) => type === "call.intent")), accepted);
  // A completion was recorded for every call, also for refused ones, and none is lost.
  assert.equal(records.filter(({ type }) => type === "call.completed").length, 400);
  assertNoGap(home);
  const content = readFileSync(join(home, "audit", "001-00000001.jsonl"));
  assert(content.length > 128 * 512);
});
