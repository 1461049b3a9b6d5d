/** `toolcrib install` while another process changes packages of the same home and does not end. It waits for a minute. */

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { test } from "node:test";
import { waitForLock } from "@toolcrib/files";
import { makeTemporaryDirectory, writeFiles } from "@toolcrib/testing";
import { runToolcrib } from "./transcript.ts";

test("install ends with INSTALL_BUSY where another process does not finish, and changes nothing", async () => {
  await using directory = await makeTemporaryDirectory();
  const schema = { type: "object" };
  const manifest = {
    ...{
      toolId: "demo.echo",
      name: "Echo",
      version: "1.0.0",
      description: "Repeats.",
      capabilities: ["demo"],
    },
    endpoint: { type: "http", method: "POST", url: "https://example.com/echo" },
    ...{ input_schema: schema, output_schema: schema },
  };
  writeFiles(directory.path, {
    "echo/manifest.json": JSON.stringify(manifest),
    "toolcrib.yaml": "tool_servers: []\n",
  });
  const setting = { directory: directory.path, timeoutMs: 120_000 };
  const packages = directory.join(".toolcrib/packages");
  mkdirSync(packages, { recursive: true, mode: 0o700 });
  {
    using lock = await waitForLock(packages, ".record", 1000);
    assert.ok(lock !== undefined);
    const busy = await runToolcrib(["install", "./echo", "--yes"], setting);
    assert.match(
      busy.stderr,
      /error INSTALL_BUSY: Another command installs or removes packages, and does not finish\nhint: try again when it has ended\n/,
    );
    assert.equal(busy.code, 5);
  }
  const done = await runToolcrib(["install", "./echo", "--yes"], setting);
  assert.equal(done.code, 0, done.stderr);
});
