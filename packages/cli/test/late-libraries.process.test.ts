/** The bundled command loads the large libraries with their first use: a gateway that waits has none of them. */

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
import { cleanEnvironment } from "./transcript.ts";

const bundle = process.env["TOOLCRIB_TEST_COMMAND"];

/** A module that prints the name of each file of a library that Node loads. */
const printLibraries = `
import { writeSync } from "node:fs";
import { registerHooks } from "node:module";
registerHooks({
  load(url, context, next) {
    const name = /([^/]+)\\.cjs$/.exec(url)?.[1];
    if (name !== undefined) writeSync(2, \`loaded \${name}\\n\`);
    return next(url, context);
  },
});`;

test("a gateway loads the check of arguments with its first call, and no library before", {
  skip: bundle === undefined && "npm test bundles the command",
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const config = directory.join("toolcrib.yaml");
  const { command, args: echo } = fixtureCommand(echoStdioPath);
  const server = `  - id: s\n    transport: {kind: stdio, command: ${JSON.stringify(command)}, args: ${JSON.stringify(echo)}}\n    trust_state: verified\n`;
  writeFileSync(config, `tool_servers:\n${server}serve:\n  auth: none\n`);
  const preload = `--import=data:text/javascript,${encodeURIComponent(printLibraries)}`;
  const args = [preload, bundle!, "serve", "--config", config, "--listen", "127.0.0.1:0"];
  await using gateway = await startServerProcess(process.execPath, args, {
    urlPattern: /http:\/\/127\.0\.0\.1:\d+\/mcp/,
    env: { ...cleanEnvironment(directory.path), TOOLCRIB_HOME: directory.join("home") },
  });
  const loaded = () => [...gateway.stderr().matchAll(/^loaded (\w+)$/gm)].map(([, name]) => name);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(gateway.url)));
  await waitUntil(async () => (await client.listTools()).tools.some(({ name }) => name === "s__echo"));
  assert.deepEqual(loaded(), []);
  await client.callTool({ name: "s__echo", arguments: { text: "hello" } });
  await waitUntil(() => loaded().includes("ajv"));
  assert.ok(!loaded().includes("yaml"), loaded().join());
  await client.close();
});
