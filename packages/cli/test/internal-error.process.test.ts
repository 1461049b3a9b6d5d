/** Faults of Toolcrib: what a command reports about an error that it does not know. */

import assert from "node:assert/strict";
import { PassThrough, Writable } from "node:stream";
import { test } from "node:test";
import { main } from "@toolcrib/cli";
import { makeTemporaryDirectory } from "@toolcrib/testing";

/** Runs the command with a clock that fails, as no machine has. */
async function run(directory: string, ...args: readonly string[]) {
  const written = { stdout: "", stderr: "" };
  const streamTo = (name: keyof typeof written) =>
    new Writable({
      decodeStrings: false,
      write(chunk: string | Buffer, _encoding, done) {
        written[name] += chunk.toString();
        done();
      },
    });
  const code = await main({
    args,
    env: { HOME: directory, PATH: "/usr/bin:/bin" },
    directory,
    userDirectory: directory,
    platform: process.platform,
    stdin: new PassThrough().end(),
    stdout: streamTo("stdout"),
    stderr: streamTo("stderr"),
    now: () => {
      throw new RangeError("the clock has no time");
    },
    signal: new AbortController().signal,
    interceptSignals: () => ({ [Symbol.dispose]() {} }),
    outputClosed: new AbortController().signal,
  });
  return { code, ...written };
}

test("an error that nobody thought of is CLI_INTERNAL, and --debug shows where it comes from", async () => {
  await using directory = await makeTemporaryDirectory();
  const plain = await run(directory.path, "pause", "server", "notes");
  assert.equal(plain.code, 1);
  assert.match(
    plain.stderr,
    /^error CLI_INTERNAL: the clock has no time\nhint: this is a bug in Toolcrib; run the command with --debug and report its output\n/,
  );
  assert.doesNotMatch(plain.stderr, /internal-error\.process\.test/);
  const debugged = await run(directory.path, "pause", "server", "notes", "--debug");
  assert.match(
    debugged.stderr,
    /error CLI_INTERNAL: .*\n[\s\S]*RangeError: the clock has no time\n +at .*internal-error\.process\.test/,
  );
  const json = await run(directory.path, "pause", "server", "notes", "--json");
  assert.match(`${json.stdout}${json.stderr}`, /"code": ?"CLI_INTERNAL"/);
});
