/** A package none of whose implementations runs on this machine: it is installed, and its calls say why. */

import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory, writeFiles } from "@toolcrib/testing";
import { runToolcrib } from "./transcript.ts";

const schema = { type: "object", properties: { message: { type: "string" } }, required: ["message"] };
const foreign = process.platform === "win32" ? "linux-x64" : "win32-x64";
const manifest = {
  toolId: "demo.echo",
  name: "Echo",
  version: "0.1.0",
  description: "Returns the message that it gets.",
  capabilities: ["demo"],
  implementations: [{ id: "native", platforms: [foreign], endpoint: { type: "local", command: "./run" } }],
  input_schema: schema,
  output_schema: schema,
  tests: ["tests/echo.test.json"],
};

test("the call of a package that is for another platform names the platform, and info says what it needs", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, {
    "toolcrib.yaml": "packages: { demo.echo: { trust_state: verified } }\n",
    "echo/manifest.json": JSON.stringify(manifest),
    "echo/tests/echo.test.json": '{"name":"echo","input":{"message":"a"},"expected":{"message":"a"}}',
    "echo/run": "#!/bin/sh\ncat\n",
  });
  chmodSync(directory.join("echo/run"), 0o755);
  const run = (...args: readonly string[]) => runToolcrib(args, { directory: directory.path });
  const installed = await run("install", "./echo", "--yes");
  assert.equal(installed.code, 0, installed.stderr);
  const { code, stderr } = await run("call", "demo.echo", "--arg", "message=hello");
  assert.notEqual(code, 0);
  const reason = `"demo.echo" cannot run here: it supports ${foreign}, and not ${process.platform}-${process.arch}`;
  assert.ok(stderr.includes(reason), stderr);
  assert.match(stderr, /toolcrib info demo\.echo --why explains what it needs/);
  const info = await run("info", "demo.echo", "--why");
  assert.match(info.stdout, new RegExp(`not usable +native\\s+it supports ${foreign}`), info.stdout);
});
