import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type AuditRecord, openAuditReader, openStore } from "@toolcrib/store";
import { waitUntil } from "@toolcrib/testing";
import { startChildWriter } from "./child-process.ts";
import { callIdsOf, intentOf, newHome, tickingClock } from "./sample-events.ts";

async function toArray(records: AsyncIterable<AuditRecord>): Promise<AuditRecord[]> {
  const all: AuditRecord[] = [];
  for await (const record of records) all.push(record);
  return all;
}

async function take(records: AsyncIterator<AuditRecord>, count: number): Promise<AuditRecord[]> {
  const taken: AuditRecord[] = [];
  while (taken.length < count) {
    const next = await records.next();
    if (next.done) break;
    taken.push(next.value);
  }
  return taken;
}

test("tail() returns the last records, oldest first, across segments and writers", async (t) => {
  const home = newHome(t);
  const clock = tickingClock();
  const audit = { segmentMaxBytes: 2000 };
  await using first = await openStore({ home, audit }, { now: clock });
  await using second = await openStore({ home, audit }, { now: clock });
  for (let n = 0; n < 20; n += 1) await (n % 3 === 0 ? second : first).audit.intent(intentOf(`c${n}`));
  const tailOf = async (limit: number) => callIdsOf(await toArray(first.audit.tail({ limit })));
  const all = Array.from({ length: 20 }, (_, n) => `c${n}`);
  assert.deepEqual(await tailOf(15), all.slice(5));
  assert.deepEqual(await tailOf(1), all.slice(19));
  assert.deepEqual(await tailOf(1000), all);
  assert.deepEqual(await tailOf(0), []);
  assert.deepEqual(callIdsOf(await toArray(second.audit.tail())), all.slice(10));
});

test("tail() follows another process across its segments", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home, audit: { segmentMaxBytes: 2000 } }, { now: tickingClock() });
  await store.audit.intent(intentOf("before"));
  await using reader = await openAuditReader({ home });
  const records = reader.tail({ follow: true })[Symbol.asyncIterator]();
  assert.deepEqual(callIdsOf(await take(records, 1)), ["before"]);
  for (let n = 0; n < 10; n += 1) await store.audit.intent(intentOf(`own${n}`));
  assert.deepEqual(
    callIdsOf(await take(records, 10)),
    Array.from({ length: 10 }, (_, n) => `own${n}`),
  );
  const child = startChildWriter(t, [home, "50", "1"]);
  const fromChild = await take(records, 100);
  assert.equal(await child.ended, 0);
  assert.deepEqual(new Set(fromChild.map(({ writer }) => writer)), new Set(["002"]));
  assert.deepEqual(callIdsOf(fromChild.filter(({ type }) => type === "call.intent")), child.lines().slice(1));
  await records.return?.();
});

test("tail() skips lines that are not records and waits for the end of unfinished ones", async (t) => {
  const home = newHome(t);
  const path = join(home, "audit", "001-00000001.jsonl");
  await using store = await openStore({ home }, { now: tickingClock() });
  await store.audit.intent(intentOf("c1"));
  const [first] = await toArray(store.audit.tail());
  const pauses: { readonly ms: number; readonly end: () => void }[] = [];
  const sleep = (ms: number) => new Promise<void>((end) => pauses.push({ ms, end }));
  await using reader = await openAuditReader({ home }, { sleep });
  const records = reader.tail({ follow: true, limit: 0 })[Symbol.asyncIterator]();
  const next = records.next();
  await waitUntil(() => pauses.length === 1);
  const [complete, line] = ["c2", "c3"].map((id) => JSON.stringify({ ...first, data: intentOf(id) }));
  assert(line !== undefined);
  // The unfinished line is read together with the complete one.
  appendFileSync(path, `noise\n${complete}\n${line.slice(0, 100)}`);
  pauses[0]?.end();
  assert.deepEqual(callIdsOf([(await next).value as AuditRecord]), ["c2"]);
  const last = records.next();
  await waitUntil(() => pauses.length === 2);
  // A poll that finds only the unfinished line returns nothing and is followed by another pause.
  pauses[1]?.end();
  await waitUntil(() => pauses.length === 3);
  appendFileSync(path, `${line.slice(100)}\n`);
  pauses[2]?.end();
  assert.deepEqual(callIdsOf([(await last).value as AuditRecord]), ["c3"]);
  assert.deepEqual(
    pauses.map(({ ms }) => ms),
    [200, 200, 200],
  );
  await records.return?.();
});

test("tail() ends with the reason of its signal", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home }, { now: tickingClock() });
  const reason = new Error("Enough");
  const abort = new AbortController();
  const waiting = toArray(store.audit.tail({ follow: true, signal: abort.signal }));
  setImmediate(() => abort.abort(reason));
  await assert.rejects(waiting, reason);
  await assert.rejects(toArray(store.audit.tail({ signal: abort.signal })), reason);
  await assert.rejects(toArray(store.audit.tail({ limit: 1001 })), { code: "AUDIT_QUERY_INVALID" });
});
