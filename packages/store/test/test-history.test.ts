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
