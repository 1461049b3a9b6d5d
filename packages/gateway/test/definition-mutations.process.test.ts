/**
 * Every change of a real definition is found: each leaf and each member of the tools of three real servers and of the
 * catalog is changed, removed or added to, one at a time.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { SecretScrubber } from "@toolcrib/redaction";
import { DefinitionPins, type PinRules } from "@toolcrib/store";
import { localIdentity } from "@toolcrib/tool";
import { parseToolspec, toolDefinitions } from "@toolcrib/toolspec";
import { createTestLogger, startTestGateway } from "./gateway-harness.ts";

const { resolve } = createRequire(import.meta.url);
const catalog = fileURLToPath(new URL("../../../catalog/toolspecs", import.meta.url));

/** The definitions of the catalog, as clients see them. */
function catalogDefinitions(): readonly JsonObject[] {
  return readdirSync(catalog, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".yaml"))
    .flatMap((name) => {
      const { value } = parseToolspec({ name, text: readFileSync(join(catalog, name), "utf8") });
      return value === undefined
        ? []
        : toolDefinitions(value).map(({ definition }) => definition as unknown as JsonObject);
    });
}

/** The definitions that three servers of npm list. */
async function serverDefinitions(): Promise<readonly JsonObject[]> {
  const serverOf = (name: string, ...args: readonly string[]) => ({
    id: name,
    transport: {
      kind: "stdio",
      command: process.execPath,
      args: [resolve(`@modelcontextprotocol/server-${name}/dist/index.js`), ...args],
    },
    trust_state: "certified",
  });
  await using setting = await startTestGateway({
    tool_servers: [serverOf("everything"), serverOf("filesystem", catalog), serverOf("memory")],
  });
  const operator = localIdentity("cli", "cli");
  return setting.gateway
    .listTools(operator)
    .filter(({ isOwn }) => !isOwn)
    .map(({ id }) => setting.gateway.describe(operator, id)?.definition as unknown as JsonObject);
}

/** Returns values that differ from `value`, each by one change at one place. */
function* mutationsOf(value: JsonValue, isRoot = true): Generator<JsonValue> {
  if (Array.isArray(value)) {
    yield [...value, "added"];
    if (value.length > 0) yield value.slice(1);
    if (value.length > 1 && JSON.stringify(value[0]) !== JSON.stringify(value[1]))
      yield [value[1] as JsonValue, value[0] as JsonValue, ...value.slice(2)];
    for (const [at, item] of value.entries())
      for (const changed of mutationsOf(item, false)) yield value.with(at, changed);
  } else if (isJsonObject(value)) {
    yield { ...value, added: "member" };
    for (const [key, member = null] of Object.entries(value)) {
      // Another name is another tool.
      if (isRoot && key === "name") continue;
      const { [key]: _removed, ...rest } = value;
      yield rest;
      for (const changed of mutationsOf(member, false)) yield { ...value, [key]: changed };
    }
  } else if (typeof value === "string") {
    yield `${value}\u200b`;
    yield value === "" ? " " : value.slice(0, -1);
  } else if (typeof value === "number") yield value + 1;
  else if (typeof value === "boolean") yield !value;
  else yield "not null";
}

/** The same definition with its members in the opposite order. */
function reordered(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reordered);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member = null]) => [key, reordered(member)]),
  );
}

test("each change of the definitions of servers and of the catalog is held back, and the same definition never is", async () => {
  const definitions = [...(await serverDefinitions()), ...catalogDefinitions()];
  assert.ok(definitions.length >= 200, `${definitions.length} definitions`);
  const rules: PinRules = { trustState: "verified", firstContact: "pin" };
  const pins = new DefinitionPins({
    audit: { record() {} },
    logger: createTestLogger(),
    scrubber: new SecretScrubber(),
    now: Date.now,
    approveCommand: "toolcrib approve",
  });
  let mutations = 0;
  for (const [at, definition] of definitions.entries()) {
    const check = (one: JsonValue) =>
      pins.check({ sourceId: "s", kind: "tool", name: String(at), definition: one as JsonObject }, rules)
        ?.code;
    assert.equal(check(definition), undefined, "the first contact is accepted");
    for (const changed of mutationsOf(definition)) {
      mutations += 1;
      assert.equal(check(changed), "TOOL_DEFINITION_CHANGED", JSON.stringify(changed));
    }
    assert.equal(check(reordered(definition)), undefined);
    assert.equal(check(structuredClone(definition)), undefined);
  }
  assert.ok(mutations >= 5000, `${mutations} mutations of ${definitions.length} definitions`);
});
