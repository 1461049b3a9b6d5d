/** V8 optimizes the code of a gateway from the first call on: its start and its lists run without its compilers. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeTemporaryDirectory, runProcess, waitUntil } from "@toolcrib/testing";
import { startOwnGateway } from "./own-gateway.ts";
import { cleanEnvironment } from "./transcript.ts";

const launcher = join(import.meta.dirname, "../bin/toolcrib.js");

/** Returns how many functions were optimized, by what V8 printed. */
function optimizedIn(output: string): number {
  return output.match(/^\[completed (?:compiling|optimizing) /gm)?.length ?? 0;
}

test("a gateway is optimized with its first call, not before", async () => {
  await using directory = await makeTemporaryDirectory();
  await using gateway = await startOwnGateway(["--trace-opt", launcher], directory);
  const { client } = gateway;
  const before = optimizedIn(gateway.process.stdout());
  for (let turn = 0; turn < 300; turn += 1) await client.listTools();
  assert.equal(optimizedIn(gateway.process.stdout()), before);
  await waitUntil(async () => {
    for (let turn = 0; turn < 200; turn += 1)
      await client.callTool({ name: "s__echo", arguments: { text: "hello" } });
    return optimizedIn(gateway.process.stdout()) > before;
  });
});

test("a user's choice of compilers stays", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("serve"), "print(1 + 1)\n");
  for (const flag of ["--jitless", "--no-opt"]) {
    const args = [flag, launcher, "starlark", "run", "serve"];
    const outcome = await runProcess(process.execPath, args, {
      cwd: directory.path,
      env: cleanEnvironment(directory.path),
    });
    assert.deepEqual([outcome.code, outcome.stdout], [0, "2\n"], `${flag}: ${outcome.stderr}`);
  }
});

test("other commands are optimized, also with a word that is the name of serve", async () => {
  await using directory = await makeTemporaryDirectory();
  const program = directory.join("serve");
  writeFileSync(
    program,
    "def run():\n    n = 0\n    for i in range(3000000):\n        n += i % 7\n    return n\n\nprint(run())\n",
  );
  const args = ["--trace-opt", launcher, "starlark", "run", "serve"];
  const { stdout, stderr } = await runProcess(process.execPath, args, {
    cwd: directory.path,
    env: cleanEnvironment(directory.path),
  });
  assert.ok(optimizedIn(stdout) > 0, stderr);
});
