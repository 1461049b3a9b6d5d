/**
 * Whatever the clock does, what a writer leaves when it is killed is no finding: it signs before it writes more than a
 * verification accepts. A copy of the home at some moment is what a kill at that moment leaves.
 */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { cpSync } from "node:fs";
import { test } from "node:test";
import { openStore, verifyTrail } from "@toolcrib/store";
import { makeTemporaryDirectory, slowTest } from "@toolcrib/testing";

const hourMs = 60 * 60 * 1000;
const start = Date.UTC(2026, 5, 1);

/** Times of 60 records, in milliseconds after the first one. */
const clocks: { readonly [what: string]: (at: number) => number } = {
  "a machine that sleeps an hour between two records": (at) => at * hourMs,
  "a clock that jumps back and forth by a day": (at) => (at % 2) * 24 * hourMs + at * 1000,
  "a clock that goes back": (at) => -at * hourMs,
  "records every nine seconds": (at) => at * 9000,
  "a clock that stands still": () => 0,
};

for (const [number, [what, offsetOf]] of Object.entries(clocks).entries())
  test(`a kill leaves nothing to find with ${what}`, number === 0 ? {} : slowTest, async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    let at = 0;
    const now = () => start + offsetOf(at);
    await using store = await openStore({ home }, { now, randomBytes });
    for (; at < 60; at += 1) {
      store.audit.record("server.stopped", { server: `s${at}`, reason: "stopped" });
      await store.audit.flush();
      if (at % 10 !== 9) continue;
      const copy = directory.join(`copy${at}`);
      cpSync(home, copy, { recursive: true });
      assert.deepEqual((await verifyTrail(copy)).findings, [], `after record ${at}`);
      const problems: string[] = [];
      await using _next = await openStore(
        { home: copy },
        { now, randomBytes, onProblem: ({ code }) => problems.push(code) },
      );
      assert.deepEqual(problems, [], `after record ${at}`);
      assert.deepEqual((await verifyTrail(copy)).findings, []);
    }
  });

test("records of many hours that are written at once are signed in parts", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  let at = 0;
  await using store = await openStore({ home }, { now: () => start + at * hourMs, randomBytes });
  // All in one turn, so that they are written together.
  for (; at < 60; at += 1) store.audit.record("server.stopped", { server: `s${at}`, reason: "stopped" });
  await store.audit.flush();
  const copy = directory.join("copy");
  cpSync(home, copy, { recursive: true });
  const { findings, writers } = await verifyTrail(copy);
  assert.deepEqual(findings, []);
  assert.ok((writers[0]?.records ?? 0) > 60);
  assert.ok((writers[0]?.provedSequence ?? 0) > 40, "most of them are signed");
});
