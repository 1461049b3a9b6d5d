import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { openSecretStore } from "@toolcrib/secrets";
import type { SecretStore } from "@toolcrib/store";
import { makeTemporaryDirectory, rejectsWith, testSecretStore } from "@toolcrib/testing";

/** Returns a clock that advances by a second with each reading. */
function steppingClock(): () => number {
  let now = 0;
  return () => {
    now += 1000;
    return now;
  };
}

function openStore(home: string, key?: string): Promise<SecretStore> {
  return openSecretStore(
    { home, env: key === undefined ? {} : { TOOLCRIB_SECRETS_KEY: key } },
    { now: steppingClock(), randomBytes },
  );
}

const newKey = () => randomBytes(32).toString("base64");

testSecretStore("encrypted files", openStore);

test("openSecretStore() creates nothing before the first secret", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("home");
  await using store = await openStore(home);
  assert.equal(await store.get("a"), undefined);
  assert.deepEqual(await store.list(), []);
  assert.equal(await store.delete("a"), false);
  assert.throws(() => readFileSync(home), /ENOENT/);
});

test("the key of the environment is used when it is set, in base64 or hexadecimal", async () => {
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

test("a different key decrypts nothing and replaces nothing", async () => {
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

test("no key is created while secrets need the missing one", async () => {
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

test("a damaged secret is reported, leaves the others usable, and can be set again", async () => {
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

test("a store of a later version is not reported as damaged", async () => {
  await using directory = await makeTemporaryDirectory();
  await using store = await openStore(directory.path);
  await store.set("a", "1");
  const path = directory.join("secrets/.store/a.sealed");
  writeFileSync(path, readFileSync(path, "utf8").replace('"version":1', '"version":2'));
  await assert.rejects(store.get("a"), /its format is version 2, and this version of Toolcrib supports 1/);
});
