import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createPinStore, type Pin } from "@toolcrib/store";
import { makeTemporaryDirectory, testPinStore } from "@toolcrib/testing";

testPinStore("files", async (home) => createPinStore(home, { randomBytes }));

const pin: Pin = {
  kind: "tool",
  name: "x",
  digest: "sha256:1",
  state: { kind: "pinned" },
  firstSeenAt: 1,
  lastSeenAt: 1,
};
const pins = { sourceId: "a", pins: [pin] };

/** Creates a home with pins of the sources "a" and "b" and runs `test` with the path of the file of "a". */
async function withFile(run: (home: string, path: string) => Promise<void>): Promise<void> {
  await using directory = await makeTemporaryDirectory();
  await using store = createPinStore(directory.path, { randomBytes });
  await store.put(pins, undefined);
  const [name = ""] = readdirSync(directory.join("pins"));
  await store.put({ ...pins, sourceId: "b" }, undefined);
  await run(directory.path, join(directory.path, "pins", name));
}

test("a file of pins is created with the first pin, and only its owner can read it", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  await using store = createPinStore(home, { randomBytes });
  assert.deepEqual((await store.list()).sources, []);
  assert.throws(() => statSync(home), /ENOENT/);
  await store.put(pins, undefined);
  const [name = ""] = readdirSync(join(home, "pins"));
  assert.match(name, /^a-[0-9a-f]{32}\.json$/);
  if (process.platform !== "win32") assert.equal(statSync(join(home, "pins", name)).mode & 0o777, 0o600);
  await store.delete("a", 1);
  assert.deepEqual(readdirSync(join(home, "pins")), []);
});

test("a damaged file, or one of a later version, is never taken for no pins and never replaced", async () => {
  const record = (changes: object) =>
    JSON.stringify({ format: 1, records: [{ ...pins, version: 1, ...changes }] });
  const damaged = [
    "",
    "{",
    "[]",
    '{"format":1,"records":[]}',
    record({ sourceId: "b" }),
    record({ pins: [{ ...pin, state: {} }] }),
  ];
  const later = '{"format":2,"records":[]}';
  for (const text of [...damaged, later]) {
    await withFile(async (home, path) => {
      writeFileSync(path, text);
      await using store = createPinStore(home, { randomBytes });
      const unreadable = { code: "STORE_UNREADABLE" };
      await assert.rejects(store.get("a"), unreadable);
      for (const version of [undefined, 1]) await assert.rejects(store.put(pins, version), unreadable);
      await assert.rejects(store.delete("a", 1), unreadable);
      const { sources, problems } = await store.list();
      assert.deepEqual(
        sources.map(({ sourceId }) => sourceId),
        ["b"],
      );
      assert.match(problems[0]?.message ?? "", text === later ? /its format is 2, and/ : /is damaged$/);
      assert.equal(problems.length, 1);
      assert.equal(readFileSync(path, "utf8"), text);
      // The operator decides that the definitions count as new.
      rmSync(path);
      assert.equal(await store.get("a"), undefined);
      assert.equal((await store.put(pins, undefined)).version, 1);
    });
  }
});

test("put() refuses more than 1,000 sources", async () => {
  await using directory = await makeTemporaryDirectory();
  mkdirSync(directory.join("pins"));
  for (let at = 0; at < 999; at += 1) writeFileSync(directory.join("pins", `source-${at}.json`), "");
  await using store = createPinStore(directory.path, { randomBytes });
  await store.put(pins, undefined);
  await assert.rejects(store.put({ ...pins, sourceId: "b" }, undefined), { code: "STORE_FULL" });
  assert.equal((await store.put(pins, 1)).version, 2);
});
