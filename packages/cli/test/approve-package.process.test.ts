/** `toolcrib approve` for installed packages whose definitions changed, with and without a running gateway. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { makeTemporaryDirectory, type TemporaryDirectory, waitUntil, writeFiles } from "@toolcrib/testing";
import { runToolcrib, startServe } from "./transcript.ts";

const program = `
process.stdin.setEncoding("utf8");
let text = "";
process.stdin.on("data", (part) => { text += part; });
process.stdin.on("end", () => process.stdout.write(JSON.stringify({ said: JSON.parse(text).message })));
`;

function writeSource(directory: TemporaryDirectory, version: string, description: string): void {
  const member = (name: string) => ({
    type: "object",
    properties: { [name]: { type: "string" } },
    required: [name],
  });
  writeFiles(directory.path, {
    "echo/manifest.json": JSON.stringify({
      toolId: "demo.echo",
      name: "Echo",
      version,
      description,
      capabilities: ["demo"],
      endpoint: { type: "local", command: "node ./echo.mjs", stdin: true },
      input_schema: member("message"),
      output_schema: member("said"),
    }),
    "echo/echo.mjs": program,
  });
}

async function setUp() {
  const directory = await makeTemporaryDirectory();
  writeFiles(directory.path, {
    "toolcrib.yaml": "sandbox: { mode: preferred }\nserve: { listen: '127.0.0.1:0' }\n",
  });
  const run = (...words: readonly string[]) => runToolcrib(words, { directory: directory.path });
  const done = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await run(...words);
    assert.equal(code, 0, `${words.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  };
  const call = () => run("call", "demo.echo", '{"message":"hi"}');
  return { directory, run, done, call };
}

test("a package whose description changed with an update is shown and approved without a gateway", async () => {
  const { directory, run, done, call } = await setUp();
  await using _directory = directory;
  writeSource(directory, "0.1.0", "Repeats a message.");
  await done("install", "./echo");
  const first = await call();
  assert.equal(first.code, 0, first.stderr);
  writeSource(directory, "0.2.0", "Repeats a message, twice.");
  await done("install", "./echo");
  const held = await call();
  assert.notEqual(held.code, 0);
  assert.match(held.stderr, /approve demo\.echo/);
  assert.match(await done("approve"), /^SERVER OR PACKAGE +NEW +CHANGED +OF WHAT\ndemo\.echo +0 +1 +tools\n/);
  const shown = await run("approve", "demo.echo");
  assert.equal(shown.code, 1);
  assert.match(shown.stdout, /- Repeats a message\.\n {4}\+ Repeats a message, twice\./);
  assert.match(await done("approve", "demo.echo", "--yes"), /Approved 1 tool of demo\.echo/);
  const again = await call();
  assert.equal(again.code, 0, again.stderr);
  assert.match(again.stdout, /hi/);
  const missing = await run("approve", "demo.ecko");
  assert.match(
    missing.stderr,
    /No tool server or package has the id "demo\.ecko"\nhint: did you mean demo\.echo\?/,
  );
});

test("a package that was installed after a gateway started is approved in it", async () => {
  const { directory, run, done, call } = await setUp();
  await using _directory = directory;
  await using _gateway = await startServe(["--auth", "none"], { directory: directory.path });
  writeSource(directory, "0.1.0", "Repeats a message.");
  await done("install", "./echo");
  await waitUntil(async () => (await call()).code === 0);
  writeSource(directory, "0.2.0", "Repeats a message, twice.");
  await done("install", "./echo");
  await waitUntil(async () => (await run("approve")).stdout.includes("demo.echo"));
  const held = await call();
  assert.match(held.stderr, /approve demo\.echo/);
  assert.match(await done("approve", "demo.echo", "--yes"), /Approved 1 tool of demo\.echo/);
  const again = await call();
  assert.equal(again.code, 0, again.stderr);
});
