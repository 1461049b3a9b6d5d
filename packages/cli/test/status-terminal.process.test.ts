/** `toolcrib status` on a terminal of 80 columns: reasons are read as a whole, and their commands can be pasted. */

import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { onTerminal, skipWithoutTerminal } from "./terminal.ts";
import { launcherPath, runToolcrib, startServe } from "./transcript.ts";

test("status shows whole reasons, with commands as they work in this folder", {
  skip: skipWithoutTerminal,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  // A project that has Toolcrib installed: only npx finds it.
  mkdirSync(directory.join("node_modules/.bin"), { recursive: true });
  symlinkSync(launcherPath, directory.join("node_modules/.bin/toolcrib"));
  const headers = { Authorization: { secret_key_ref: "wiki-token" } };
  const transport = { kind: "streamable_http", url: "http://127.0.0.1:9/mcp", headers };
  writeFileSync(
    directory.join("toolcrib.json"),
    JSON.stringify({ tool_servers: [{ id: "wiki", transport }] }),
  );
  const setting = { directory: directory.path };
  await using _served = await startServe(["--listen", "127.0.0.1:0"], setting);
  const shown = (await onTerminal(["--no-color", "status"], setting)).replaceAll("\r\n", "\n");
  assert.match(
    shown,
    /\nwiki: Tool server "wiki" cannot start: Cannot find secret "wiki-token"[\s\S]* npx toolcrib secret set wiki-token/,
  );
  const table = shown.slice(shown.indexOf("SERVER")).split("\n");
  assert.ok(
    table.every((line) => line.length <= 80),
    shown,
  );
});

test("of a server whose command is not found, status says that, and not how its process is contained", async () => {
  for (const mode of ["preferred", "required"]) {
    await using directory = await makeTemporaryDirectory();
    const transport = { kind: "stdio", command: "no-such-server" };
    const servers = [{ id: "absent", transport, containment: { max_execution_seconds: 9 } }];
    writeFileSync(
      directory.join("toolcrib.json"),
      JSON.stringify({ tool_servers: servers, sandbox: { mode } }),
    );
    const setting = { directory: directory.path };
    await using _served = await startServe(["--listen", "127.0.0.1:0"], setting);
    const status = async () => (await runToolcrib(["status"], setting)).stdout;
    await waitUntil(async () => (await status()).includes("unavailable"));
    const shown = await status();
    assert.match(
      shown,
      /^absent +unavailable .* command not found +Cannot launch command "no-such-server": not found in PATH/m,
    );
    assert.doesNotMatch(shown, /not enforced|UNCONTAINED|sandbox:/);
  }
});
