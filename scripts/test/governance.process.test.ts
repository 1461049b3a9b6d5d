/** The gateways of the benchmark about governance have the parts of their command line, and no others. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { gatewayOfParts } from "../../bench/governance.ts";
import { untilReady } from "../../bench/ready.ts";

/** Makes a call through a gateway with `parts`, and returns what it left behind. */
async function callThrough(parts: string) {
  await using folder = await makeTemporaryDirectory();
  const launched = await gatewayOfParts("measured", parts).launch(folder.path, []);
  {
    await using child = launched.child;
    const signal = AbortSignal.timeout(60_000);
    const { client, toolName } = await untilReady(
      { child, connect: () => launched.connect() },
      { count: 1, limitMs: 60_000, signal },
    );
    const result = await client.request("tools/call", { name: toolName, arguments: { text: "hello" } });
    client.close();
    assert.deepEqual(result["content"], [{ type: "text", text: "hello" }], parts);
    // Ends it, and with it what it still has to write.
    child.process.kill("SIGTERM");
    await new Promise((resolve) => child.process.once("exit", resolve));
    const labels = (result["_meta"] as { readonly [name: string]: unknown } | undefined)?.["toolcrib/labels"];
    const home = join(folder.path, "toolcrib");
    return { labels, intents: intentsIn(join(home, "audit")), hasPins: hasFiles(join(home, "pins")) };
  }
}

function hasFiles(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).length > 0;
}

/** The rules of the intents in a trail. */
function intentsIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".jsonl"),
  );
  const lines = files.flatMap((name) => readFileSync(join(folder, name), "utf8").trim().split("\n"));
  const records = lines.map((line) => JSON.parse(line) as { type: string; data: { rule?: string } });
  return records.flatMap(({ type, data }) => (type.endsWith("call.intent") ? [data.rule ?? ""] : []));
}

test("a gateway of all parts decides by policies, pins the tool and records the call", async () => {
  const { labels, intents, hasPins } = await callThrough("policy+pins+audit");
  assert.deepEqual(labels, ["personal"]);
  assert.deepEqual(
    intents.map((rule) => rule.split("/").at(-1)),
    ["team.cedar#agents-own-team"],
  );
  assert.ok(hasPins);
});

test("without parts, and without a governed call, a call leaves nothing behind", async () => {
  for (const parts of ["none", "ungoverned"]) {
    assert.deepEqual(await callThrough(parts), { labels: undefined, intents: [], hasPins: false }, parts);
  }
});

test("each part alone is there", async () => {
  assert.deepEqual(await callThrough("policy"), { labels: ["personal"], intents: [], hasPins: false });
  assert.deepEqual(await callThrough("pins"), { labels: undefined, intents: [], hasPins: true });
  assert.deepEqual(await callThrough("audit"), { labels: undefined, intents: ["default"], hasPins: false });
});
