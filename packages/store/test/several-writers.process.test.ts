import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openAuditReader, openStore } from "@toolcrib/store";
import { waitUntil } from "@toolcrib/testing";
import { startChildWriter } from "./child-process.ts";
import { callIdsOf, intentOf, newHome, recordsOf, segmentNames, tickingClock } from "./sample-events.ts";

test("two processes write to one home while a third reads", async (t) => {
  const home = newHome(t);
  await using reader = await openAuditReader({ home });
  const startFile = join(home, "start");
  const children = [1, 2].map(() => startChildWriter(t, [home, "600", "16", startFile]));
  // Writing is fast: without this, the first could end before the second begins.
  for (const child of children) await child.until((lines) => lines.length > 0);
  writeFileSync(startFile, "");
  // Results grow and never lose a record while both write and three processes index.
  let seenCount = 0;
  await waitUntil(
    async () => {
      const records = await reader.list({ limit: 1000 });
      assert(records.length >= seenCount);
      seenCount = records.length;
      return seenCount === 1000;
    },
    { timeoutMs: 120_000 },
  );
  for (const child of children) assert.equal(await child.ended, 0);
  assert.deepEqual(children.map((child) => child.lines()[0]).sort(), ["writer 001", "writer 002"]);
  assert.deepEqual(segmentNames(home), ["001-00000001.jsonl", "002-00000001.jsonl"]);
  const records = recordsOf(home);
  for (const writer of ["001", "002"]) {
    assert.deepEqual(
      records.filter((record) => record.writer === writer).map(({ sequence }) => Number(sequence)),
      Array.from({ length: 1200 }, (_, index) => index + 1),
    );
  }
  const expected = children.flatMap((child) => child.lines().slice(1));
  const found = new Set<string>();
  for (let page = await reader.list({ limit: 1000, type: "call.intent" }); page.length > 0; ) {
    for (const callId of callIdsOf(page)) found.add(callId);
    page = await reader.list({ limit: 1000, type: "call.intent", before: page.at(-1) });
  }
  assert.deepEqual(found, new Set(expected));
  assert.deepEqual(await reader.problems(), []);
});

test("a writer number is free again when its store is disposed", async (t) => {
  const home = newHome(t);
  const clock = tickingClock();
  const first = await openStore({ home }, { now: clock });
  const second = await openStore({ home }, { now: clock });
  await Promise.all([first.audit.intent(intentOf("a1")), second.audit.intent(intentOf("b1"))]);
  await first[Symbol.asyncDispose]();
  await using third = await openStore({ home }, { now: clock });
  await third.audit.intent(intentOf("a2"));
  await second[Symbol.asyncDispose]();
  assert.deepEqual(
    recordsOf(home).map(({ writer, sequence, data }) => [
      writer,
      Number(sequence),
      "callId" in data && data.callId,
    ]),
    [
      ["001", 1, "a1"],
      ["001", 2, "a2"],
      ["002", 1, "b1"],
    ],
  );
});

test("searching for a free writer number releases no lock that the process holds", async (t) => {
  const home = newHome(t);
  await using stack = new AsyncDisposableStack();
  for (let n = 0; n < 3; n += 1) stack.use(await openStore({ home }, { now: tickingClock() }));
  const child = startChildWriter(t, [home, "1", "1"]);
  assert.equal(await child.ended, 0);
  assert.equal(child.lines()[0], "writer 004");
});

test("more processes than there are writer numbers are refused", async (t) => {
  const home = newHome(t);
  await using stack = new AsyncDisposableStack();
  for (let n = 0; n < 256; n += 1) stack.use(await openStore({ home }, { now: tickingClock() }));
  await assert.rejects(openStore({ home }, { now: tickingClock() }), { code: "STORE_WRITERS_EXHAUSTED" });
});
