/** Pins that `DefinitionPins` accepts and stores, against servers that try to be accepted unnoticed. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { type JsonObject, parseJson } from "@toolcrib/json";
import { SecretScrubber } from "@toolcrib/redaction";
import {
  createPinStore,
  DefinitionPins,
  digestOf,
  type ListedDefinition,
  type PinRules,
  Quarantine,
} from "@toolcrib/store";
import { makeTemporaryDirectory, slowTest } from "@toolcrib/testing";
import { localIdentity, toToolId } from "@toolcrib/tool";

const verified: PinRules = { trustState: "verified", firstContact: "pin" };
const asking: PinRules = { trustState: "unverified", firstContact: "ask" };
const operator = localIdentity("cli", "cli");

const toolOf = (definition: JsonObject, name = "read"): ListedDefinition => ({
  sourceId: "s",
  kind: "tool",
  name,
  definition,
});

/** The pins of a home, read again as after a restart. */
async function open(home: string, warnings: string[] = []) {
  const store = createPinStore(home, { randomBytes });
  const { sources } = await store.list();
  const logger = {
    debug() {},
    info() {},
    error() {},
    warn(fields: object, message: string) {
      if (message.endsWith("could not be stored")) warnings.push(`${message} ${JSON.stringify(fields)}`);
    },
  };
  const deps = {
    audit: { record() {} },
    logger,
    scrubber: new SecretScrubber(),
    now: Date.now,
    pins: { store, remembered: sources },
    approveCommand: "toolcrib approve",
  };
  return { pins: new DefinitionPins(deps), deps, store };
}

describe("equal and different definitions", () => {
  const rows: readonly (readonly [one: string, other: string, isSame: boolean])[] = [
    ['{"maximum": 1.0}', '{"maximum": 1}', true],
    ['{"minimum": -0}', '{"minimum": 0}', true],
    ['{"a": 1, "b": 2}', '{"b": 2, "a": 1}', true],
    // Every reader sees the last of two members with one name.
    ['{"a": "harmless", "a": "evil"}', '{"a": "evil"}', true],
    ['{"a": "evil", "a": "harmless"}', '{"a": "evil"}', false],
    ['{"description": "\\u00e9"}', '{"description": "e\\u0301"}', false],
    ['{"__proto__": {"description": "evil"}}', "{}", false],
    ['{"properties": {"__proto__": {"type": "string"}}}', '{"properties": {}}', false],
    ['{"properties": {"constructor": {"type": "string"}}}', '{"properties": {}}', false],
    ['{"a": null}', "{}", false],
    ['{"a": "1"}', '{"a": 1}', false],
    ['{"a": 9007199254740993}', '{"a": 9007199254740992}', true],
  ];
  for (const [one, other, isSame] of rows) {
    it(`${one} ${isSame ? "is" : "is not"} ${other}`, async () => {
      await using directory = await makeTemporaryDirectory();
      const { pins } = await open(directory.path);
      const [accepted, listed] = [parseJson(one), parseJson(other)] as JsonObject[];
      assert.equal(pins.check(toolOf(accepted as JsonObject), verified), undefined);
      const found = pins.check(toolOf(listed as JsonObject), verified);
      assert.equal(found?.code, isSame ? undefined : "TOOL_DEFINITION_CHANGED");
      assert.equal(digestOf(accepted as JsonObject) === digestOf(listed as JsonObject), isSame);
      pins.save();
      await pins.stored();
      const again = (await open(directory.path)).pins.check(toolOf(listed as JsonObject), verified);
      assert.equal(again?.code, found?.code, "also after a restart");
    });
  }

  it("a definition without canonical JSON is never accepted, as others could take its place", async () => {
    await using directory = await makeTemporaryDirectory();
    const { pins } = await open(directory.path);
    const listed = toolOf(parseJson('{"maximum": 1e400, "description": "harmless"}') as JsonObject);
    for (const rules of [verified, { ...verified, trustState: "certified" } as const, asking])
      assert.equal(pins.check(listed, rules)?.code, "TOOL_NOT_APPROVED");
    assert.match(pins.check(listed, verified)?.reason ?? "", /a number that no program can hold/);
    await assert.rejects(pins.approve("s", [listed], operator), { code: "STORE_FULL" });
    // An accepted definition is not replaced by one, and it accepts no other one.
    const accepted = toolOf({ description: "good" });
    assert.equal(pins.check(accepted, verified), undefined);
    assert.equal(pins.check(listed, verified)?.code, "TOOL_DEFINITION_CHANGED");
    assert.equal(pins.check(accepted, verified), undefined);
  });
});

describe("what cannot be stored", () => {
  it("is not accepted by approvals of one server that overlap, and takes nothing from one that is stored", async () => {
    await using directory = await makeTemporaryDirectory();
    const { deps } = await open(directory.path);
    const full = ["a", "b"];
    const store = {
      ...{
        get: async () => undefined,
        list: async () => ({ sources: [], unreadable: [] }),
        delete: async () => {},
      },
      async put({ pins }: { readonly pins: readonly { readonly name: string }[] }) {
        await setTimeout(20);
        if (pins.some(({ name }) => full.includes(name))) throw new Error("the disk is full");
        return { kind: "stored" as const };
      },
    } as unknown as ReturnType<typeof createPinStore>;
    const pins = new DefinitionPins({ ...deps, pins: { store, remembered: [] } });
    const one = (name: string) => toolOf({ description: name }, name);
    const ends = await Promise.allSettled(
      ["a", "c", "b"].map((name) => pins.approve("s", [one(name)], operator)),
    );
    assert.deepEqual(
      ends.map(({ status }) => status),
      ["rejected", "fulfilled", "rejected"],
    );
    for (const name of ["a", "b", "c"]) {
      const code = pins.check(one(name), asking)?.code;
      assert.equal(code, name === "c" ? undefined : "TOOL_NOT_APPROVED", name);
    }
  });

  it("is not accepted: a name that is too long, and names that are too long together", async () => {
    await using directory = await makeTemporaryDirectory();
    const warnings: string[] = [];
    const { pins } = await open(directory.path, warnings);
    const long = toolOf({}, "x".repeat(9000));
    assert.match(pins.check(long, verified)?.reason ?? "", /lists more than can be remembered/);
    await assert.rejects(pins.approve("s", [toolOf({}, "good"), long], operator), { code: "STORE_FULL" });
    assert.equal(pins.check(toolOf({}, "good"), asking)?.code, "TOOL_NOT_APPROVED", "nothing was accepted");
    let accepted = 0;
    for (let at = 0; at < 12_000; at += 1) {
      const name = `${at}${"é".repeat(4000)}`;
      if (pins.check(toolOf({ description: "日".repeat(100) }, name), verified) === undefined) accepted += 1;
    }
    assert.ok(accepted > 200 && accepted < 300, `${accepted} names of 8 KiB`);
    pins.save();
    await pins.stored();
    assert.deepEqual(warnings, []);
    const stored = (await open(directory.path)).deps.pins.remembered[0]?.pins.length;
    assert.equal(stored, accepted);
  });

  it(
    "is not accepted: more definitions than a record can have; those that are accepted are stored",
    slowTest,
    async () => {
      await using directory = await makeTemporaryDirectory();
      const warnings: string[] = [];
      const { pins, deps } = await open(directory.path, warnings);
      // Findings share the record: texts in other scripts take three bytes for each character.
      const quarantine = new Quarantine({ ...deps, healthOf: () => "ready" });
      const findings = Array.from({ length: 2000 }, (_, at) => ({
        sourceId: "s",
        server: "s",
        kind: "tool" as const,
        name: `${at}${"日".repeat(900)}`,
        id: toToolId("s", String(at)),
        code: "TOOL_DEFINITION_INVALID",
        member: "日".repeat(1000),
        reason: "日".repeat(1000),
        definition: {},
      }));
      quarantine.update(findings, () => true);
      await quarantine.stored();
      const description = "日".repeat(40_000);
      for (let at = 0; at < 12_000; at += 1) {
        assert.equal(pins.check(toolOf({ description, at }, `tool ${at}`), verified), undefined);
      }
      assert.equal(pins.check(toolOf({}, "one more"), verified)?.code, "TOOL_NOT_APPROVED");
      await assert.rejects(pins.approve("s", [toolOf({}, "one more")], operator), /12000 definitions/);
      pins.save();
      await pins.stored();
      assert.deepEqual(warnings, []);
      const { pins: again } = await open(directory.path);
      const changed = again.check(toolOf({ description: "evil", at: 11_999 }, "tool 11999"), verified);
      assert.equal(changed?.code, "TOOL_DEFINITION_CHANGED");
    },
  );

  it("names that differ only in a secret do not prevent the others from being stored", async () => {
    await using directory = await makeTemporaryDirectory();
    const warnings: string[] = [];
    const { pins, deps } = await open(directory.path, warnings);
    deps.scrubber.learn("s", "hunter2-hunter2");
    const encoded = Buffer.from("hunter2-hunter2").toString("hex");
    for (const name of ["a hunter2-hunter2", `a ${encoded}`, "other"])
      assert.equal(pins.check(toolOf({}, name), verified), undefined);
    pins.save();
    await pins.stored();
    assert.deepEqual(warnings, []);
    const again = (await open(directory.path)).pins;
    assert.equal(
      again.check(toolOf({ description: "evil" }, "other"), verified)?.code,
      "TOOL_DEFINITION_CHANGED",
    );
  });
});

it("a prompt, a template and instructions of one name have a pin each", async () => {
  await using directory = await makeTemporaryDirectory();
  const { pins } = await open(directory.path);
  const kinds = ["tool", "prompt", "resource", "resourceTemplate", "resources", "instructions"] as const;
  const one = (kind: (typeof kinds)[number], definition: JsonObject) => ({
    sourceId: "s",
    kind,
    name: "x",
    definition,
  });
  for (const kind of kinds) assert.equal(pins.check(one(kind, { kind }), verified), undefined);
  pins.save();
  await pins.stored();
  const { pins: again } = await open(directory.path);
  for (const kind of kinds) {
    assert.equal(again.check(one(kind, { kind }), verified), undefined);
    assert.equal(again.check(one(kind, { kind: "other" }), verified)?.code, "TOOL_DEFINITION_CHANGED");
    // Nobody was asked about it: a server that is to be asked about waits, also with the same definition.
    assert.equal(again.check(one(kind, { kind }), asking)?.code, "TOOL_NOT_APPROVED");
  }
});
