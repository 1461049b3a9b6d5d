/** Contract tests of `SavedToolStore`, for every engine. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { SavedTool, SavedToolChange, SavedToolDefinition, SavedToolStore } from "@toolcrib/store";
import { makeTemporaryDirectory } from "../temporary-directory.ts";
import { waitUntil } from "../wait-until.ts";

function definitionOf(changes: Partial<SavedToolDefinition> = {}): SavedToolDefinition {
  const inputSchema = { type: "object", properties: { n: { type: "number" } } };
  return { name: "double", description: "Double", inputSchema, code: "return 2 * params.n\n", ...changes };
}

/**
 * Defines the tests.
 *
 * @param open opens a store of `location`. Several open stores of one location share their tools.
 */
export function testSavedToolStore(
  engine: string,
  open: (location: string) => Promise<SavedToolStore>,
): void {
  describe(`SavedToolStore: ${engine}`, () => {
    test("save() creates and replaces a tool that every store of the location returns", async () => {
      await using directory = await makeTemporaryDirectory();
      const location = directory.join("tools");
      await using store = await open(location);
      await using other = await open(location);
      const created = await store.save(definitionOf({ toolcrib: { reach: { tools: [] } } }));
      assert.equal(created.previous, undefined);
      assert.deepEqual(await other.get("double"), created.tool);
      const replaced = await other.save(definitionOf({ code: "return 0\n" }));
      assert.deepEqual(replaced.previous, created.tool);
      assert.equal(replaced.tool.toolcrib, undefined);
      assert.equal(replaced.tool.metadata.created, created.tool.metadata.created);
      assert.deepEqual(await store.list(), [replaced.tool]);
      assert.deepEqual(store.current(), [replaced.tool]);
    });

    testVersions(open);

    test("save() refuses invalid definitions, and names that are confusable or reserved", async () => {
      await using directory = await makeTemporaryDirectory();
      await using store = await open(directory.join("tools"));
      await store.save(definitionOf());
      const rows: readonly [Parameters<typeof definitionOf>[0], string][] = [
        [{ name: "../x" }, "METATOOL_NAME_INVALID"],
        [{ name: "Double" }, "METATOOL_NAME_TAKEN"],
        [{ name: "reserved" }, "METATOOL_NAME_RESERVED"],
        [{ code: "x".repeat(102_401) }, "METATOOL_FIELD_TOO_LARGE"],
      ];
      for (const [changes, code] of rows) await assert.rejects(store.save(definitionOf(changes)), { code });
      assert.equal((await store.list()).length, 1);
    });

    test("delete() returns the deleted tool, and a new tool of that name starts with a count of 0", async () => {
      await using directory = await makeTemporaryDirectory();
      const location = directory.join("tools");
      {
        await using store = await open(location);
        await store.save(definitionOf());
        for (const at of [1000, 2000]) store.recordExecution("double", at);
      }
      await using store = await open(location);
      const deleted = await store.delete("double");
      assert.equal(deleted?.metadata.executionCount, 2);
      assert.equal(deleted?.metadata.lastExecuted, "1970-01-01T00:00:02.000Z");
      assert.equal(await store.delete("double"), undefined);
      await store.save(definitionOf());
      assert.equal((await store.get("double"))?.metadata.executionCount, 0);
    });

    test("onChange() reports changes of definitions by any store, and no counters", async () => {
      await using directory = await makeTemporaryDirectory();
      const location = directory.join("tools");
      await using store = await open(location);
      await using other = await open(location);
      const changes: SavedToolChange[] = [];
      const unsubscribe = store.onChange((change) => changes.push(change));
      await other.save(definitionOf());
      await waitUntil(async () => (await store.list()).length === 1 && changes.length === 1);
      assert.deepEqual(changes, [{ changed: ["double"], removed: [] }]);
      store.recordExecution("double", 1);
      await store.flush();
      await other.delete("double");
      await waitUntil(async () => (await store.list()).length === 0 && changes.length === 2);
      assert.deepEqual(changes[1], { changed: [], removed: ["double"] });
      unsubscribe();
      await store.save(definitionOf());
      assert.equal(changes.length, 2);
    });

    test("a closed store refuses changes and queries", async () => {
      await using directory = await makeTemporaryDirectory();
      const store = await open(directory.join("tools"));
      await store[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      await assert.rejects(store.save(definitionOf()), { code: "METATOOL_CLOSED" });
      await assert.rejects(store.list(), { code: "METATOOL_CLOSED" });
    });
  });
}

/** Tests changes of a version that another process replaced. */
function testVersions(open: (directory: string) => Promise<SavedToolStore>): void {
  test("save() with expectedModified refuses a tool that was changed or deleted meanwhile", async () => {
    await using directory = await makeTemporaryDirectory();
    const location = directory.join("tools");
    await using store = await open(location);
    await using other = await open(location);
    const { tool } = await store.save(definitionOf());
    const expectedModified = tool.metadata.modified;
    await other.save(definitionOf({ code: "return 1\n" }));
    const changed = { code: "METATOOL_CHANGED_MEANWHILE" };
    await assert.rejects(store.save(definitionOf(), { expectedModified }), changed);
    await other.delete("double");
    await assert.rejects(store.save(definitionOf(), { expectedModified }), changed);
    assert.equal(await store.get("double"), undefined);
  });

  test("save() with isNew refuses a tool that another process created meanwhile", async () => {
    await using directory = await makeTemporaryDirectory();
    const location = directory.join("tools");
    await using store = await open(location);
    await using other = await open(location);
    await other.save(definitionOf(), { isNew: true });
    const again = store.save(definitionOf({ code: "return 1\n" }), { isNew: true });
    await assert.rejects(again, { code: "METATOOL_CHANGED_MEANWHILE" });
    assert.equal((await store.get("double"))?.code, definitionOf().code);
  });

  test("delete() with expectedModified refuses a tool that was changed meanwhile", async () => {
    await using directory = await makeTemporaryDirectory();
    const location = directory.join("tools");
    await using store = await open(location);
    await using other = await open(location);
    const before = await store.save(definitionOf());
    const after = await other.save(definitionOf({ code: "return 1\n" }));
    const deleted = (tool: SavedTool) => store.delete("double", { expectedModified: tool.metadata.modified });
    await assert.rejects(deleted(before.tool), { code: "METATOOL_CHANGED_MEANWHILE" });
    assert.equal((await deleted(after.tool))?.code, "return 1\n");
    assert.equal(await deleted(after.tool), undefined);
  });
}
