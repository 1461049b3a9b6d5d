/** Many calls of one modern client at a legacy server that asks: they share a limited number of sessions. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { canFindProcesses, findProcessesByEnvironment, waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import { createCall, echoStdio, startSource, type TestCall, type TestSource } from "./source-harness.ts";

const skip = !canFindProcesses;
const burst = 50;

/** A call of a client of 2026-07-28 that can be asked for its roots. */
function modernCall(name: string): TestCall {
  return { ...createCall({ name }), era: "modern", clientCapabilities: { roots: {} }, rounds: {} };
}

/** Counts processes of the source while `work` runs: the most at a time, and all that ran. */
async function countWhile(
  source: TestSource,
  work: Promise<unknown>,
): Promise<{ most: number; all: Set<number> }> {
  const all = new Set<number>();
  let most = 0;
  let isOver = false;
  const count = async () => {
    while (!isOver) {
      const found = findProcessesByEnvironment(source.marker);
      most = Math.max(most, found.length);
      for (const { pid } of found) all.add(pid);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const counting = count();
  try {
    await work;
  } finally {
    isOver = true;
    await counting;
  }
  return { most, all };
}

test("a burst of calls of one client uses the sessions that became free, and few processes", {
  skip,
}, async () => {
  await using source = await startSource({
    transport: echoStdio(),
    isInteractive: "learnt",
    limits: { maxClientSessions: 8 },
  });
  // The server is known to ask from now on.
  await source.call("ask_roots", {}, modernCall("ada"));
  const calls = (name: string) =>
    Promise.all(
      Array.from({ length: burst }, () => source.text("echo", { message: "hi" }, modernCall(name))),
    );
  for (let round = 0; round < 2; round += 1) {
    const { most, all } = await countWhile(source, calls("ada"));
    // One process is that of the session that all clients share.
    assert.ok(most <= 1 + 4, `${most} processes at a time`);
    assert.ok(all.size <= 1 + 4, `${all.size} processes in all`);
    assert.ok(source.server.facts().clientSessions <= 4, String(source.server.facts().clientSessions));
  }
  // A second client gets its share, and the sum stays within the limit.
  const { most } = await countWhile(source, Promise.all([calls("ada"), calls("bob"), calls("cid")]));
  assert.ok(most <= 1 + 8, `${most} processes at a time`);
});

test("calls that wait for answers hold their sessions up to the share of their client", {
  skip,
}, async () => {
  await using source = await startSource({
    transport: echoStdio(),
    limits: { maxClientSessions: 12, sessionWaitMs: 60_000 },
  });
  const asked: JsonObject[] = [];
  const asking = Array.from({ length: 12 }, async () => {
    asked.push((await source.call("ask_roots", {}, modernCall("ada"))) as unknown as JsonObject);
  });
  const { most } = await countWhile(
    source,
    waitUntil(() => asked.length === 6, { what: "six calls ask" }),
  );
  assert.ok(most <= 1 + 6, `${most} processes at a time`);
  // Each answer lets a waiting call go on.
  for (let at = 0; at < 12; at += 1) {
    await waitUntil(() => asked.length > at, { what: `call ${at} asks` });
    const { inputRequests, requestState } = asked[at] as JsonObject;
    const [key = ""] = Object.keys(inputRequests as JsonObject);
    const rounds = { responses: { [key]: { roots: [] } }, state: String(requestState) };
    await source.call("ask_roots", {}, { ...modernCall("ada"), rounds });
  }
  await Promise.all(asking);
  assert.ok(source.server.facts().clientSessions <= 6);
});

test("the place of a session is free when its process has ended", { skip }, async () => {
  await using source = await startSource({ transport: echoStdio(), limits: { maxClientSessions: 2 } });
  const callAs = (name: string) =>
    source.call("echo", {}, { ...modernCall(name), identity: localIdentity("token", name) });
  const work = (async () => {
    for (const name of ["a", "b", "c", "d", "e"]) await callAs(name);
  })();
  const { most } = await countWhile(source, work);
  assert.ok(most <= 1 + 2, `${most} processes at a time`);
});
