/** Progress of what takes longer than a second: on a terminal only, and gone at the end. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory, type TemporaryDirectory } from "@toolcrib/testing";
import { onTerminal, skipWithoutTerminal } from "./terminal.ts";
import { echoServer, runToolcribProcess } from "./transcript.ts";

/** A server that starts slowly, with a name that would control a terminal if it were printed as it is. */
function writeConfig(directory: TemporaryDirectory): void {
  const servers = [echoServer("late", "--builtin", "echo", "--start-delay", "2500")];
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ tool_servers: servers }));
}

const spinner = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/;

test("the first start of a server shows progress on a terminal, which is removed", {
  skip: skipWithoutTerminal,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  writeConfig(directory);
  const text = await onTerminal(["call", "late__echo", "--arg", "text=hello"], { directory: directory.path });
  assert.match(text, /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] Starting late \(\d s\)/);
  // The last line of progress is erased before the result.
  assert.match(text, /\r\u001b\[Khello\r\n$/);
});

test("doctor shows on a terminal which server it waits for", { skip: skipWithoutTerminal }, async () => {
  await using directory = await makeTemporaryDirectory();
  writeConfig(directory);
  const text = await onTerminal(["doctor"], { directory: directory.path, env: { NO_COLOR: "1" } });
  assert.match(text, /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] Waiting for late \(\d s\)/);
  // The last line of progress is erased before the finding.
  assert.match(text, /\r\u001b\[K[✓!] server late: responds/);
});

test("a pipe and a dumb terminal get no progress", async () => {
  await using directory = await makeTemporaryDirectory();
  writeConfig(directory);
  const args = ["call", "late__echo", "--arg", "text=hello"];
  const piped = runToolcribProcess(args, { directory: directory.path });
  const dumb =
    skipWithoutTerminal === false
      ? await onTerminal(args, { directory: directory.path, env: { TERM: "dumb" } })
      : "hello\r\n";
  const { code, stdout, stderr } = await piped;
  assert.deepEqual([code, stdout, stderr], [0, "hello\n", ""]);
  assert.doesNotMatch(dumb, spinner);
  assert.match(dumb, /hello\r\n$/);
});
