/** `toolcrib audit find-value` shows where a value came from and went to. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { echoServer, runToolcrib } from "./transcript.ts";

test("audit find-value finds a value in arguments and results, in order, and takes it from standard input only", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const find = (stdin: string, ...more: readonly string[]) =>
    runToolcrib(["audit", "find-value", ...more], { ...setting, stdin });
  assert.match((await find("any value")).stderr, /This home has no fingerprints of values/);
  writeFileSync(
    directory.join("toolcrib.json"),
    JSON.stringify({ tool_servers: [echoServer("echo", "--builtin", "echo")] }),
  );
  for (const text of ["needle-123", "another", "line-456\n"])
    assert.equal((await runToolcrib(["call", "echo__echo", "--arg", `text=${text}`], setting)).code, 0);

  const { code, stdout } = await find("needle-123\n", "--json");
  assert.equal(code, 0);
  const found = JSON.parse(stdout) as readonly {
    readonly in: string;
    readonly tool: string;
    readonly places: string[];
  }[];
  assert.deepEqual(
    found.map((one) => [one.in, one.tool, one.places[0]]),
    [
      ["arguments", "echo:echo", "/text"],
      ["result", "echo:echo", "/content/0/text"],
    ],
  );
  const table = (await find("needle-123")).stdout;
  assert.match(table, /arguments +echo:echo +\S+ +\/text[\s\S]*result +echo:echo/);
  assert.doesNotMatch(table, /needle/);
  assert.equal((await find("needle-1234")).stdout, "No call contained it.\n");
  assert.equal((await find("needle-123", "--until", "1h")).stdout, "No call contained it.\n");
  const line = (stdin: string) =>
    find(stdin).then(({ stdout: shown }) => shown.match(/ echo:echo /g)?.length);
  // The value ends with a line break in the call; what is piped, with none, one or one more.
  assert.deepEqual([await line("line-456"), await line("line-456\n"), await line("line-456\n\n")], [2, 2, 2]);
  assert.match(
    (await find("needle-12")).stderr,
    /hint: values are compared whole, with spaces and line breaks; one line break at the end was tried with and without/,
  );
  assert.match((await find("abc")).stderr, /too short/);
  const refused = await find("", "needle-123");
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /not an argument/);
  assert.doesNotMatch(refused.stderr, /needle-123/);
});
