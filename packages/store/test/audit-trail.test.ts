import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openStore } from "@toolcrib/store";
import { waitUntil } from "@toolcrib/testing";
import {
  callIdsOf,
  completionOf,
  denialOf,
  intentOf,
  newHome,
  recordsOf,
  segmentNames,
  tickingClock,
} from "./sample-events.ts";

test("intent() resolves when its line is in the segment", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home }, { now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 6) });
  await store.audit.intent(intentOf("c1"));
  const lines = readFileSync(join(home, "audit", "001-00000001.jsonl"), "utf8").split("\n");
  assert.equal(lines.length, 2);
  assert.equal(lines[1], "");
  const { id, ...record } = JSON.parse(lines[0]!);
  assert.match(id, /^[a-z0-9]+\.[a-z0-9]+\.001-0000000000000001$/);
  assert.deepEqual(record, {
    specversion: "1.0",
    source: "/toolcrib",
    writer: "001",
    sequence: "0000000000000001",
    previous: "0".repeat(64),
    type: "call.intent",
    time: "2026-01-02T03:04:05.006Z",
    data: intentOf("c1"),
  });
});

test("all intents of one turn are written at once, with the records before them", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home }, { now: tickingClock() });
  store.audit.record("call.completed", completionOf("c0"));
  const resolved: number[] = [];
  await Promise.all(
    Array.from({ length: 32 }, (_, index) =>
      store.audit.intent(intentOf(`c${index + 1}`)).then(() => {
        resolved.push(store.audit.stats().writes);
      }),
    ),
  );
  assert.deepEqual(new Set(resolved), new Set([1]));
  assert.equal(resolved.length, 32);
  assert.deepEqual(
    callIdsOf(recordsOf(home)),
    Array.from({ length: 33 }, (_, index) => `c${index}`),
  );
});

test("a batch of any size is written with the hash of each line in the next one", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home }, { now: tickingClock() });
  // One fits into the memory that is kept between batches, and one does not.
  for (const count of [3, 40, 1]) {
    const preview = { text: "ü€\u{1f600}x".repeat(2000) };
    await Promise.all(
      Array.from({ length: count }, (_, index) =>
        store.audit.intent({ ...intentOf(`${count}.${index}`), preview }),
      ),
    );
  }
  const lines = readFileSync(join(home, "audit", "001-00000001.jsonl"), "utf8")
    .split("\n")
    .slice(0, -1);
  assert.equal(lines.length, 44);
  const hashes = lines.map((line) => createHash("sha256").update(line).digest("hex"));
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).previous),
    ["0".repeat(64), ...hashes.slice(0, -1)],
  );
  assert.equal(store.audit.stats().writes, 3);
});

test("intents that arrive during a write are collected for the next one", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home }, { now: tickingClock() });
  const first = store.audit.intent(intentOf("c0"));
  // The write starts in the check phase; these arrive after its start and before its end.
  const others = new Promise<void>((resolve) => {
    setImmediate(() => {
      const late = [1, 2, 3].map((n) => store.audit.intent(intentOf(`c${n}`)));
      Promise.all(late).then(() => resolve());
    });
  });
  await Promise.all([first, others]);
  assert.equal(store.audit.stats().writes, 2);
  assert.deepEqual(callIdsOf(recordsOf(home)), ["c0", "c1", "c2", "c3"]);
});

test("record() is written although no caller waits for it", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home }, { now: tickingClock() });
  store.audit.record("call.denied", denialOf("c1"));
  assert.equal(store.audit.stats().pendingRecords, 1);
  await waitUntil(() => store.audit.stats().pendingRecords === 0 && store.audit.stats().records > 0);
  assert.deepEqual(callIdsOf(recordsOf(home)), ["c1"]);
});

test("flush() resolves when everything recorded is written", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home }, { now: tickingClock() });
  await store.audit.flush();
  store.audit.record("server.started", { server: "github", transport: "stdio", containment: "bubblewrap" });
  store.audit.record("server.quarantined", { server: "github", tool: "x", reason: "Definition changed" });
  store.audit.record("server.stopped", { server: "github", reason: "Configuration changed" });
  store.audit.record("config.changed", { files: ["toolcrib.yaml"], digest: "sha256:00", changed: ["serve"] });
  await store.audit.flush();
  assert.deepEqual(
    recordsOf(home).map(({ type }) => type),
    ["server.started", "server.quarantined", "server.stopped", "config.changed"],
  );
});

test("disposing writes pending records and refuses later ones", async (t) => {
  const home = newHome(t);
  const store = await openStore({ home }, { now: tickingClock() });
  const pending = store.audit.intent(intentOf("c1"));
  store.audit.record("call.completed", completionOf("c1"));
  await Promise.all([store[Symbol.asyncDispose](), store[Symbol.asyncDispose](), pending]);
  assert.deepEqual(
    recordsOf(home).map(({ type }) => type),
    ["call.intent", "call.completed"],
  );
  await assert.rejects(store.audit.intent(intentOf("c2")), { code: "STORE_CLOSED" });
  await assert.rejects(store.audit.list(), { code: "STORE_CLOSED" });
  assert.throws(() => store.audit.record("call.completed", completionOf("c2")), { code: "STORE_CLOSED" });
  await store.audit.flush();
});

test("the sequence of a writer has no gap across restarts", async (t) => {
  const home = newHome(t);
  const clock = tickingClock();
  for (let run = 0; run < 3; run += 1) {
    await using store = await openStore({ home }, { now: clock });
    await Promise.all([store.audit.intent(intentOf(`a${run}`)), store.audit.intent(intentOf(`b${run}`))]);
    store.audit.record("call.completed", completionOf(`a${run}`));
  }
  const records = recordsOf(home);
  assert.deepEqual(segmentNames(home), ["001-00000001.jsonl"]);
  assert.deepEqual(
    records.map(({ sequence }) => Number(sequence)),
    [1, 2, 3, 4, 5, 6, 7, 8, 9],
  );
  assert.equal(new Set(records.map(({ id }) => id)).size, 9);
});

test("opening a store and writing nothing leaves no segment", async (t) => {
  const home = newHome(t);
  {
    await using store = await openStore({ home }, { now: tickingClock() });
    await store.audit.flush();
  }
  assert.deepEqual(segmentNames(home), []);
});

test("only the owner can read what the store creates", { skip: process.platform === "win32" }, async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home }, { now: tickingClock() });
  await store.audit.intent(intentOf("c1"));
  await store.audit.list();
  const modeOf = (...path: string[]) => (statSync(join(home, ...path)).mode & 0o777).toString(8);
  assert.deepEqual([modeOf(), modeOf("audit"), modeOf("locks")], ["700", "700", "700"]);
  for (const path of ["audit/001-00000001.jsonl", "toolcrib.db", "toolcrib.db-wal", "toolcrib.db-shm"]) {
    assert.equal(modeOf(path), "600", path);
  }
  assert.equal(modeOf("locks", "audit-writer-001.lock"), "600");
});

test("a home that cannot be created is refused", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home }, { now: tickingClock() });
  await store.audit.intent(intentOf("c1"));
  const below = join(home, "audit", "001-00000001.jsonl", "home");
  await assert.rejects(openStore({ home: below }, { now: tickingClock() }), {
    code: "STORE_HOME_UNUSABLE",
  });
});

test("intent() stops waiting when its signal aborts", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home }, { now: tickingClock() });
  const reason = new Error("client disconnected");
  await assert.rejects(store.audit.intent(intentOf("c1"), AbortSignal.abort(reason)), reason);
  const abort = new AbortController();
  const waiting = store.audit.intent(intentOf("c2"), abort.signal);
  abort.abort(reason);
  await assert.rejects(waiting, reason);
  await store.audit.intent(intentOf("c3"), new AbortController().signal);
  assert.deepEqual(callIdsOf(recordsOf(home)), ["c2", "c3"]);
});

test("a record that is too large loses its preview, then its fingerprints, then the ends of its texts", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home, audit: { recordMaxLength: 4096 } }, { now: tickingClock() });
  await store.audit.intent(intentOf("c1", { preview: { text: "x".repeat(5000) } }));
  store.audit.record("call.denied", denialOf("c2", { preview: "y".repeat(5000), reason: "z".repeat(5000) }));
  const fingerprints = { [`/${"\u200b".repeat(800)}`]: "0123456789abcdef" };
  await store.audit.intent(intentOf("c4", { preview: { text: "hi" }, fingerprints }));
  await store.audit.flush();
  const [intent, denial, pointed] = recordsOf(home);
  assert.equal(pointed?.truncated, true);
  const { preview: _shown, ...bare } = intentOf("c4");
  assert.deepEqual(pointed?.data, bare);
  assert.equal(intent?.truncated, true);
  const { preview: _, ...rest } = intentOf("c1");
  assert.deepEqual(intent?.data, rest);
  assert(denial?.type === "call.denied");
  assert.equal(denial.truncated, true);
  assert.equal(denial.data.reason, `${"z".repeat(256)}…`);
  assert.equal(denial.data.preview, undefined);
  const tooManyFields = Object.fromEntries(
    Array.from({ length: 500 }, (_, n) => [`field${n}`, "w".repeat(50)]),
  );
  await assert.rejects(store.audit.intent({ ...intentOf("c3"), ...tooManyFields }), {
    code: "AUDIT_RECORD_TOO_LARGE",
  });
});

test("the number of pending records is limited", async (t) => {
  const home = newHome(t);
  const problems: string[] = [];
  await using store = await openStore(
    { home, audit: { pendingMaxLength: 8192 } },
    { now: tickingClock(), onProblem: ({ code }) => problems.push(code) },
  );
  // All in one turn, so that nothing is written in between.
  for (let n = 0; n < 100; n += 1) store.audit.record("call.completed", completionOf(`c${n}`));
  const refused = assert.rejects(store.audit.intent(intentOf("late")), { code: "AUDIT_UNWRITABLE" });
  const { droppedRecords, pendingRecords } = store.audit.stats();
  assert.equal(droppedRecords + pendingRecords, 100);
  assert(droppedRecords > 0 && pendingRecords > 0);
  await refused;
  await store.audit.flush();
  await store.audit.flush();
  assert.deepEqual(problems, ["AUDIT_RECORDS_DROPPED"]);
  const records = recordsOf(home);
  assert.equal(callIdsOf(records).length, pendingRecords);
  const last = records.at(-1);
  assert(last?.type === "audit.dropped");
  assert.equal(last.data.count, droppedRecords);
  assert(last.data.from < last.data.to);
  assert.equal(store.audit.stats().refusedIntents, 1);
});

test("durability fsync writes the same records", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home, audit: { durability: "fsync" } }, { now: tickingClock() });
  await Promise.all([1, 2, 3].map((n) => store.audit.intent(intentOf(`c${n}`))));
  assert.deepEqual(callIdsOf(recordsOf(home)), ["c1", "c2", "c3"]);
});

test("stats() returns counters", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home }, { now: tickingClock() });
  await Promise.all([1, 2, 3].map((n) => store.audit.intent(intentOf(`c${n}`))));
  store.audit.record("call.completed", completionOf("c1"));
  await store.audit.flush();
  assert.deepEqual(store.audit.stats(), {
    writer: "001",
    segment: "001-00000001.jsonl",
    sequence: 4,
    records: 4,
    intents: 3,
    refusedIntents: 0,
    droppedRecords: 0,
    pendingRecords: 0,
    writes: 2,
    failedWrites: 0,
    bytes: statSync(join(home, "audit", "001-00000001.jsonl")).size,
    failing: false,
  });
});
