/** Ranks and regressions of tools, from the history of their tests. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { findRegressions, rankTools } from "@toolcrib/dise";

type Run = Parameters<typeof findRegressions>[0][number];

/** Numbers from 0 to 1, the same in every run. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Runs of three tests whose latencies vary as on a busy machine: around 80 ms, and one in 20 is up to 20 times as long. */
function noisyRuns(count: number, seed: number): Run[] {
  const random = seededRandom(seed);
  const latency = () => 80 * (0.7 + 0.8 * random()) * (random() < 0.05 ? 1 + 19 * random() : 1);
  return Array.from({ length: count }, () => ({
    version: "1.0.0",
    tests: ["a", "b", "c"].map((name) => ({
      path: `tests/${name}.test.json`,
      outcome: "passed" as const,
      latencyMs: latency(),
      shape: "sha256:1",
    })),
  }));
}

function changed(run: Run, change: Partial<Run["tests"][number]>): Run {
  return { ...run, tests: run.tests.map((one, at) => (at === 1 ? { ...one, ...change } : one)) };
}

const kindsOf = (runs: readonly Run[]) =>
  findRegressions(runs).map(({ test: path, kind }) => `${path} ${kind}`);

test("findRegressions() reports nothing in 100 unchanged noisy runs", () => {
  const runs = noisyRuns(100, 11);
  for (let count = 1; count <= runs.length; count += 1) assert.deepEqual(kindsOf(runs.slice(0, count)), []);
});

test("findRegressions() finds a change of each kind", () => {
  const runs = noisyRuns(30, 12);
  const last = runs.at(-1) as Run;
  const check = (change: Partial<Run["tests"][number]>, expected: readonly string[], times = 1) =>
    assert.deepEqual(
      kindsOf([...runs, ...Array.from({ length: times }, () => changed(last, change))]),
      expected,
    );
  check({ outcome: "failed", failures: ["$.a is 1"] }, ["tests/b.test.json outcome"]);
  check({ outcome: "error" }, ["tests/b.test.json outcome"]);
  check({ outcome: "failed" }, [], 2);
  check({ shape: "sha256:2" }, ["tests/b.test.json shape"]);
  // Slow runs can be the machine, up to two in a row.
  check({ latencyMs: 1200 }, [], 2);
  check({ latencyMs: 1200 }, ["tests/b.test.json latency"], 3);
  check({ latencyMs: 100 }, [], 3);
  assert.deepEqual(kindsOf([]), []);
});

test("rankTools() ranks by passed tests, stability, latency and fit, and shows the parts", () => {
  const runs = (latencyMs: number, failures = 0): Run[] =>
    noisyRuns(20, 13).map((run, at) => ({
      ...run,
      tests: run.tests.map((one) => ({ ...one, latencyMs, outcome: at < failures ? "failed" : "passed" })),
    }));
  const ranks = rankTools([
    { toolId: "a.failing", runs: runs(10, 12), fit: 1 },
    { toolId: "a.slow", runs: runs(200), fit: 1 },
    { toolId: "a.fast", runs: runs(20), fit: 1 },
    { toolId: "a.untested", runs: [], fit: 1 },
    { toolId: "a.elsewhere", runs: runs(1), fit: 0 },
  ]);
  assert.deepEqual(
    ranks.map(({ toolId }) => toolId),
    ["a.fast", "a.slow", "a.untested", "a.failing", "a.elsewhere"],
  );
  assert.equal(ranks[0]?.latencyMs, 20);
  assert.ok((ranks[0]?.parts.passRate ?? 0) > 0.9 && ranks[0]?.parts.stability === 1);
  assert.equal(ranks[2]?.parts.passRate, undefined);
  assert.equal(ranks.at(-1)?.score, 0);
});
