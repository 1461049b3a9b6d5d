import assert from "node:assert/strict";
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { openAuditReader, openStore, verifyTrail } from "@toolcrib/store";
import { leftOut, runsAll, sampled } from "@toolcrib/testing";
import { startChildWriter } from "./child-process.ts";
import { callIdsOf, intentOf, newHome, recordsOf, segmentNames, tickingClock } from "./sample-events.ts";

/** `npm test` runs three of the rounds, `npm run verify` all 100. */
const roundStep = 34;
const rounds = Array.from({ length: 100 }, (_, round) => round);

test("no call is made without a record, and the chain is intact, when the writer is killed at a write", async (t) => {
  const home = newHome(t);
  const made = new Set<string>();
  for (const round of sampled(rounds, roundStep)) {
    const child = startChildWriter(t, [home, "forever", String(1 + (round % 40)), "-", "signed"]);
    // Another moment in each round: during the first writes, in the middle of a burst, and between two of them.
    await child.until((lines) => lines.length > 1 + ((round * 37) % 500));
    await delay((round * 7) % 23);
    child.process.kill("SIGKILL");
    assert.equal(await child.ended, "SIGKILL");
    assert.equal(child.lines()[0], "writer 001");
    for (const callId of child.lines().slice(1)) made.add(callId);
  }
  // The writer number was free after each kill, and the sequence continued; a fast machine fills more than one segment.
  assert.deepEqual(
    segmentNames(home).filter((name) => !name.startsWith("001-")),
    [],
  );
  const records = recordsOf(home);
  assert.deepEqual(
    records.filter(({ sequence }, index) => Number(sequence) !== index + 1),
    [],
  );
  const intents = new Set<string>();
  for (const record of records) {
    const [callId = ""] = callIdsOf([record]);
    if (record.type === "call.intent") intents.add(callId);
    else if (record.type === "call.completed") assert.ok(intents.has(callId), `no intent of ${callId}`);
  }
  assert.deepEqual(
    [...made].filter((callId) => !intents.has(callId)),
    [],
  );
  await using reader = await openAuditReader({ home });
  assert.equal((await reader.list({ limit: 1 }))[0]?.sequence, String(records.length).padStart(16, "0"));
  assert.deepEqual(
    (await reader.problems()).filter(({ kind }) => kind === "gap"),
    [],
  );
  const { writers, findings } = await verifyTrail(home);
  assert.deepEqual([findings, writers[0]?.records], [[], records.length]);
});

test("the other moments of a kill", leftOut(roundStep), () => assert(runsAll));

test("a torn last line is reported and skipped, and the next record starts a new line", async (t) => {
  const home = newHome(t);
  const path = join(home, "audit", "001-00000001.jsonl");
  {
    await using store = await openStore({ home }, { now: tickingClock() });
    await Promise.all([1, 2, 3].map((n) => store.audit.intent(intentOf(`c${n}`))));
  }
  const whole = readFileSync(path);
  const thirdAt = whole.lastIndexOf("\n", whole.length - 2) + 1;
  truncateSync(path, thirdAt + 100);
  {
    await using reader = await openAuditReader({ home });
    assert.deepEqual(await reader.problems(), [
      { kind: "unfinished", segment: "001-00000001.jsonl", position: thirdAt, bytes: 100 },
    ]);
    assert.deepEqual(callIdsOf(await reader.list()), ["c2", "c1"]);
  }
  const problems: string[] = [];
  {
    await using store = await openStore(
      { home },
      { now: tickingClock(), onProblem: ({ code }) => problems.push(code) },
    );
    await store.audit.intent(intentOf("c4"));
    assert.deepEqual(await store.audit.problems(), [
      { kind: "unreadable", segment: "001-00000001.jsonl", position: thirdAt, bytes: 100 },
    ]);
  }
  assert.deepEqual(problems, ["AUDIT_SEGMENT_DAMAGED"]);
  const lines = readFileSync(path, "utf8").split("\n");
  assert.equal(lines.length, 6);
  assert.throws(() => JSON.parse(lines[2]!), SyntaxError);
  const records = recordsOf(home);
  assert.deepEqual(
    records.map(({ type, sequence }) => [type, Number(sequence)]),
    [
      ["call.intent", 1],
      ["call.intent", 2],
      ["audit.recovered", 3],
      ["call.intent", 4],
    ],
  );
  assert.deepEqual(records[2]?.data, {
    segment: "001-00000001.jsonl",
    reason: "torn",
    position: thirdAt,
    bytes: 100,
  });
  // The trail is not signed, which is all that there is to find.
  assert.deepEqual(
    (await verifyTrail(home)).findings.map(({ kind }) => kind),
    ["key"],
  );
});

test("a last record that lacks only its line feed is kept", async (t) => {
  const home = newHome(t);
  const path = join(home, "audit", "001-00000001.jsonl");
  {
    await using store = await openStore({ home }, { now: tickingClock() });
    await Promise.all([1, 2].map((n) => store.audit.intent(intentOf(`c${n}`))));
  }
  truncateSync(path, readFileSync(path).length - 1);
  await using store = await openStore({ home }, { now: tickingClock() });
  await store.audit.intent(intentOf("c3"));
  assert.deepEqual(callIdsOf(recordsOf(home)), ["c1", "c2", "c3"]);
  assert.deepEqual(await store.audit.problems(), []);
  assert.equal((await store.audit.list()).length, 3);
  // The trail is not signed, which is all that there is to find.
  assert.deepEqual(
    (await verifyTrail(home)).findings.map(({ kind }) => kind),
    ["key"],
  );
});

for (const [title, content] of [
  ["is empty", ""],
  ["holds nothing but an unfinished line", '{"specversion":"1.0","id":"x'],
  ["holds nothing but noise", `${"\u0000".repeat(70_000)}\nnoise\n[]\n{}\n`],
] as const) {
  test(`a writer continues when its newest segment ${title}`, async (t) => {
    const home = newHome(t);
    {
      await using store = await openStore({ home }, { now: tickingClock() });
      await store.audit.intent(intentOf("c1"));
    }
    writeFileSync(join(home, "audit", "001-00000002.jsonl"), content);
    await using store = await openStore({ home }, { now: tickingClock() });
    await store.audit.intent(intentOf("c2"));
    assert.equal(store.audit.stats().segment, "001-00000002.jsonl");
    assert.deepEqual(callIdsOf(await store.audit.list()), ["c2", "c1"]);
    const sequences = recordsOf(home)
      .filter(({ specversion }) => specversion === "1.0")
      .map(({ sequence }) => Number(sequence));
    assert.deepEqual(
      sequences,
      sequences.map((_, index) => index + 1),
    );
  });
}

test("edited, removed and inserted lines are found", async (t) => {
  const home = newHome(t);
  const path = join(home, "audit", "001-00000001.jsonl");
  {
    await using store = await openStore({ home }, { now: tickingClock() });
    await Promise.all([1, 2, 3, 4, 5].map((n) => store.audit.intent(intentOf(`c${n}`))));
  }
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  writeFileSync(path, `${[lines[0], lines[2], "{}", lines[3], lines[3], lines[4]].join("\n")}\n`);
  appendFileSync(path, "not json\n");
  await using reader = await openAuditReader({ home });
  assert.deepEqual(
    (await reader.problems()).map(({ kind }) => kind),
    ["gap", "unreadable", "gap", "unreadable"],
  );
  assert.deepEqual(callIdsOf(await reader.list()), ["c5", "c4", "c3", "c1"]);
});
