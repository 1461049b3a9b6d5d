/** `verify-mutations.ts` tries the changes of the files that it is given. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "../..");

function run(...args: readonly string[]) {
  const script = ["--conditions=toolcrib-source", "scripts/verify-mutations.ts", ...args];
  return spawnSync(process.execPath, script, { cwd: root, encoding: "utf8" });
}

test("the changes of a file are tried, and what notices them is named", () => {
  const { status, stdout, stderr } = run("access-request.ts", "--verbose");
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /access-policy\.test\.ts failed: packages\/policy\/src\/access-request\.ts:\d+: /);
  assert.match(
    stdout,
    /\n(\d+) changes, \1 noticed, 0 failed, 0 exempted in \d+ s\n\1 passed, 0 failed, 0 skipped\n$/,
  );
});

test("a file that has no change is refused with those that have", () => {
  const { status, stderr } = run("access-request.ts", "access-request.ts:1", "no-such-file.ts");
  assert.equal(status, 2);
  assert.match(
    stderr,
    /^No condition in access-request\.ts:1, no-such-file\.ts; write FILE or FILE:LINE, .*cedar-policies\.ts/,
  );
});
