/** `toolcrib why` finds a tool by the name that the configuration gives it. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { echoServer, runToolcrib } from "./transcript.ts";

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
