/** Contract tests of `PinStore`, for every engine. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Pin, PinStore, SourcePins } from "@toolcrib/store";
import { makeTemporaryDirectory } from "../temporary-directory.ts";

function pinOf(name: string, changes: Partial<Pin> = {}): Pin {
  const state = {
    kind: "quarantined",
    code: "TOOL_DEFINITION_INVALID",
    member: "title",
    reason: "r",
  } as const;
  return { kind: "tool", name, digest: "sha256:1", state, firstSeenAt: 1000, lastSeenAt: 2000, ...changes };
}

function pinsOf(sourceId: string, ...pins: readonly Pin[]): SourcePins {
  return { sourceId, pins };
}

type WithStores = (run: (store: PinStore, other: PinStore) => Promise<void>) => Promise<void>;

/**
 * Defines the tests.
 *
 * @param open opens a store of `home`; several open stores of one home share their pins.
 */
export function testPinStore(engine: string, open: (home: string) => Promise<PinStore>): void {
  const withStores: WithStores = async (run) => {
    await using directory = await makeTemporaryDirectory();
    await using store = await open(directory.path);
    await using other = await open(directory.path);
    await run(store, other);
  };
  describe(`PinStore: ${engine}`, () => {
    testContent(withStores);
    testLimits(withStores);

    test("put() creates and replaces the pins of a source, also for a store that is opened later", async () => {
      await using directory = await makeTemporaryDirectory();
      const changed = pinsOf("a", pinOf("x", { digest: "sha256:2" }), pinOf("y"));
      {
        await using store = await open(directory.path);
        assert.equal(await store.get("a"), undefined);
        assert.deepEqual(await store.list(), { sources: [], problems: [] });
        const first = await store.put(pinsOf("a", pinOf("x")), undefined);
        assert.deepEqual(first, { ...pinsOf("a", pinOf("x")), version: 1 });
        assert.deepEqual(await store.get("a"), first);
        assert.equal((await store.put(changed, 1)).version, 2);
      }
      await using store = await open(directory.path);
      assert.deepEqual(await store.get("a"), { ...changed, version: 2 });
      assert.deepEqual((await store.list()).sources, [{ ...changed, version: 2 }]);
    });

    test("put() refuses a version that another store replaced", () =>
      withStores(async (store, other) => {
        const conflict = { code: "STORE_CONFLICT" };
        await store.put(pinsOf("a"), undefined);
        await assert.rejects(other.put(pinsOf("a", pinOf("x")), undefined), conflict);
        await other.put(pinsOf("a", pinOf("x")), 1);
        await assert.rejects(store.put(pinsOf("a"), 1), conflict);
        await assert.rejects(store.put(pinsOf("b"), 1), conflict);
        assert.deepEqual((await store.get("a"))?.pins, [pinOf("x")]);
        assert.equal(await store.get("b"), undefined);
      }));

    test("of several stores that put the same version, one succeeds", () =>
      withStores(async (store, other) => {
        const puts = [store, other, store, other].map((one, at) =>
          one.put(pinsOf("a", pinOf(`x${at}`)), undefined),
        );
        const settled = await Promise.allSettled(puts);
        assert.equal(settled.filter(({ status }) => status === "fulfilled").length, 1);
      }));

    test("delete() removes the pins of a source of the expected version", () =>
      withStores(async (store, other) => {
        await store.put(pinsOf("a", pinOf("x")), undefined);
        await store.put(pinsOf("b", pinOf("x")), undefined);
        await assert.rejects(other.delete("a", 2), { code: "STORE_CONFLICT" });
        await other.delete("a", 1);
        assert.equal(await store.get("a"), undefined);
        await assert.rejects(store.delete("a", 1), { code: "STORE_CONFLICT" });
        assert.deepEqual(
          (await store.list()).sources.map(({ sourceId }) => sourceId),
          ["b"],
        );
      }));

    test("a closed store refuses changes and queries", () =>
      withStores(async (store) => {
        await store[Symbol.asyncDispose]();
        const closed = { code: "STORE_CLOSED" };
        await assert.rejects(store.get("a"), closed);
        await assert.rejects(store.list(), closed);
        await assert.rejects(async () => store.put(pinsOf("a"), undefined), closed);
        await assert.rejects(async () => store.delete("a", 1), closed);
      }));
  });
}

function testContent(withStores: WithStores): void {
  test("pins of every kind and state are kept", () =>
    withStores(async (store, other) => {
      const approvedBy = { issuer: "toolcrib:cli", subject: "operator" };
      const pins = [
        pinOf("x"),
        pinOf("x", { state: { kind: "pinned" }, definition: { name: "x", inputSchema: { type: "object" } } }),
        pinOf("x", { kind: "prompt", state: { kind: "pinned" } }),
        pinOf("x", { kind: "resource", state: { kind: "approved", approvedBy, approvedAt: 3000 } }),
        pinOf("__proto__", {
          kind: "resourceTemplate",
          state: { kind: "quarantined", code: "TOOL_NAME_COLLISION", reason: "" },
        }),
      ];
      await store.put(pinsOf("a", ...pins), undefined);
      assert.deepEqual((await other.get("a"))?.pins, pins);
    }));

  test("sources with similar or unusual ids are distinct", () =>
    withStores(async (store, other) => {
      const ids = ["../a", "A", "__proto__", "a", "a.b", "a_b", "con", "x".repeat(64)];
      for (const id of ids) await store.put(pinsOf(id, pinOf(id)), undefined);
      assert.deepEqual(
        (await other.list()).sources.map(({ sourceId, pins }) => [sourceId, pins[0]?.name]),
        ids.map((id) => [id, id]),
      );
    }));
}

function testLimits(withStores: WithStores): void {
  const tooLarge = { code: "STORE_RECORD_TOO_LARGE" };

  test("put() refuses too many pins, too large ones, and two quarantined ones of one kind and name", () =>
    withStores(async (store) => {
      const many = Array.from({ length: 15_001 }, (_, at) => pinOf(`x${at}`));
      await assert.rejects(store.put(pinsOf("a", ...many), undefined), tooLarge);
      const large = Array.from({ length: 4000 }, (_, at) => pinOf(`${at}${"x".repeat(8000)}`));
      await assert.rejects(store.put(pinsOf("a", ...large), undefined), tooLarge);
      await assert.rejects(store.put(pinsOf("a", pinOf("x"), pinOf("x")), undefined), tooLarge);
      await assert.rejects(store.put(pinsOf("a", pinOf("")), undefined), tooLarge);
      assert.deepEqual(await store.list(), { sources: [], problems: [] });
      await store.put(pinsOf("a", ...many.slice(1)), undefined);
      assert.equal((await store.get("a"))?.pins.length, 15_000);
    }));
}
