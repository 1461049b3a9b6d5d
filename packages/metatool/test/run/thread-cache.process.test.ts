/** The thread that executes composites compiles its modules once for all processes of a user. */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeTemporaryDirectory, runProcess } from "@toolcrib/testing";

const script = join(import.meta.dirname, "thread-run.ts");

/** Runs the script with a compile cache in `folder`, and returns the names of the files of the cache. */
async function run(folder: string, ...args: readonly string[]): Promise<readonly string[]> {
  const conditions = process.execArgv.filter((one) => one.startsWith("--conditions="));
  const { code, stdout, stderr } = await runProcess(process.execPath, [...conditions, script, ...args], {
    env: { NODE_COMPILE_CACHE: folder },
  });
  assert.deepEqual([code, stdout], [0, args.includes("program") ? "2" : ""], stderr);
  // One folder, for this version of Node.
  const [version = "", ...others] = readdirSync(folder);
  assert.deepEqual(others, []);
  const entries = readdirSync(join(folder, version), { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  assert.deepEqual(folders, [], "no cache within the cache");
  return entries.map(({ name }) => name).sort();
}

test("the modules of a thread are in the compile cache of its process", async () => {
  await using directory = await makeTemporaryDirectory();
  const without = await run(directory.path);
  const first = await run(directory.path, "program");
  assert.ok(first.length > without.length, `${first.length} files after ${without.length}`);
  assert.deepEqual(await run(directory.path, "program"), first);
});
