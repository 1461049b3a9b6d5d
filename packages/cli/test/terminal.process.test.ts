/** The terminal of the tests: nothing that runs on it is left when a test fails. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isProcessAlive, makeTemporaryDirectory } from "@toolcrib/testing";
import { skipWithoutTerminal, Terminal } from "./terminal.ts";

test("a test that fails leaves neither script nor a program of the terminal behind", {
  skip: skipWithoutTerminal,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const pids: number[] = [];
  const fail = async () => {
    // A job of its own, and one that the end of the terminal does not end.
    const line = `set -m; sleep 300 & (trap '' HUP; sleep 300 & echo "pids $! $$ end"; wait) & wait`;
    await using terminal = new Terminal(line, { directory: directory.path });
    await terminal.untilShown(/pids .* end/);
    pids.push(terminal.pid ?? 0, ...(terminal.text.match(/\d+/g) ?? []).map(Number));
    assert.equal(pids.length, 3);
    assert.deepEqual(pids.map(isProcessAlive), [true, true, true]);
    await terminal.untilShown(/^never$/, 0, 100);
  };
  await assert.rejects(fail, /Not true within 100 ms .*\^never\$/);
  assert.deepEqual(pids.map(isProcessAlive), [false, false, false]);
});
