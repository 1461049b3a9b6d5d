import assert from "node:assert/strict";
import { test } from "node:test";
import { ToolIndex } from "@toolcrib/inventory";
import type { SourceChange, Tool, ToolSource } from "@toolcrib/tool";

/** A source whose tools a test changes. */
function sourceOf(id: string): ToolSource & { set(...names: readonly string[]): void } {
  let tools: readonly Tool[] = [];
  const listeners = new Set<(change: SourceChange) => void>();
  return {
    id,
    origin: "toolspec",
    set(...names) {
      tools = names.map((name) => ({
        id: `${id}:${name}`,
        namespace: id,
        tags: [],
        origin: "toolspec",
        sourceId: id,
        definition: { name, description: `Does ${name} for ${id}`, inputSchema: { type: "object" } },
      }));
      for (const listener of listeners) listener({ kind: "tools" });
    },
    start: async () => {},
    tools: () => tools,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    call: () => Promise.reject(new Error("never called")),
    health: () => ({ state: "ready", since: 0 }),
    async [Symbol.asyncDispose]() {},
  };
}

test("together() merges several changes into one, also when its callback throws", () => {
  const index = new ToolIndex();
  const sources = ["a", "b", "c"].map(sourceOf);
  const changes: string[][] = [];
  index.onChange((ids) => changes.push([...ids].sort()));
  for (const source of sources) index.add(source);
  const { generation } = index;
  index.together(() => {
    for (const source of sources) source.set("one", "two");
    assert.equal(index.tools.length, 0, "the index does not change before together() returns");
  });
  assert.deepEqual([index.tools.length, index.generation], [6, generation + 1]);
  assert.throws(() =>
    index.together(() => {
      sources[0]?.set("one");
      throw new Error("on the way");
    }),
  );
  assert.equal(index.tools.length, 5);
  sources[1]?.set();
  assert.deepEqual(changes, [["a", "b", "c"], ["a"], ["b"]]);
  index.together(() => {});
  assert.equal(changes.length, 3, "listeners are not notified when nothing changed");
});

test("a search reflects added, changed and removed tools, however many were indexed before it", () => {
  for (const prepared of [0, 1, 3, 100]) {
    const index = new ToolIndex();
    const source = sourceOf("a");
    index.add(source);
    source.set("paint", "weld", "drill");
    const isLeft = index.indexPending(prepared);
    assert.equal(isLeft, prepared < 3, `${prepared} indexed`);
    source.set("weld", "solder");
    const find = (word: string) => index.search.search(word, { limit: 5 }).map(({ id }) => id);
    assert.deepEqual([find("paint"), find("weld"), find("solder")], [[], ["a:weld"], ["a:solder"]]);
    assert.equal(index.search.size, 2);
    assert.equal(index.indexPending(1), false);
  }
});
