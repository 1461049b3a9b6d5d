import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
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
  assert.deepEqual(await store.list(), []);
  assert.throws(() => statSync(home), /ENOENT/);
  await store.put(pins, undefined);
  const [name = ""] = readdirSync(join(home, "pins"));
  assert.match(name, /^a-[0-9a-f]{32}\.json$/);
  if (process.platform !== "win32") assert.equal(statSync(join(home, "pins", name)).mode & 0o777, 0o600);
  await store.delete("a", 1);
  assert.deepEqual(readdirSync(join(home, "pins")), []);
});

test("a damaged file counts as no pins, is reported once, and is kept by a change", async () => {
  const record = (changes: object) =>
    JSON.stringify({ format: 1, records: [{ ...pins, version: 1, ...changes }] });
  const texts = ["", "{", "[]", record({ sourceId: "b" }), record({ pins: [{ ...pin, state: {} }] })];
  for (const text of texts) {
    await withFile(async (home, path) => {
      writeFileSync(path, text);
      const problems: string[] = [];
      const onProblem = ({ code }: { readonly code: string }) => problems.push(code);
      await using store = createPinStore(home, { randomBytes, onProblem });
      assert.equal(await store.get("a"), undefined);
      assert.deepEqual(
        (await store.list()).map(({ sourceId }) => sourceId),
        ["b"],
      );
      assert.equal(readFileSync(path, "utf8"), text);
      assert.equal((await store.put(pins, undefined)).version, 1);
      assert.deepEqual(await store.get("a"), { ...pins, version: 1 });
      assert.equal(readFileSync(`${path}.damaged-1`, "utf8"), text);
      assert.deepEqual(problems, ["STORE_UNREADABLE"]);
    });
  }
});

test("of a file that is damaged again and again, ten copies are kept, and then it is not replaced", async () => {
  await withFile(async (home, path) => {
    await using store = createPinStore(home, { randomBytes });
    for (let count = 1; count <= 10; count += 1) {
      writeFileSync(path, `damaged ${count}`);
      await store.put(pins, undefined);
    }
    writeFileSync(path, "damaged 11");
    await assert.rejects(store.put(pins, undefined), { code: "STORE_UNREADABLE" });
    assert.equal(readFileSync(path, "utf8"), "damaged 11");
    for (let count = 1; count <= 10; count += 1)
      assert.equal(readFileSync(`${path}.damaged-${count}`, "utf8"), `damaged ${count}`);
  });
});

test("a file of a later version cannot be read, is reported once, and is never replaced", async () => {
  await withFile(async (home, path) => {
    const text = '{"format":2,"records":[]}';
    writeFileSync(path, text);
    const problems: string[] = [];
    const onProblem = ({ message }: { readonly message: string }) => problems.push(message);
    await using store = createPinStore(home, { randomBytes, onProblem });
    await assert.rejects(store.get("a"), { code: "STORE_UNREADABLE" });
    await assert.rejects(store.put(pins, undefined), { code: "STORE_UNREADABLE" });
    for (let count = 0; count < 2; count += 1)
      assert.deepEqual(
        (await store.list()).map(({ sourceId }) => sourceId),
        ["b"],
      );
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? "", /its format is 2, and this version of Toolcrib supports 1$/);
    assert.equal(readFileSync(path, "utf8"), text);
  });
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
