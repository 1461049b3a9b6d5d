/** Tasks of a server that numbers them anew in each of its processes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createAskableClient,
  createCall,
  nodeStdio,
  startSource,
  type TestClient,
  type TestSource,
  textOf,
} from "./source-harness.ts";

const transport = nodeStdio(new URL("./fixtures/counted-tasks.ts", import.meta.url).pathname);

/** Calls `slow` as a task. @returns the text of its result */
function startTask(source: TestSource, ms: number, client: TestClient) {
  const task = {
    ttlMs: 60_000,
    remote: undefined,
    isLeft: false,
    accepted: async () => {},
    changed() {},
  };
  return source.call("slow", { ms }, { ...createCall({ client }), task }).then(textOf);
}

test("tasks with the same id run on the sessions of two clients, and each gets its own result", async () => {
  await using source = await startSource({ transport });
  const tasks = ["a", "b"].map((name) => startTask(source, 500, createAskableClient(name)));
  const results = await Promise.all(tasks);
  assert.deepEqual(
    results.map((text) => text.split(" ")[0]),
    ["1", "1"],
  );
  assert.equal(new Set(results).size, 2);
});
