/** Parts of the bundled command that a gateway loads while it runs, at the limit of its open files: the next use loads them. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  echoStdioPath,
  fixtureCommand,
  makeTemporaryDirectory,
  startServerProcess,
  waitUntil,
} from "@toolcrib/testing";
import { cleanEnvironment, runToolcrib } from "./transcript.ts";

const bundle = process.env["TOOLCRIB_TEST_COMMAND"];

/**
 * A module that opens files up to the limit of the process when a part of the command is loaded after a signal: the first
 * time before its file is read, the second time before it is evaluated, which can read further files.
 */
const exhaust = `
const { closeSync, openSync, writeSync } = require("node:fs");
const { registerHooks } = require("node:module");
let isArmed = false;
const times = new Map();
const held = [];
const fill = () => {
  try {
    for (;;) held.push(openSync("/dev/null"));
  } catch ({ code }) {
    writeSync(2, "limit " + code + "\\n");
  }
};
const free = () => {
  for (const file of held.splice(0)) closeSync(file);
};
process.on("SIGUSR2", () => {
  isArmed = true;
  writeSync(2, "armed\\n");
});
registerHooks({
  load(url, context, next) {
    if (!isArmed || !/^file:.*\\.js$/.test(url)) return next(url, context);
    const time = (times.get(url) ?? 0) + 1;
    times.set(url, time);
    writeSync(2, "part " + url + " " + time + "\\n");
    if (time === 1) fill();
    try {
      return next(url, context);
    } finally {
      free();
      if (time === 2) {
        fill();
        setImmediate(free);
      }
    }
  },
});`;

test("a part that could not be loaded at the limit of open files is loaded by the next use", {
  skip:
    process.platform !== "linux" ? "needs prlimit" : bundle === undefined && "npm test bundles the command",
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const config = directory.join("toolcrib.yaml");
  const { command, args: echo } = fixtureCommand(echoStdioPath);
  const server = { id: "s", transport: { kind: "stdio", command, args: echo }, trust_state: "verified" };
  const write = (policy: object) =>
    writeFileSync(config, JSON.stringify({ tool_servers: [server], serve: { auth: "none" }, policy }));
  write({});
  const rules = `permit (principal, action, resource);\nforbid (principal, action, resource == Tool::"s:echo");\n`;
  writeFileSync(directory.join("rules.cedar"), rules);
  const preload = directory.join("exhaust.cjs");
  writeFileSync(preload, exhaust);
  const home = directory.join("home");
  const words = [process.execPath, "--require", preload, bundle!, "serve", "--config", config];
  await using gateway = await startServerProcess(
    "/bin/sh",
    ["-c", 'ulimit -n 8192; exec "$@"', "sh", ...words, "--listen", "127.0.0.1:0"],
    {
      urlPattern: /http:\/\/127\.0\.0\.1:\d+\/mcp/,
      env: { ...cleanEnvironment(directory.path), TOOLCRIB_HOME: home },
    },
  );
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(gateway.url)));
  const isListed = async () => (await client.listTools()).tools.some(({ name }) => name === "s__echo");
  await waitUntil(isListed);
  process.kill(gateway.pid, "SIGUSR2");
  await waitUntil(() => gateway.stderr().includes("armed\n"));
  write({ files: ["rules.cedar"] });
  const refused: string[] = [];
  for (let attempt = 1; await isListed(); attempt += 1) {
    assert.ok(attempt < 40, gateway.stderr());
    const { code, stdout, stderr } = await runToolcrib(["reload", "--home", home], {
      directory: directory.path,
    });
    if (code !== 0) refused.push(`${stdout}${stderr}`);
  }
  // Its rules are in force: nothing remembers that a part was missing. The engine of policies reads a file of its own.
  assert.match(gateway.stderr(), /EMFILE: too many open files, open '[^']*cedar-wasm\.cjs'/);
  assert.ok(refused.length > 1, gateway.stderr());
  for (const text of refused) assert.match(text, /EMFILE/);
  assert.match(
    refused.join("\n"),
    /cannot be loaded: EMFILE.*\nhint: too many files and connections are open/,
  );
  await client.close();
});
