import assert from "node:assert/strict";
import { renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openAuditReader, openStore, type Store } from "@toolcrib/store";
import {
  callIdsOf,
  completionOf,
  intentOf,
  newHome,
  recordsOf,
  segmentNames,
  tickingClock,
} from "./sample-events.ts";

const dayMs = 24 * 60 * 60 * 1000;

async function writeIntents(store: Store, prefix: string, count: number): Promise<void> {
  // Sequentially: a new segment starts only between two writes.
  for (let n = 0; n < count; n += 1) await store.audit.intent(intentOf(`${prefix}${n}`));
}

function assertNoGap(home: string): void {
  const sequences = recordsOf(home).map(({ sequence }) => Number(sequence));
  assert.deepEqual(
    sequences,
    sequences.map((_, index) => index + sequences[0]!),
  );
}

test("a segment that reaches its size is followed by a new one", async (t) => {
  const home = newHome(t);
  const audit = { segmentMaxBytes: 4096 };
  const clock = tickingClock();
  {
    await using store = await openStore({ home, audit }, { now: clock });
    await writeIntents(store, "a", 20);
  }
  {
    await using store = await openStore({ home, audit }, { now: clock });
    await writeIntents(store, "b", 20);
    assert.equal((await store.audit.list({ limit: 1000 })).length, 40);
    assert.deepEqual(await store.audit.problems(), []);
  }
  const names = segmentNames(home);
  assert(names.length >= 5);
  assert.deepEqual(
    names,
    names.map((_, index) => `001-${String(index + 1).padStart(8, "0")}.jsonl`),
  );
  for (const name of names.slice(0, -1)) {
    const { size } = statSync(join(home, "audit", name));
    assert(size >= 4096 && size < 2 * 4096, `${name} has ${size} bytes`);
  }
  assertNoGap(home);
});

test("a segment that reaches its age is followed by a new one, also after a restart", async (t) => {
  const home = newHome(t);
  let now = Date.UTC(2026, 0, 1);
  const clock = () => now;
  {
    await using store = await openStore({ home }, { now: clock });
    await writeIntents(store, "a", 2);
    now += 8 * dayMs;
    await writeIntents(store, "b", 2);
    now += 4 * dayMs;
    await writeIntents(store, "c", 1);
  }
  now += 4 * dayMs;
  {
    await using store = await openStore({ home }, { now: clock });
    await writeIntents(store, "d", 1);
  }
  assert.deepEqual(segmentNames(home), ["001-00000001.jsonl", "001-00000002.jsonl", "001-00000003.jsonl"]);
  assertNoGap(home);
});

test("the oldest segments beyond the maximum are deleted, and the trail records it", async (t) => {
  const home = newHome(t);
  const audit = { segmentMaxBytes: 2000, retainMaxBytes: 8000 };
  let before: readonly string[];
  {
    await using store = await openStore(
      { home, audit: { ...audit, retainMaxBytes: 1_000_000 } },
      { now: tickingClock() },
    );
    await writeIntents(store, "c", 40);
    assert.equal((await store.audit.list({ limit: 1000 })).length, 40);
    before = segmentNames(home);
  }
  {
    await using store = await openStore({ home, audit }, { now: tickingClock(Date.UTC(2026, 10, 23)) });
    await writeIntents(store, "d", 1);
  }
  await using store = await openStore({ home, audit }, { now: tickingClock(Date.UTC(2026, 10, 24)) });
  await store.audit.flush();
  const pruned = (await store.audit.list({ type: "audit.pruned", limit: 1000 })).flatMap((record) =>
    record.type === "audit.pruned" ? [record.data] : [],
  );
  assert(pruned.length >= before.length - 3);
  for (const { segment, firstSequence, lastSequence, bytes, reason } of pruned) {
    assert.equal(reason, "size");
    assert(before.includes(segment) && !segmentNames(home).includes(segment), segment);
    assert(Number(firstSequence) <= Number(lastSequence));
    assert(bytes >= 2000);
  }
  assert(segmentNames(home).length <= 4);
  // The remaining records are listed; a deleted segment is not reported as a problem.
  const left = recordsOf(home);
  assert.deepEqual(new Set(callIdsOf(await store.audit.list({ limit: 1000 }))), new Set(callIdsOf(left)));
  assert.deepEqual(await store.audit.problems(), []);
  assertNoGap(home);
});

test("segments beyond the maximum age are deleted, except the newest of a writer", async (t) => {
  const home = newHome(t);
  const start = Date.UTC(2026, 0, 1);
  const audit = { segmentMaxBytes: 2000, retainMaxAgeMs: 3 * dayMs };
  {
    await using store = await openStore({ home, audit }, { now: tickingClock(start) });
    await writeIntents(store, "c", 20);
  }
  const names = segmentNames(home);
  for (let day = 0; day <= 2; day += 1) {
    await using store = await openStore({ home, audit }, { now: () => start + day * dayMs });
    await store.audit.flush();
    assert.deepEqual(segmentNames(home).slice(0, names.length), names, `day ${day}`);
  }
  {
    await using store = await openStore({ home, audit }, { now: () => start + 4 * dayMs });
    await writeIntents(store, "d", 1);
  }
  await using store = await openStore({ home, audit }, { now: () => start + 5 * dayMs });
  const pruned = await store.audit.list({ type: "audit.pruned", limit: 1000 });
  await store[Symbol.asyncDispose]();
  assert(pruned.length > 0);
  const left = segmentNames(home);
  assert.deepEqual(
    names.filter((name) => left.includes(name)),
    names.slice(-1),
  );
});

test("a jump of the clock deletes nothing", async (t) => {
  const home = newHome(t);
  const start = Date.UTC(2026, 0, 1);
  {
    await using store = await openStore(
      { home, audit: { segmentMaxBytes: 2000 } },
      { now: tickingClock(start) },
    );
    await writeIntents(store, "c", 20);
  }
  const names = segmentNames(home);
  for (const name of names) utimesSync(join(home, "audit", name), start / 1000, start / 1000);
  for (const days of [0, 401, 0, 4000, 1, 402]) {
    await using store = await openStore({ home }, { now: () => start + days * dayMs });
    await writeIntents(store, `at${days}-`, 1);
    await store[Symbol.asyncDispose]();
    assert.deepEqual(segmentNames(home).slice(0, names.length), names, `day ${days}`);
  }
});

test("a segment that is removed while it is in use is replaced, and the trail records it", async (t) => {
  const home = newHome(t);
  const problems: string[] = [];
  let now = Date.UTC(2026, 0, 1);
  await using store = await openStore(
    { home },
    { now: () => now, onProblem: ({ code }) => problems.push(code) },
  );
  await writeIntents(store, "a", 2);
  for (const remove of [
    () => rmSync(join(home, "audit", "001-00000001.jsonl")),
    () => rmSync(join(home, "audit"), { recursive: true }),
    () => renameSync(join(home, "audit", store.audit.stats().segment), join(home, "elsewhere")),
  ]) {
    remove();
    now += 2000;
    await store.audit.intent(intentOf(`after${now}`));
    await store.audit.flush();
    const [intent, recovered] = recordsOf(home).slice(-2);
    assert.equal(intent?.type, "call.intent");
    assert(recovered?.type === "audit.recovered");
    assert.equal(recovered.data.reason, "missing");
  }
  assert.deepEqual(problems, ["AUDIT_SEGMENT_DAMAGED", "AUDIT_SEGMENT_DAMAGED", "AUDIT_SEGMENT_DAMAGED"]);
  const kinds = (await store.audit.problems()).map(({ kind }) => kind);
  assert.deepEqual(kinds, [], "the first segment that is left begins the sequence that can be checked");
});

test("a segment that is missing between two others is found", async (t) => {
  const home = newHome(t);
  {
    await using store = await openStore({ home, audit: { segmentMaxBytes: 2000 } }, { now: tickingClock() });
    await writeIntents(store, "c", 20);
    store.audit.record("call.completed", completionOf("c1"));
  }
  writeFileSync(join(home, "audit", "notes.txt"), "not a segment");
  rmSync(join(home, "audit", "001-00000002.jsonl"));
  await using reader = await openAuditReader({ home });
  const [problem, ...others] = await reader.problems();
  assert.deepEqual([problem?.kind, problem?.segment], ["gap", "001-00000003.jsonl"]);
  assert.deepEqual(others, []);
});
