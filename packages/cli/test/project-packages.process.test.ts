/** The packages of a project are in the folder of the configuration that `--config` names. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { makeTemporaryDirectory, writeFiles } from "@toolcrib/testing";
import { cleanEnvironment, commandLine, runToolcrib } from "./transcript.ts";

const manifest = {
  toolId: "demo.echo",
  name: "Echo",
  version: "0.1.0",
  description: "Repeats a message.",
  capabilities: ["demo"],
  endpoint: { type: "local", command: "node ./echo.mjs", stdin: true },
  input_schema: { type: "object", properties: { message: { type: "string" } } },
  output_schema: { type: "object" },
};

test("a command that starts elsewhere has the packages of the folder of --config", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, {
    "project/toolcrib.yaml": "sandbox: { mode: preferred }\n",
    "project/echo/manifest.json": JSON.stringify(manifest),
    "project/echo/echo.mjs": "process.stdin.pipe(process.stdout);\n",
  });
  mkdirSync(directory.join("elsewhere"));
  const env = cleanEnvironment(directory.path);
  const home = ["--home", directory.join("home")];
  const config = ["--config", directory.join("project/toolcrib.yaml")];
  const elsewhere = async (...args: readonly string[]) => {
    const setting = { directory: directory.join("elsewhere"), env };
    const { code, stdout, stderr } = await runToolcrib([...home, ...config, ...args], setting);
    assert.equal(code, 0, `${args.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  };
  await elsewhere("install", directory.join("project/echo"));
  assert.ok(existsSync(directory.join("project/.mcp/tools/demo.echo/manifest.json")));
  assert.ok(!existsSync(directory.join("elsewhere/.mcp")));
  assert.match(await elsewhere("list"), /demo\.echo/);
  assert.match(await elsewhere("describe", "demo.echo"), /Repeats a message/);
  assert.match(await elsewhere("call", "demo.echo", '{"message":"hi"}'), /hi/);
  assert.match(await elsewhere("info"), /demo\.echo/);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [...commandLine, ...home, ...config, "serve", "--stdio"],
      cwd: directory.join("elsewhere"),
      env: Object.fromEntries(Object.entries(env).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]]))),
      stderr: "ignore",
    }),
  );
  try {
    const { tools } = await client.listTools();
    assert.ok(
      tools.some(({ name }) => name === "demo.echo"),
      tools.map(({ name }) => name).join(" "),
    );
  } finally {
    await client.close();
  }
  const outside = { directory: directory.join("elsewhere"), env };
  assert.doesNotMatch((await runToolcrib([...home, "info"], outside)).stdout, /demo\.echo/);
});
