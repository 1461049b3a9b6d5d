/** Files of clients that change while commands change them, and what commands leave that are killed. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, utimesSync, watch, writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory, type TemporaryDirectory } from "@toolcrib/testing";
import { echoServer, runToolcrib } from "./transcript.ts";

const cursor = ".cursor/mcp.json";
const draft = `.${"0".repeat(32)}.draft`;

async function setUp() {
  const directory = await makeTemporaryDirectory();
  mkdirSync(directory.join("work"));
  mkdirSync(directory.join(".cursor"));
  const configuration = { tool_servers: [echoServer("echo")], serve: { listen: "127.0.0.1:7499" } };
  writeFileSync(directory.join("work/toolcrib.json"), JSON.stringify(configuration));
  const text = (count: number) =>
    `{ "count": ${count}, "mcpServers": { "files": { "command": "files-mcp" } } }\n`;
  writeFileSync(directory.join(cursor), text(0));
  const run = (...words: readonly string[]) =>
    runToolcrib(words, {
      directory: directory.join("work"),
      env: { HOME: directory.path, TOOLCRIB_HOME: directory.join(".toolcrib") },
    });
  const read = () => readFileSync(directory.join(cursor), "utf8");
  return { directory, run, read, text, [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() };
}

/** A client that changes its file once, when the command begins to write. */
function clientOf(directory: TemporaryDirectory, change: (text: string) => string): Disposable {
  let isDone = false;
  const watcher = watch(directory.join(".cursor"), (_, name) => {
    if (isDone || name?.endsWith(".draft") !== true) return;
    isDone = true;
    const file = directory.join(cursor);
    writeFileSync(file, change(readFileSync(file, "utf8")));
  });
  return { [Symbol.dispose]: () => watcher.close() };
}

test("what a client writes while it is connected and disconnected stays", async () => {
  await using user = await setUp();
  const { directory, run, read, text } = user;
  {
    using _client = clientOf(directory, (one) => one.replace('"count": 0', '"count": 1'));
    assert.equal((await run("connect", "cursor", "--yes")).code, 0);
  }
  assert.match(read(), /"count": 1.*"toolcrib"/);
  {
    using _client = clientOf(directory, (one) => one.replace('"count": 1', '"count": 2'));
    assert.match((await run("disconnect", "cursor")).stdout, /what changed since stays/);
  }
  assert.equal(read(), text(2));
});

test("a server that its client changes while it is moved stays in the client", async () => {
  await using user = await setUp();
  const { directory, run, read } = user;
  using _client = clientOf(directory, (one) => one.replace("files-mcp", "other-mcp"));
  const { code, stdout, stderr } = await run("import", "--move", "--yes");
  assert.equal(code, 0);
  assert.match(stdout, /Cursor: 0 servers moved/);
  assert.match(stderr, /The client changed files meanwhile/);
  assert.match(read(), /other-mcp.*"toolcrib"/);
});

test("unfinished files of killed commands are removed, in the home and beside the file of the client", async () => {
  await using user = await setUp();
  const { directory, run } = user;
  mkdirSync(directory.join(".toolcrib/connections"), { recursive: true, mode: 0o700 });
  const left = [directory.join(`.toolcrib/connections/${draft}`), directory.join(`.cursor/${draft}`)];
  for (const path of left) {
    writeFileSync(path, "a secret");
    utimesSync(path, 1_000_000, 1_000_000);
  }
  assert.equal((await run("connect", "cursor", "--yes")).code, 0);
  assert.deepEqual(left.map(existsSync), [false, false]);
});
