import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type AuditRecord, openAuditReader, openStore } from "@toolcrib/store";
import { waitUntil } from "@toolcrib/testing";
import { type ChildWriter, startChildWriter } from "./child-process.ts";
import { completionOf, intentOf, newHome, recordsOf } from "./sample-events.ts";

/** A process with `count` calls in flight, killed. */
async function killWithCallsInFlight(t: TestContext, home: string, count: number): Promise<ChildWriter> {
  const child = startChildWriter(t, [home, "in-flight", String(count)]);
  await child.until((lines) => lines.includes("all in flight"));
  child.process.kill("SIGKILL");
  assert.equal(await child.ended, "SIGKILL");
  return child;
}

function intentsOf(child: ChildWriter): readonly string[] {
  return child.lines().filter((line) => line.startsWith("p"));
}

function unknownIn(home: string): readonly AuditRecord<"call.completed">[] {
  return recordsOf(home)
    .filter((record) => record.type === "call.completed")
    .filter(({ data }) => data.outcome === "unknown");
}

/** Opens the store and waits until the records of killed runs are complete. */
async function openUntilComplete(home: string, expectedCount: number): Promise<void> {
  await using store = await openStore({ home }, { now: Date.now });
  await waitUntil(
    async () => {
      await store.audit.flush();
      // The marker of a killed run goes last. Reading thousands of records again and again would take most of this test.
      return markersOf(home).length <= 1 && unknownIn(home).length >= expectedCount;
    },
    { timeoutMs: 120_000 },
  );
}

function markersOf(home: string): readonly string[] {
  return readdirSync(join(home, "locks")).filter((name) => name.endsWith(".open"));
}

function idsOf(records: readonly AuditRecord<"call.completed">[]): readonly string[] {
  return records.map(({ data }) => data.callId).sort();
}

test("the next start completes the calls of a killed process as unknown, once", async (t) => {
  const home = newHome(t);
  const child = await killWithCallsInFlight(t, home, 2500);
  const inFlight = [...intentsOf(child)].sort();
  assert.equal(inFlight.length, 2500);
  await openUntilComplete(home, inFlight.length);
  await openUntilComplete(home, inFlight.length);
  assert.deepEqual(idsOf(unknownIn(home)), inFlight);
  assert.deepEqual(markersOf(home), []);
  const { durationMs: _durationMs, resultBytes: _resultBytes, ...subject } = completionOf(inFlight[0]!);
  assert.deepEqual(unknownIn(home).find(({ data }) => data.callId === inFlight[0])?.data, {
    ...subject,
    outcome: "unknown",
  });
  await using reader = await openAuditReader({ home });
  assert.equal((await reader.show(inFlight[0]!))?.completion?.data.outcome, "unknown");
});

test("calls that completed, calls of a running process and calls of its own stay as they are", async (t) => {
  const home = newHome(t);
  const alive = startChildWriter(t, [home, "in-flight", "3"]);
  await alive.until((lines) => lines.includes("all in flight"));
  const killed = await killWithCallsInFlight(t, home, 2);
  {
    await using store = await openStore({ home }, { now: Date.now });
    await store.audit.intent(intentOf("own"));
    await waitUntil(() => unknownIn(home).length >= 2);
    store.audit.record("call.completed", completionOf("own"));
  }
  assert.deepEqual(idsOf(unknownIn(home)), [...intentsOf(killed)].sort());
  // Writer 1 is still alive, and so is its marker.
  assert.deepEqual(markersOf(home), ["audit-writer-001-0000000000000000.open"]);
});

test("a process that is killed while it completes calls leaves the rest to the next one", async (t) => {
  const home = newHome(t);
  const inFlight: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    // Each child begins with the calls of the one before, and is killed at about that time.
    inFlight.push(...intentsOf(await killWithCallsInFlight(t, home, 1200)));
  }
  await openUntilComplete(home, inFlight.length);
  assert.deepEqual(idsOf(unknownIn(home)), inFlight.sort());
});

test("a process that ends with calls in flight leaves them to the next one only if it was killed", async (t) => {
  const home = newHome(t);
  {
    await using store = await openStore({ home }, { now: Date.now });
    await store.audit.intent(intentOf("a"));
    store.audit.record("call.completed", completionOf("a"));
    assert.equal(markersOf(home).length, 1);
  }
  assert.deepEqual(markersOf(home), []);
  await using _store = await openStore({ home }, { now: Date.now });
  assert.deepEqual(unknownIn(home), []);
});
