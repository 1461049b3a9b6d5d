/** Accepted definitions as gateways of one home share them, and as the operator sees them. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { SecretScrubber } from "@toolcrib/redaction";
import {
  createPinStore,
  DefinitionPins,
  digestOf,
  type ListedDefinition,
  type PinMemory,
  type PinRules,
} from "@toolcrib/store";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";

const verified: PinRules = { trustState: "verified", firstContact: "pin" };
const asking: PinRules = { trustState: "unverified", firstContact: "ask" };
const operator = localIdentity("cli", "cli");

/** Returns a tool of the server "s" with a text. */
const at = (description: string, name = "read"): ListedDefinition => ({
  sourceId: "s",
  kind: "tool",
  name,
  definition: { description },
});

/** Pins of a gateway of a home at a time that the test sets, with what it records and logs. */
async function openGateway(home: string, clock = { ms: 0 }) {
  const store = createPinStore(home, { randomBytes });
  const { sources, problems } = await store.list();
  const memory = { store, remembered: sources, unreadable: new Set(problems.length === 0 ? [] : ["s"]) };
  return { store, ...openPins(memory, clock) };
}

function openPins(memory: PinMemory | undefined, clock = { ms: 0 }) {
  const recorded: object[] = [];
  const logged: string[] = [];
  const log = (_fields: object, message: string): void => void logged.push(message);
  const scrubber = new SecretScrubber();
  const counts = { unreadable: 0 };
  const pins = new DefinitionPins({
    audit: { record: (type, data) => void recorded.push({ type, ...data }) },
    logger: { debug() {}, info: log, warn: log, error: log },
    scrubber,
    now: () => clock.ms,
    pins: memory,
    approveCommand: "toolcrib approve",
    onUnreadable: () => {
      counts.unreadable += 1;
    },
  });
  const save = async () => {
    pins.save();
    await pins.stored();
  };
  const codeOf = (listed: ListedDefinition, rules = asking) => pins.check(listed, rules)?.code ?? "offered";
  return { pins, scrubber, save, codeOf, recorded, logged, counts };
}

describe("what the operator sees", () => {
  it("names each kind of definition, with the accepted one only where it changed", async () => {
    await using directory = await makeTemporaryDirectory();
    const { pins, scrubber } = await openGateway(directory.path);
    for (const [kind, name, shown] of [
      ["tool", "x", "x"],
      ["prompt", "x", "prompts/x"],
      ["resource", "file:///x", "resources/file:///x"],
      ["resourceTemplate", "file:///{x}", "resources/file:///{x}"],
      ["resources", "resources", "resources"],
      ["instructions", "instructions", "instructions"],
    ] as const) {
      const one = (text: string) => ({ sourceId: "s", kind, name, definition: { text } });
      const { id, previousDigest } = pins.check(one("a"), asking) ?? assert.fail(kind);
      assert.deepEqual([id, previousDigest], [`s:${shown}`, undefined]);
      const described = { server: "s", kind, name: shown };
      const first = { ...described, digest: digestOf({ text: "a" }), definition: { text: "a" } };
      assert.deepEqual(pins.describe(one("a")), { ...first, isChanged: false });
      assert.equal(pins.check(one("a"), verified), undefined);
      // Accepted without a question: the same definition waits, and nothing of it changed.
      assert.deepEqual(pins.describe(one("a")), { ...first, isChanged: false });
      const changed = { ...described, digest: digestOf({ text: "b" }), definition: { text: "b" } };
      assert.deepEqual(pins.describe(one("b")), { ...changed, previous: { text: "a" }, isChanged: true });
      assert.equal(pins.check(one("b"), verified)?.previousDigest, first.digest);
    }
    scrubber.learn("s", "hunter2-hunter2");
    assert.doesNotMatch(JSON.stringify(pins.describe(at("hunter2-hunter2"))), /hunter2/);
  });

  it("has no accepted definition that is too large to be kept, which is accepted all the same", async () => {
    await using directory = await makeTemporaryDirectory();
    const large = at("x".repeat(128 * 1024), "large");
    const small = at("x".repeat(64 * 1024), "small");
    const first = await openGateway(directory.path);
    for (const one of [large, small]) assert.equal(first.codeOf(one, verified), "offered");
    await first.save();
    const stored = (await first.store.get("s"))?.pins ?? [];
    assert.deepEqual(
      stored.map(({ name, definition }) => [name, definition !== undefined]),
      [
        ["large", false],
        ["small", true],
      ],
    );
    const { pins, codeOf, save, store } = await openGateway(directory.path, { ms: 86_400_000 });
    const changed = at("other", "large");
    const { previous, isChanged } = pins.describe(changed);
    assert.deepEqual([previous, isChanged], [undefined, true]);
    assert.equal(pins.describe(at("other", "small")).previous?.["description"], "x".repeat(64 * 1024));
    for (const one of [large, small]) assert.equal(codeOf(one, verified), "offered");
    assert.equal(codeOf(changed, verified), "TOOL_DEFINITION_CHANGED");
    await save();
    assert.equal((await store.get("s"))?.pins.length, 2);
  });
});

describe("what gateways of a home accepted", () => {
  const approved = { kind: "approved", approvedBy: { issuer: "o", subject: "o" } } as const;

  it("is recorded with what it replaced, and taken over by the others", async () => {
    await using directory = await makeTemporaryDirectory();
    const [one, other] = [await openGateway(directory.path), await openGateway(directory.path)];
    await one.pins.approve("s", [at("a")], operator);
    assert.equal(other.codeOf(at("a")), "TOOL_NOT_APPROVED");
    assert.equal(await other.pins.refresh(["none", "s", "none"]), true);
    assert.equal(other.codeOf(at("a")), "offered");
    assert.equal(await other.pins.refresh(["s"]), false);
    assert.equal(await other.pins.refresh(["none"]), false);
    await one.pins.approve("s", [at("b")], operator);
    assert.deepEqual(
      one.recorded.map((record) => {
        const { type, digest, previousDigest } = record as Record<string, unknown>;
        return [type, digest, previousDigest, Object.hasOwn(record, "previousDigest")];
      }),
      [
        ["definition.approved", digestOf({ description: "a" }), undefined, false],
        ["definition.approved", digestOf({ description: "b" }), digestOf({ description: "a" }), true],
      ],
    );
    assert.deepEqual(one.logged, []);
  });

  it("is an approval also of what another gateway accepted without a question", async () => {
    await using directory = await makeTemporaryDirectory();
    const clock = { ms: 0 };
    const [one, other] = [await openGateway(directory.path), await openGateway(directory.path, clock)];
    clock.ms = 10;
    assert.equal(other.codeOf(at("a"), verified), "offered");
    // The operator no longer trusts the server: its tools wait in all gateways.
    assert.equal(other.codeOf(at("a")), "TOOL_NOT_APPROVED");
    await one.pins.approve("s", [at("a")], operator);
    // What it stores takes nothing from the approval.
    assert.equal(other.codeOf(at("x", "other"), verified), "offered");
    await other.save();
    assert.equal((await openGateway(directory.path)).codeOf(at("a")), "offered");
    assert.equal(await other.pins.refresh(["s"]), false);
    assert.equal(other.codeOf(at("a")), "offered");
    // Nor does a pin that was accepted without a question, once the gateway has the approval.
    const stored = (await other.store.get("s")) ?? assert.fail();
    const pins = stored.pins.map((pin) => ({ ...pin, state: { kind: "pinned" } as const }));
    await other.store.put({ sourceId: "s", pins }, stored.version);
    assert.equal(await other.pins.refresh(["s"]), false);
    assert.equal(other.codeOf(at("a")), "offered");
  });

  it("counts by its time: the later of two definitions of one name", async () => {
    await using directory = await makeTemporaryDirectory();
    const { pins, store, codeOf } = await openGateway(directory.path, { ms: 50 });
    await pins.approve("s", [at("own")], operator);
    const put = async (text: string, firstSeenAt: number, approvedAt: number) => {
      const { kind, name, definition } = at(text);
      const state = { ...approved, approvedAt };
      const digest = digestOf(definition);
      const pin = { kind, name, digest, state, firstSeenAt, lastSeenAt: 0 };
      await store.put({ sourceId: "s", pins: [pin] }, (await store.get("s"))?.version);
      return pins.refresh(["s"]);
    };
    assert.equal(await put("earlier", 10, 10), false);
    assert.deepEqual([codeOf(at("own")), codeOf(at("earlier"))], ["offered", "TOOL_DEFINITION_CHANGED"]);
    // It counts from its approval, not from when it was listed.
    assert.equal(await put("later", 10, 60), true);
    assert.deepEqual([codeOf(at("own")), codeOf(at("later"))], ["TOOL_DEFINITION_CHANGED", "offered"]);
  });

  it("keeps what is quarantined in the same record", async () => {
    await using directory = await makeTemporaryDirectory();
    const { store, save, codeOf } = await openGateway(directory.path);
    const state = { kind: "quarantined", code: "X", member: "y", reason: "z" } as const;
    const times = { firstSeenAt: 0, lastSeenAt: 0 };
    const held = { kind: "tool", name: "bad", digest: "sha256:0", state, ...times } as const;
    await store.put({ sourceId: "s", pins: [held] }, undefined);
    for (const text of ["a", "a"]) {
      assert.equal(codeOf(at(text), verified), "offered");
      await save();
    }
    const names = ((await store.get("s"))?.pins ?? []).map(({ name, state: { kind } }) => `${name} ${kind}`);
    assert.deepEqual(names, ["bad quarantined", "read pinned"]);
  });

  it("is stored as seen once a day, and after the clock was set back", async () => {
    await using directory = await makeTemporaryDirectory();
    const clock = { ms: 0 };
    const { store, save, codeOf } = await openGateway(directory.path, clock);
    const seen: unknown[] = [];
    for (const ms of [0, 86_399_999, 86_400_000, 5]) {
      clock.ms = ms;
      assert.equal(codeOf(at("a"), verified), "offered");
      await save();
      seen.push((await store.get("s"))?.pins[0]?.lastSeenAt);
    }
    assert.deepEqual(seen, [0, 0, 86_400_000, 5]);
  });
});

describe("pins that cannot be read", () => {
  const damage = (home: string) => {
    const [name = ""] = readdirSync(join(home, "pins")).filter((one) => one.endsWith(".json"));
    const path = join(home, "pins", name);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, "{");
    return () => writeFileSync(path, text);
  };

  it("hold everything of their server back until they are repaired, and are reported once", async () => {
    await using directory = await makeTemporaryDirectory();
    const { pins, codeOf, save, logged, counts } = await openGateway(directory.path);
    assert.equal(codeOf(at("a"), verified), "offered");
    await save();
    const repair = damage(directory.path);
    for (let count = 0; count < 2; count += 1)
      await assert.rejects(pins.approve("s", [at("b", "b")], operator), { code: "STORE_UNREADABLE" });
    const lost = "pins can no longer be read; all definitions of the server are held back";
    assert.deepEqual([logged, counts.unreadable], [[lost], 1]);
    assert.equal(codeOf(at("a"), verified), "TOOL_NOT_APPROVED");
    assert.equal(await pins.refresh(["s"]), false);
    assert.equal(codeOf(at("a"), verified), "TOOL_NOT_APPROVED");
    repair();
    assert.equal(await pins.refresh(["s", "none"]), true);
    assert.deepEqual(logged, [lost, "pins can be read again"]);
    assert.equal(codeOf(at("a"), verified), "offered");
    assert.equal(codeOf(at("b"), verified), "TOOL_DEFINITION_CHANGED");
  });

  it("hold back a server that is about to be added, whose definitions are otherwise those of the home", async () => {
    await using directory = await makeTemporaryDirectory();
    const [one, other] = [await openGateway(directory.path), await openGateway(directory.path)];
    assert.equal(other.codeOf(at("old"), verified), "offered");
    await one.pins.approve("s", [at("a")], operator);
    await other.pins.prepare(["s"]);
    assert.deepEqual(
      [other.codeOf(at("a")), other.codeOf(at("old"))],
      ["offered", "TOOL_DEFINITION_CHANGED"],
    );
    const repair = damage(directory.path);
    await other.pins.prepare(["s"]);
    assert.equal(other.codeOf(at("a")), "TOOL_NOT_APPROVED");
    assert.equal((await openGateway(directory.path)).codeOf(at("a")), "TOOL_NOT_APPROVED");
    repair();
    await other.pins.prepare(["s"]);
    assert.equal(other.codeOf(at("a")), "offered");
  });

  it("are none without a home: what was accepted is forgotten with the process", async () => {
    const { pins } = openPins(undefined);
    assert.equal(pins.check(at("a"), verified), undefined);
    await pins.prepare(["s"]);
    assert.equal(await pins.refresh(["s"]), false);
    await pins.approve("s", [at("b")], operator);
    assert.equal(pins.check(at("b"), asking), undefined);
  });
});
