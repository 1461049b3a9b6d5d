/** Programs of packages get no secrets, and what a person would configure for them is reported. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { makeTemporaryDirectory, writeFiles } from "@toolcrib/testing";
import { runToolcrib } from "./transcript.ts";

const manifest = {
  toolId: "demo.echo",
  name: "Echo",
  version: "0.1.0",
  description: "Repeats a message.",
  capabilities: ["demo"],
  auth: { type: "bearer" },
  endpoint: { type: "local", command: "node ./echo.mjs", stdin: true },
  input_schema: { type: "object" },
  output_schema: { type: "object" },
};

test("info --why and the start say that credentials of a package with a program have no effect", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, {
    "toolcrib.yaml": `sandbox: { mode: preferred }
packages: { demo.echo: { credentials: { token: { secret_key_ref: { env: ECHO_TOKEN } } } } }
`,
    "echo/manifest.json": JSON.stringify(manifest),
    "echo/echo.mjs":
      "process.stdout.write(JSON.stringify({ hasSecret: JSON.stringify(process.env).includes('s3cret') }));\n",
  });
  const setting = { directory: directory.path, env: { ECHO_TOKEN: "s3cret-token-value" }, stdin: "" };
  const run = (...args: readonly string[]) => runToolcrib(args, setting);
  const installed = await run("install", "./echo");
  assert.equal(installed.code, 0, installed.stderr);
  const message =
    /programs of packages get no secrets: packages\."demo\.echo"\.credentials \(token\) has no effect/;
  assert.match((await run("info", "demo.echo", "--why")).stdout, message);
  assert.match(JSON.parse((await run("info", "demo.echo", "--why", "--json")).stdout).secrets, message);
  const started = await run("serve", "--stdio");
  assert.match(started.stderr, /programs of packages get no secrets/);
  const called = await run("call", "demo.echo", "{}");
  assert.match(called.stdout, /"?hasSecret"?: ?false/);
});
