/** Tasks of a server that numbers them anew in each of its processes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { waitUntil } from "@toolcrib/testing";
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
function startTask(source: TestSource, ms: number, client: TestClient, onAccepted: () => void = () => {}) {
  const task = {
    ttlMs: 60_000,
    remote: undefined,
    isLeft: false,
    accepted: async () => onAccepted(),
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

test("of two tasks with the same id whose clients left, one is lost, and none gets the result of the other", async () => {
  await using source = await startSource({ transport });
  const clients = ["a", "b"].map((name) => createAskableClient(name));
  let accepted = 0;
  const tasks = clients.map((client) => startTask(source, 60_000, client, () => (accepted += 1)));
  const ended = Promise.allSettled(tasks);
  await waitUntil(() => accepted === 2);
  for (const client of clients) client.leave();
  const [lost, other] = (await ended).toSorted((one) => (one.status === "rejected" ? -1 : 1));
  assert.equal(lost?.status, "rejected");
  assert.equal((lost.reason as { readonly code?: string }).code, "UPSTREAM_TASK_LOST");
  assert.match(
    String(lost.reason),
    /does not know the task of this call any more: its taskId is that of another task/,
  );
  // It is followed on the shared session, where the server knows the id.
  assert.equal(other?.status, "fulfilled");
});

test("a call that ends cancels its task at the server, also for a caller that asks for no news of that", async () => {
  await using source = await startSource({ transport });
  const news: Promise<boolean>[] = [];
  for (const [at, more] of [{ cancelling: (sent: Promise<boolean>) => void news.push(sent) }, {}].entries()) {
    const ended = new AbortController();
    const task = {
      ttlMs: 60_000,
      remote: undefined,
      isLeft: false,
      accepted: async () => ended.abort(new Error("over")),
      changed() {},
      ...more,
    };
    const call = { ...createCall({ signal: ended.signal }), task };
    await assert.rejects(source.call("slow", { ms: 60_000 }, call), /over/);
    const wanted = ["1", "1,2"][at];
    const cancelled = async () => textOf(await source.call("cancelled", {}, createCall()));
    await waitUntil(async () => (await cancelled()) === wanted, { what: `task ${at + 1} is cancelled` });
  }
  assert.deepEqual(await Promise.all(news), [true]);
});
