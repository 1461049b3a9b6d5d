import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { isCodedError } from "@toolcrib/diagnostics";
import { openSecretStore, type SecretChange, type SecretStore } from "@toolcrib/secrets";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";

/** A clock that is a second later each time. */
function steppingClock(): () => number {
  let now = 0;
  return () => {
    now += 1000;
    return now;
  };
}

function openStore(home: string, key?: string): Promise<SecretStore> {
  return openSecretStore(
    { home, environment: key === undefined ? {} : { TOOLCRIB_SECRETS_KEY: key } },
    { clock: steppingClock(), randomBytes },
  );
}

async function rejectsWith(code: string, action: Promise<unknown>): Promise<void> {
  await assert.rejects(
    action,
    (error) => isCodedError(error) && error.code === code && error.hint !== undefined,
  );
}

const newKey = () => randomBytes(32).toString("base64");

test("set() keeps a secret that get() gives back, also to a store that is opened later", async () => {
  await using directory = await makeTemporaryDirectory();
  const values = ["x", "hunter2", " spaces ", "line\nline\n", "日本語 🗝️", "x".repeat(64 * 1024)];
  {
    await using store = await openStore(directory.path);
    for (const [at, value] of values.entries()) assert.equal(await store.set(`name-${at}`, value), "created");
  }
  await using store = await openStore(directory.path);
  for (const [at, value] of values.entries()) assert.equal(await store.get(`name-${at}`), value);
  assert.equal(await store.get("absent"), undefined);
});

test("openSecretStore() makes nothing before the first secret", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  await using store = await openStore(home);
  assert.equal(await store.get("a"), undefined);
  assert.deepEqual(await store.list(), []);
  assert.equal(await store.delete("a"), false);
  assert.throws(() => readFileSync(home), /ENOENT/);
});

test("list() tells names and times, and a replaced secret keeps the time of its creation", async () => {
  await using directory = await makeTemporaryDirectory();
  await using store = await openStore(directory.path);
  await store.set("b", "first");
  await store.set("a", "other");
  assert.equal(await store.set("b", "second"), "changed");
  assert.deepEqual(
    (await store.list()).map(({ name, createdAt, updatedAt }) => ({
      name,
      isLater: createdAt !== undefined && updatedAt !== undefined && updatedAt - createdAt > 1000,
    })),
    [
      { name: "a", isLater: false },
      { name: "b", isLater: true },
    ],
  );
  assert.doesNotMatch(JSON.stringify(await store.list()), /first|second|other/);
});

test("delete() removes a secret and tells whether it was there", async () => {
  await using directory = await makeTemporaryDirectory();
  await using store = await openStore(directory.path);
  await store.set("a", "1");
  await store.set("b", "2");
  assert.equal(await store.delete("a"), true);
  assert.equal(await store.delete("a"), false);
  assert.equal(await store.get("a"), undefined);
  assert.equal(await store.get("b"), "2");
});

test("rename() moves a secret, and never over another", async () => {
  await using directory = await makeTemporaryDirectory();
  await using store = await openStore(directory.path);
  await store.set("a", "1");
  await store.set("b", "2");
  const [before] = await store.list();
  await store.rename("a", "A");
  assert.equal(await store.get("A"), "1");
  assert.equal(await store.get("a"), undefined);
  assert.equal((await store.list())[0]?.createdAt, before?.createdAt);
  await rejectsWith("SECRETS_EXISTS", store.rename("A", "b"));
  await rejectsWith("SECRETS_EXISTS", store.rename("A", "B"));
  await rejectsWith("SECRETS_NOT_FOUND", store.rename("absent", "c"));
  assert.equal(await store.get("A"), "1");
  assert.equal(await store.get("b"), "2");
});

test("set() refuses values that cannot be kept, and names that cannot be", async () => {
  await using directory = await makeTemporaryDirectory();
  await using store = await openStore(directory.path);
  for (const value of ["", " \n", "a\0b", "\ud800", "x".repeat(64 * 1024 + 1), "é".repeat(33 * 1024)]) {
    await rejectsWith("SECRETS_VALUE_INVALID", store.set("a", value));
  }
  for (const name of ["", ".", "a b", "a.", "x".repeat(129), "ä"]) {
    await rejectsWith("SECRETS_NAME_INVALID", store.set(name, "value"));
  }
  await store.set("Token", "value");
  await rejectsWith("SECRETS_EXISTS", store.set("TOKEN", "value"));
  for (const name of ["a", "key", "A-b_c.d", "__proto__", "constructor", "x".repeat(128)]) {
    assert.equal(await store.set(name, name), "created");
    assert.equal(await store.get(name), name);
  }
});

test("the key comes from the environment where it is given, in base64 or hexadecimal", async () => {
  await using directory = await makeTemporaryDirectory();
  const key = randomBytes(32);
  {
    await using store = await openStore(directory.path, key.toString("base64"));
    await store.set("a", "1");
  }
  for (const text of [key.toString("base64url"), key.toString("hex"), ` ${key.toString("base64")}\n`]) {
    await using store = await openStore(directory.path, text);
    assert.equal(await store.get("a"), "1");
  }
  for (const text of ["short", "x".repeat(44), key.subarray(1).toString("base64")]) {
    await using store = await openStore(directory.path, text);
    await rejectsWith("SECRETS_KEY_INVALID", store.get("a"));
  }
  assert.throws(() => readFileSync(directory.join("secrets/.store/key")), /ENOENT/);
});

test("another key opens nothing and replaces nothing", async () => {
  await using directory = await makeTemporaryDirectory();
  const key = newKey();
  await using right = await openStore(directory.path, key);
  await right.set("a", "1");
  await using wrong = await openStore(directory.path, newKey());
  await rejectsWith("SECRETS_KEY_WRONG", wrong.get("a"));
  await rejectsWith("SECRETS_KEY_WRONG", wrong.set("a", "2"));
  await rejectsWith("SECRETS_KEY_WRONG", wrong.set("b", "2"));
  await rejectsWith("SECRETS_KEY_WRONG", wrong.rename("a", "b"));
  assert.deepEqual(
    (await wrong.list()).map(({ name, problem }) => [name, problem?.code]),
    [["a", "SECRETS_KEY_WRONG"]],
  );
  assert.equal(await right.get("a"), "1");
});

test("no new key is made while secrets need the one that is gone", async () => {
  await using directory = await makeTemporaryDirectory();
  await using store = await openStore(directory.path);
  await store.set("a", "1");
  const keyPath = directory.join("secrets/.store/key");
  renameSync(keyPath, `${keyPath}.away`);
  await rejectsWith("SECRETS_KEY_MISSING", store.get("a"));
  await rejectsWith("SECRETS_KEY_MISSING", store.set("b", "2"));
  renameSync(`${keyPath}.away`, keyPath);
  assert.equal(await store.get("a"), "1");
  rmSync(keyPath);
  assert.equal(await store.delete("a"), true, "removing needs no key");
  assert.equal(await store.set("a", "new"), "created");
});

test("a damaged secret is told as such, keeps no other from working, and can be set again", async () => {
  await using directory = await makeTemporaryDirectory();
  await using store = await openStore(directory.path);
  await store.set("a", "1");
  await store.set("b", "2");
  writeFileSync(directory.join("secrets/.store/a.sealed"), "{}", { mode: 0o600 });
  await rejectsWith("SECRETS_DAMAGED", store.get("a"));
  assert.equal(await store.get("b"), "2");
  assert.deepEqual(
    (await store.list()).map(({ name, problem }) => [name, problem?.code]),
    [
      ["a", "SECRETS_DAMAGED"],
      ["b", undefined],
    ],
  );
  await store.set("c", "3");
  await store.set("a", "again");
  assert.equal(await store.get("a"), "again");
});

test("a store of a later version is not taken for a damaged one", async () => {
  await using directory = await makeTemporaryDirectory();
  await using store = await openStore(directory.path);
  await store.set("a", "1");
  const path = directory.join("secrets/.store/a.sealed");
  writeFileSync(path, readFileSync(path, "utf8").replace('"version":1', '"version":2'));
  await assert.rejects(store.get("a"), /its format is version 2, and this Toolcrib knows 1/);
});

test("watch() tells of every secret that another store sets or removes, without its value", async () => {
  await using directory = await makeTemporaryDirectory();
  await using store = await openStore(directory.path);
  await using other = await openStore(directory.path);
  const changes: SecretChange[] = [];
  const watching = await store.watch((change) => changes.push(change));
  const told = (expected: SecretChange) =>
    waitUntil(() => changes.some(({ kind, name }) => kind === expected.kind && name === expected.name), {
      what: `${expected.name} is told as ${expected.kind}`,
    });
  await other.set("a", "1");
  await told({ kind: "set", name: "a" });
  changes.length = 0;
  await other.set("a", "2");
  await told({ kind: "set", name: "a" });
  assert.equal(await store.get("a"), "2", "what was told is what is read");
  await other.rename("a", "b");
  await told({ kind: "set", name: "b" });
  await told({ kind: "removed", name: "a" });
  assert.doesNotMatch(JSON.stringify(changes), /value/);
  await watching[Symbol.asyncDispose]();
  changes.length = 0;
  await other.set("c", "3");
  await watching[Symbol.asyncDispose]();
  assert.deepEqual(changes, []);
});
