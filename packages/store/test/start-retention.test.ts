/** Starts while retention of another process deletes segments of the same writer. */

import assert from "node:assert/strict";
import fs, { cpSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openStore, verifyTrail } from "@toolcrib/store";
import { intentOf, newHome, recordsOf, segmentNames, tickingClock } from "./sample-events.ts";

const audit = { segmentMaxBytes: 2000, retainMaxBytes: 1_000_000 };

/** Opens a store whose problems fail the test. */
function open(home: string, retainMaxBytes = audit.retainMaxBytes) {
  const deps = {
    now: tickingClock(),
    randomBytes,
    onProblem: (problem: unknown) => assert.fail(`${problem}`),
  };
  return openStore({ home, audit: { ...audit, retainMaxBytes } }, deps);
}

const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));

/**
 * Returns copies of a home in which writer 1 was killed after records in several segments: before and after another process
 * deleted most of them.
 */
async function killedHomes(t: TestContext) {
  const home = newHome(t);
  const [before, after] = [`${home}-before`, `${home}-after`];
  await using killed = await open(home);
  for (let at = 0; at < 30; at += 1) await killed.audit.intent(intentOf(`c${at}`));
  cpSync(home, before, { recursive: true });
  {
    await using other = await open(home, 5000);
    await other.audit.intent(intentOf("other"));
    await other.audit.flush();
  }
  cpSync(home, after, { recursive: true });
  return { home: `${home}-run`, before, after };
}

/** Calls `change` after the listing `at` of the folder of segments, from 1. Returns the number of listings. */
async function afterListing(
  t: TestContext,
  { directory, at }: { readonly directory: string; readonly at: number },
  change: () => void,
  run: () => Promise<void>,
): Promise<number> {
  let count = 0;
  const list = readdirSync;
  const listing = t.mock.method(fs, "readdirSync", (path: string) => {
    const names = list(path);
    if (path === directory) {
      count += 1;
      if (count === at) change();
    }
    return names;
  });
  syncBuiltinESMExports();
  try {
    await run();
  } finally {
    listing.mock.restore();
    syncBuiltinESMExports();
  }
  return count;
}

test("a start goes on where retention of another process deletes segments that it has listed", async (t) => {
  const { home, before, after } = await killedHomes(t);
  const kept = segmentNames(after);
  const deleted = segmentNames(before).filter((name) => !kept.includes(name));
  assert.ok(deleted.length > 3 && kept.some((name) => name.startsWith("001")), `${deleted} of ${kept}`);
  for (let at = 1, count = 1; at <= count; at += 1) {
    cpSync(before, home, { recursive: true });
    const prune = () => {
      // What retention signs comes first, then it deletes.
      cpSync(join(after, "audit-heads", "001.pruned.json"), join(home, "audit-heads", "001.pruned.json"));
      for (const name of deleted) rmSync(join(home, "audit", name));
    };
    count = await afterListing(t, { directory: join(home, "audit"), at }, prune, async () => {
      await using store = await open(home);
      await store.audit.intent(intentOf("next"));
    });
    assert.ok(count > 3, `${count} listings`);
    const types = recordsOf(home).map(({ type }) => type);
    assert.ok(!types.includes("audit.damaged"), `listing ${at}`);
    assert.deepEqual((await verifyTrail(home)).findings, [], `listing ${at}`);
    rmSync(home, { recursive: true });
  }
});

test("retention keeps the last records of a writer whose newest segment has none", async (t) => {
  const { home, before } = await killedHomes(t);
  cpSync(before, home, { recursive: true });
  const last = segmentNames(home).at(-1) as string;
  const sequence = recordsOf(home).at(-1)?.sequence;
  // A process was killed after it created the next segment, and before it wrote a record.
  const next = `001-${String(Number(last.slice(4, 12)) + 1).padStart(8, "0")}.jsonl`;
  writeFileSync(join(home, "audit", next), "");
  {
    // It holds the number of the writer and writes nothing.
    await using _first = await open(home);
    await using other = await open(home, 1);
    await other.audit.intent(intentOf("other"));
  }
  assert.ok(segmentNames(home).includes(last), `${segmentNames(home)}`);
  {
    await using store = await open(home);
    await store.audit.intent(intentOf("next"));
  }
  const after = recordsOf(home).filter(({ writer }) => writer === "001");
  assert.ok(after.some((one) => one.sequence === sequence));
  assert.ok(Number(after.at(-1)?.sequence) > Number(sequence));
  assert.deepEqual((await verifyTrail(home)).findings, []);
});
