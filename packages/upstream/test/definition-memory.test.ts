/** The files of remembered definitions and their limits. */

import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { DefinitionMemory } from "@toolcrib/upstream";

const logger = { debug() {}, info() {}, warn() {}, error() {} };
const digestOf = (server: string) => hash("sha256", server, "hex");

function definitionsOf(description: string) {
  return {
    capabilities: { tools: {} },
    instructions: undefined,
    tools: [{ name: "t", description, inputSchema: { type: "object" } }],
    resources: [],
    resourceTemplates: [],
    prompts: [],
  };
}

async function save(memory: DefinitionMemory, server: string, description: string): Promise<void> {
  await using own = await memory.open(server, digestOf(server));
  own.save(definitionsOf(description));
}

test("a server's definitions are read as they were saved last", async () => {
  await using directory = await makeTemporaryDirectory();
  const memory = new DefinitionMemory(directory.join("definitions"), { logger, randomBytes });
  {
    await using own = await memory.open("a", digestOf("a"));
    assert.equal(own.remembered, undefined);
    for (const text of ["one", "two", "three"]) own.save(definitionsOf(text));
  }
  await using again = await memory.open("a", digestOf("a"));
  assert.deepEqual(
    JSON.parse(JSON.stringify(again.remembered)),
    JSON.parse(JSON.stringify(definitionsOf("three"))),
  );
  await using other = await memory.open("b", digestOf("b"));
  assert.equal(other.remembered, undefined);
});

test("definitions that are too large are not remembered, and the old ones are forgotten", async () => {
  await using directory = await makeTemporaryDirectory();
  const path = directory.join("definitions");
  const memory = new DefinitionMemory(path, { logger, randomBytes }, { fileMaxBytes: 1000 });
  await save(memory, "a", "small");
  assert.equal(readdirSync(path).length, 1);
  await save(memory, "a", "large".repeat(1000));
  assert.deepEqual(readdirSync(path), []);
});

for (const limits of [{ maxFiles: 3 }, { totalMaxBytes: 600 }]) {
  test(`the oldest files are removed (${Object.keys(limits)}), those of configured servers and other files are not`, async () => {
    await using directory = await makeTemporaryDirectory();
    const path = directory.join("definitions");
    const earlier = new DefinitionMemory(path, { logger, randomBytes });
    const servers = ["used", "a", "b", "c", "d"];
    for (const [at, server] of servers.entries()) {
      await save(earlier, server, "x");
      utimesSync(directory.join(`definitions/${digestOf(server)}.json`), at + 1, at + 1);
    }
    writeFileSync(directory.join("definitions/notes.txt"), "not ours");
    const memory = new DefinitionMemory(path, { logger, randomBytes }, limits);
    await using _used = await memory.open("used", digestOf("used"));
    await save(memory, "new", "x");
    const left = readdirSync(path);
    const expected = [...["used", "d", "new"].map((server) => `${digestOf(server)}.json`), "notes.txt"];
    assert.deepEqual(left.sort(), expected.sort());
  });
}
