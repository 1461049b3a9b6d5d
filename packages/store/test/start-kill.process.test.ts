/** A process that is killed at any step, also of its start, leaves a trail in which there is nothing to find. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { cpSync } from "node:fs";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { openStore, verifyTrail } from "@toolcrib/store";
import { leftOut, makeTemporaryDirectory, runProcess, runsAll, sampled } from "@toolcrib/testing";

const child = fileURLToPath(new URL("./start-kill-child.ts", import.meta.url));
const conditions = process.execArgv.filter((argument) => argument.startsWith("--conditions"));
/** Children at a time. */
const width = 3;
/** A quick run tests one of this many points. */
const sampleStep = 24;
let points = 0;

type When = "before" | "half" | "after";

function run(home: string, step: number, when: When, what: string) {
  return runProcess(process.execPath, [...conditions, child, home, String(step), when, what]);
}

async function assertNothingFound(home: string, place: string): Promise<void> {
  const { findings } = await verifyTrail(home);
  assert.deepEqual(
    findings.map(({ message }) => message),
    [],
    place,
  );
}

/** Starts a writer that finds nothing wrong, and records something. */
async function startAgain(home: string, place: string): Promise<void> {
  await using store = await openStore(
    { home },
    {
      now: Date.now,
      randomBytes,
      onProblem: ({ code, message }) => assert.equal(code, "AUDIT_SEGMENT_DAMAGED", `${place}: ${message}`),
    },
  );
  await store.audit.flush();
  await assertNothingFound(home, `${place}, while the next one runs`);
  store.audit.record("server.stopped", { server: "again", reason: "stopped" });
}

interface Scenario {
  readonly what: string;
  /** Brings a home into the state in which the killed process starts. */
  readonly prepare: (home: string) => Promise<void>;
}

/** Leaves records without a signature, and an unfinished line. */
async function killWhileRunning(home: string): Promise<void> {
  await run(home, -1, "before", "run");
  // The steps of a start in a home that exists.
  const { stdout } = await run(home, -1, "before", "run");
  const lastWrite = (JSON.parse(stdout) as string[]).lastIndexOf("writeSync");
  const { signal, stderr } = await run(home, lastWrite, "half", "run");
  assert.equal(signal, "SIGKILL", stderr);
  assert.equal((await verifyTrail(home)).unfinished.length, 1);
}

const scenarios: { readonly [title: string]: Scenario } = {
  "in a new home": { what: "run", prepare: async () => undefined },
  "after a process that was killed in the middle of a write": { what: "run", prepare: killWhileRunning },
  "after a shutdown": {
    what: "run",
    prepare: async (home) => {
      await run(home, -1, "before", "run");
    },
  },
  "while it starts segments and deletes old ones": {
    what: "rotate",
    prepare: async (home) => {
      await run(home, -1, "before", "rotate");
    },
  },
};

describe("a process that is killed leaves nothing to find", () => {
  for (const [title, { what, prepare }] of Object.entries(scenarios))
    test(title, async () => {
      await using directory = await makeTemporaryDirectory();
      const prepared = directory.join("prepared");
      await prepare(prepared);
      const copyOf = (name: string): string => {
        const home = directory.join(name);
        if (title !== "in a new home") cpSync(prepared, home, { recursive: true });
        return home;
      };
      const { stdout, stderr } = await run(copyOf("whole"), -1, "before", what);
      const steps = JSON.parse(stdout || `"${stderr}"`) as string[];
      // After a step is before the next one.
      const all = steps.flatMap((name, index) =>
        (["before", ...(name === "writeSync" ? ["half"] : [])] as When[]).map(
          (when) => [index, when] as const,
        ),
      );
      const queue = [...sampled(all, sampleStep)].values();
      await Promise.all(
        Array.from({ length: width }, async () => {
          for (const [index, when] of queue) {
            const place = `${title}, ${when} step ${index} (${steps[index]})`;
            const home = copyOf(`${index}-${when}`);
            const { signal, stderr: reason } = await run(home, index, when, what);
            // The steps after the start differ with the times of the disk.
            if (signal === "SIGKILL") points += 1;
            else assert.equal(reason, "", place);
            await assertNothingFound(home, place);
            await startAgain(home, place);
            await assertNothingFound(home, `${place}, after the next one`);
          }
        }),
      );
    });

  for (const isNew of [true, false])
    test(`several times, in the middle of the first write of ${isNew ? "a new" : "an existing"} home`, async () => {
      await using directory = await makeTemporaryDirectory();
      const home = directory.join("home");
      if (!isNew) await killWhileRunning(home);
      for (let round = 1; round <= 3; round += 1) {
        const copy = directory.join(`copy${round}`);
        if (!isNew || round > 1) cpSync(home, copy, { recursive: true });
        const { stdout } = await run(copy, -1, "before", "run");
        const firstWrite = (JSON.parse(stdout) as string[]).indexOf("writeSync");
        const { signal, stderr } = await run(home, firstWrite, "half", "run");
        assert.equal(signal, "SIGKILL", stderr);
        await assertNothingFound(home, `round ${round}`);
      }
      assert.equal((await verifyTrail(home)).unfinished.length > 0, true);
      await startAgain(home, "after three kills");
      await assertNothingFound(home, "after three kills and a start");
    });

  test("again and again, at random steps, while another process writes", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    await using other = await openStore({ home }, { now: Date.now, randomBytes });
    for (let round = 0; round < 30; round += 1) {
      const step = (round * 37 + 11) % 60;
      const when = (["before", "half", "after"] as const)[round % 3] as When;
      await run(home, step, when, round % 5 === 0 ? "rotate" : "run");
      other.audit.record("server.stopped", { server: `o${round}`, reason: "stopped" });
      if (round % 3 === 0) await assertNothingFound(home, `round ${round}, ${when} step ${step}`);
    }
    await startAgain(home, "after all rounds");
    await assertNothingFound(home, "after all rounds");
  });

  // A decrease of the number of points means that points are no longer tested.
  after(() => assert(points >= (runsAll ? 120 : 120 / sampleStep), `only ${points} kill points`));

  test("and at the other points", leftOut(sampleStep), () => assert(runsAll));
});
