/** V8 optimizes the code of a gateway from the first call on: its start and its lists run without its compilers. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  echoStdioPath,
  fixtureCommand,
  makeTemporaryDirectory,
  runProcess,
  startServerProcess,
  waitUntil,
} from "@toolcrib/testing";
import { cleanEnvironment } from "./transcript.ts";

const launcher = join(import.meta.dirname, "../bin/toolcrib.js");

/** Returns how many functions were optimized, by what V8 printed. */
function optimizedIn(output: string): number {
  return output.match(/^\[completed (?:compiling|optimizing) /gm)?.length ?? 0;
}

test("a gateway is optimized with its first call, not before", async () => {
  await using directory = await makeTemporaryDirectory();
  const config = directory.join("toolcrib.json");
  const transport = { kind: "stdio", ...fixtureCommand(echoStdioPath) };
  const servers = [{ id: "s", transport, trust_state: "verified" }];
  writeFileSync(config, JSON.stringify({ tool_servers: servers, serve: { auth: "none" } }));
  const args = ["--trace-opt", launcher, "serve", "--config", config, "--listen", "127.0.0.1:0"];
  await using gateway = await startServerProcess(process.execPath, args, {
    urlPattern: /http:\/\/127\.0\.0\.1:\d+\/mcp/,
    env: { ...cleanEnvironment(directory.path), TOOLCRIB_HOME: directory.join("home") },
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(gateway.url)));
  await waitUntil(async () => (await client.listTools()).tools.some(({ name }) => name === "s__echo"));
  const before = optimizedIn(gateway.stdout());
  for (let turn = 0; turn < 300; turn += 1) await client.listTools();
  assert.equal(optimizedIn(gateway.stdout()), before);
  await waitUntil(async () => {
    for (let turn = 0; turn < 200; turn += 1)
      await client.callTool({ name: "s__echo", arguments: { text: "hello" } });
    return optimizedIn(gateway.stdout()) > before;
  });
  await client.close();
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
