/** `npm run verify` runs every file that `npm test` leaves out, and every one that it samples. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { longTests } from "../long-tests.ts";
import { listVerifiedTests } from "../verified-tests.ts";

const root = join(import.meta.dirname, "../..");
const verified = listVerifiedTests(root);

test("each long file exists, is named once, and is verified", () => {
  for (const path of longTests) {
    assert.ok(existsSync(join(root, path)), `${path} does not exist`);
    assert.ok(verified.includes(path), `npm run verify does not run ${path}`);
  }
  assert.equal(new Set(longTests).size, longTests.length);
});

test("a file that runs some of its pages is verified, too", () => {
  const path = "packages/cli/test/e2e/guide-tasks.process.test.ts";
  assert.match(readFileSync(join(root, path), "utf8"), /testGuides\("tasks", \{ step/);
  assert.ok(verified.includes(path), `npm run verify does not run ${path}`);
});
