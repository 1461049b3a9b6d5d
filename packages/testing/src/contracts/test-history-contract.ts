/** Contract tests of `TestHistory`, for every engine. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TestHistory, TestRun } from "@toolcrib/store";
import { makeTemporaryDirectory } from "../temporary-directory.ts";

function runOf(at: string, changes: Partial<TestRun> = {}): TestRun {
  return {
    toolId: "demo.echo",
    version: "0.1.0",
    digest: "sha256:1",
    at,
    by: "command",
    durationMs: 12,
    tests: [{ path: "tests/a.test.json", outcome: "passed", latencyMs: 1.5, shape: "sha256:s" }],
    ...changes,
  };
}

/**
 * Defines the tests.
 *
 * @param open opens the history of `home`; several open ones of one home share their runs.
 */
export function testTestHistory(engine: string, open: (home: string) => TestHistory): void {
  const withHistory = async (run: (history: TestHistory, home: string) => Promise<void>) => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    await run(open(home), home);
  };

  describe(`TestHistory: ${engine}`, () => {
    test("gives the right to run scheduled tests to one at a time", () =>
      withHistory(async (history, home) => {
        {
          using right = await history.takeSchedule();
          assert.ok(right !== undefined);
          assert.equal(await open(home).takeSchedule(), undefined);
        }
        using again = await open(home).takeSchedule();
        assert.ok(again !== undefined);
      }));

    test("list() returns the runs of a package, the oldest first, also those that another process added", () =>
      withHistory(async (history, home) => {
        assert.deepEqual(await history.list("demo.echo"), []);
        const other = open(home);
        await history.add(runOf("2026-01-01T00:00:00.000Z"));
        await other.add(runOf("2026-01-02T00:00:00.000Z", { by: "schedule" }));
        await Promise.all([
          history.add(runOf("2026-01-03T00:00:00.000Z")),
          other.add(runOf("2026-01-03T00:00:00.000Z", { toolId: "demo.other" })),
        ]);
        const runs = await open(home).list("demo.echo");
        assert.deepEqual(runs[0], runOf("2026-01-01T00:00:00.000Z"));
        assert.deepEqual(
          runs.map(({ at, by }) => `${at.slice(0, 10)} ${by}`),
          ["2026-01-01 command", "2026-01-02 schedule", "2026-01-03 command"],
        );
        assert.equal((await history.list("demo.other")).length, 1);
      }));

    test("add() keeps the last 50 runs, and a few lines of each failure", () =>
      withHistory(async (history, home) => {
        const failures = Array.from({ length: 10 }, () => "x".repeat(5000));
        for (let index = 0; index < 53; index += 1) {
          const at = new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString();
          await history.add(
            runOf(at, { tests: [{ path: "t", outcome: "failed", latencyMs: index, failures }] }),
          );
        }
        const runs = await open(home).list("demo.echo");
        assert.equal(runs.length, 50);
        assert.deepEqual(
          [runs[0], runs.at(-1)].map((run) => run?.tests[0]?.latencyMs),
          [3, 52],
        );
        const stored = runs[0]?.tests[0]?.failures ?? [];
        assert.equal(stored.length, 3);
        assert.equal(stored[0]?.length, 1000);
      }));

    test("a hold lasts until it is released", () =>
      withHistory(async (history, home) => {
        const hold = {
          toolId: "demo.echo",
          digest: "sha256:1",
          reason: "changed",
          since: "2026-01-01T00:00:00.000Z",
        };
        assert.equal((await history.holds()).size, 0);
        await history.hold(hold);
        await history.hold({ ...hold, reason: "changed again" });
        assert.deepEqual([...(await open(home).holds()).values()], [{ ...hold, reason: "changed again" }]);
        assert.equal(await open(home).release("demo.echo"), true);
        assert.equal(await history.release("demo.echo"), false);
        assert.equal((await history.holds()).size, 0);
      }));

    test("names that are no toolIds are refused", () =>
      withHistory(async (history) => {
        for (const toolId of ["", "holds", "../x.y", "a/b.c", "A.b", `${"a".repeat(200)}.b`]) {
          await assert.rejects(history.list(toolId), { code: "STORE_RECORD_TOO_LARGE" });
          await assert.rejects(history.add(runOf("2026-01-01T00:00:00.000Z", { toolId })), {
            code: "STORE_RECORD_TOO_LARGE",
          });
        }
      }));
  });
}
