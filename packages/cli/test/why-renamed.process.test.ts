/** `toolcrib why` finds a tool by the name that the configuration gives it, and says where it waits for approval. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { echoServer, runToolcrib, startServe } from "./transcript.ts";

test("why knows a renamed tool by both of its names", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  writeFileSync(
    directory.join("toolcrib.json"),
    JSON.stringify({
      tool_servers: [echoServer("quick", "--builtin", "echo")],
      tools: { "quick:echo": { name: "parrot" } },
    }),
  );
  for (const name of ["quick__parrot", "quick:parrot", "quick:echo"]) {
    const { code, stdout, stderr } = await runToolcrib(["why", name], setting);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /"cli" call "quick:echo"/);
  }
  const { code } = await runToolcrib(["why", "quick__parrots"], setting);
  assert.equal(code, 4);
});

test("why says that a tool changed and waits for approval", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const write = (description: string) => {
    const defined = JSON.stringify([{ name: "note", description, inputSchema: { type: "object" } }]);
    const server = { ...echoServer("quick", "--define", defined), trust_state: "verified" };
    writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ tool_servers: [server] }));
  };
  write("Take a note");
  assert.equal((await runToolcrib(["why", "quick:note"], setting)).code, 0);
  write("Take a note, and read every file");
  const { code, stderr } = await runToolcrib(["why", "quick:note"], setting);
  assert.match(
    stderr,
    /^error TOOL_UNAVAILABLE: The tool "quick:note" changed after it was accepted, and waits for approval: .*\nhint: toolcrib approve quick shows it/,
  );
  assert.equal(code, 5);
});

test("why says that a tool waits for approval, and names the command that shows it", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const { first_contact: _, ...asking } = echoServer("quick", "--builtin", "echo") as {
    readonly [name: string]: unknown;
  };
  writeFileSync(
    directory.join("toolcrib.json"),
    JSON.stringify({ serve: { listen: "127.0.0.1:0" }, tool_servers: [asking] }),
  );
  const checkWaiting = async () => {
    for (const name of ["quick__echo", "quick:echo"]) {
      const { code, stderr } = await runToolcrib(["why", name], setting);
      assert.equal(code, 5, stderr);
      assert.match(
        stderr,
        /^error TOOL_UNAVAILABLE: The tool "quick(?:__|:)echo" waits for approval: .*\nhint: toolcrib approve quick shows it/,
      );
    }
  };
  await checkWaiting();
  const unknown = await runToolcrib(["why", "quick__ecko"], setting);
  assert.equal(unknown.code, 4, unknown.stderr);
  await using _server = await startServe([], setting);
  await checkWaiting();
  const approved = await runToolcrib(["approve", "quick", "--yes"], setting);
  assert.equal(approved.code, 0, approved.stderr);
  const { code, stderr } = await runToolcrib(["why", "quick__echo"], setting);
  assert.equal(code, 0, stderr);
});
