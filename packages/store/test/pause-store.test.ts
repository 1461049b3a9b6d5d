/** The pauses of a home as its processes share them. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { createPauseStore } from "@toolcrib/store";
import { makeTemporaryDirectory } from "@toolcrib/testing";

const pausedBy = { issuer: "toolcrib:cli", subject: "cli" };

test("a pause is seen by other stores of the home, replaced and removed with its file", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  await using first = createPauseStore(home, { randomBytes });
  await using second = createPauseStore(home, { randomBytes });
  // Before the first read, it is not known what is paused.
  assert.equal(first.current().kind, "unreadable");
  await Promise.all([first.refresh(), second.refresh()]);
  assert.deepEqual(first.current(), { kind: "known", pauses: [] });
  assert.equal(existsSync(home), false);

  const pause = { kind: "server", name: "a", pausedBy, pausedAt: 1 } as const;
  await Promise.all([
    first.put(pause),
    second.put({ ...pause, name: "b", expiresAt: 50 }),
    second.put({ ...pause, kind: "all", name: "" }),
  ]);
  await first.put({ ...pause, reason: "again" });
  assert.deepEqual((await second.list(49)).map(({ kind, name, reason }) => [kind, name, reason]).sort(), [
    ["all", "", undefined],
    ["server", "a", "again"],
    ["server", "b", undefined],
  ]);
  assert.equal((await second.list(50)).length, 2);
  const state = second.current();
  await second.refresh();
  assert.equal(second.current(), state);
  // A later pause removes those that expired before it.
  await first.put({ ...pause, pausedAt: 60 });
  assert.doesNotMatch(readFileSync(directory.join("home/guards/pauses.json"), "utf8"), /"b"/);
  assert.deepEqual(await Promise.all([second.delete(pause), second.delete({ kind: "all", name: "" })]), [
    true,
    true,
  ]);
  assert.equal(await first.delete(pause), false);
  assert.equal(existsSync(directory.join("home/guards/pauses.json")), false);
});

test("a damaged file is unreadable until it is repaired, and never replaced", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  const path = directory.join("home/guards/pauses.json");
  await using store = createPauseStore(home, { randomBytes });
  const pause = { kind: "client", name: "ci", pausedBy, pausedAt: 1 } as const;
  await store.put(pause);
  const text = readFileSync(path, "utf8");
  for (const damaged of [
    "",
    "{}",
    text.slice(0, -3),
    text.replace("client", "disk"),
    text.replace("1,", "2,"),
  ]) {
    writeFileSync(path, damaged);
    await store.refresh();
    const state = store.current();
    assert.equal(state.kind, "unreadable", damaged);
    await store.refresh();
    assert.equal(store.current(), state);
    await assert.rejects(store.put(pause), { code: "STORE_UNREADABLE" });
    await assert.rejects(store.delete(pause), { code: "STORE_UNREADABLE" });
    await assert.rejects(store.list(1), { code: "STORE_UNREADABLE" });
    assert.equal(readFileSync(path, "utf8"), damaged);
  }
  writeFileSync(path, text);
  await store.refresh();
  assert.deepEqual(store.current(), { kind: "known", pauses: [pause] });
});

test("what is not valid is not stored", async () => {
  await using directory = await makeTemporaryDirectory();
  await using store = createPauseStore(directory.join("home"), { randomBytes });
  for (const pause of [
    { kind: "all", name: "x" },
    { kind: "tool", name: "" },
    { kind: "tool", name: "x", reason: "y".repeat(501) },
  ] as const) {
    await assert.rejects(store.put({ ...pause, pausedBy, pausedAt: 1 }), { code: "STORE_RECORD_TOO_LARGE" });
  }
});
