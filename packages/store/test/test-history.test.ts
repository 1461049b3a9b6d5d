/** The file engine of `TestHistory`. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { createTestHistory } from "@toolcrib/store";
import { makeTemporaryDirectory, testTestHistory } from "@toolcrib/testing";

testTestHistory("files of a home", (home) => createTestHistory(home, { randomBytes }));

test("a damaged history is never replaced, and damaged holds never count as none", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const history = createTestHistory(home, { randomBytes });
  mkdirSync(directory.join("home/test-history"), { recursive: true });
  for (const name of ["demo.echo.json", "holds.json"]) {
    writeFileSync(directory.join(`home/test-history/${name}`), '{"format":1,"records":[{"toolId":1}]}');
  }
  const run = {
    toolId: "demo.echo",
    version: "0.1.0",
    digest: "sha256:1",
    at: "2026-01-01T00:00:00.000Z",
    by: "command",
    durationMs: 1,
    tests: [],
  } as const;
  await assert.rejects(history.add(run), { code: "STORE_UNREADABLE" });
  await assert.rejects(history.holds(), { code: "STORE_UNREADABLE" });
  assert.match(readFileSync(directory.join("home/test-history/demo.echo.json"), "utf8"), /"toolId":1/);
});

test("the last result of a scheduled test is kept beyond the limit of runs", async () => {
  await using directory = await makeTemporaryDirectory();
  const history = createTestHistory(directory.join("home"), { randomBytes });
  const run = (at: number, by: "command" | "schedule", outcome: "passed" | "error") => ({
    toolId: "demo.echo",
    version: "0.1.0",
    digest: "sha256:1",
    at: new Date(at * 1000).toISOString(),
    by,
    durationMs: 1,
    tests: [{ path: "tests/a.test.json", outcome, latencyMs: 1 }],
  });
  await history.add(run(0, "schedule", "passed"));
  await history.add(run(1, "schedule", "passed"));
  for (let at = 2; at < 40; at += 1) await history.add(run(at, "schedule", "error"));
  for (let at = 40; at < 70; at += 1) await history.add(run(at, "command", "passed"));
  const runs = await history.list("demo.echo");
  assert.equal(runs.length, 50);
  assert.deepEqual(
    runs.filter(({ tests }) => tests[0]?.outcome === "passed").map(({ by }) => by)[0],
    "schedule",
  );
  assert.equal(runs[0]?.at, new Date(1000).toISOString());
});
