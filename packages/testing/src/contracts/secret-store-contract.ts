/** Contract tests of `SecretStore`, for every engine. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isCodedError } from "@toolcrib/diagnostics";
import type { SecretChange, SecretStore } from "@toolcrib/store";
import { makeTemporaryDirectory } from "../temporary-directory.ts";
import { waitUntil } from "../wait-until.ts";

/** Asserts that `action` rejects with an error of this code that has a hint. */
export async function rejectsWith(code: string, action: Promise<unknown>): Promise<void> {
  await assert.rejects(
    action,
    (error) => isCodedError(error) && error.code === code && error.hint !== undefined,
  );
}

/**
 * Defines the tests.
 *
 * @param open opens a store of `home`; several open stores of one home share their secrets. Its clock advances by a
 *   second with each reading.
 */
export function testSecretStore(engine: string, open: (home: string) => Promise<SecretStore>): void {
  describe(`SecretStore: ${engine}`, () => {
    test("set() stores a value that get() returns, also to a store that is opened later", async () => {
      await using directory = await makeTemporaryDirectory();
      const values = ["x", "hunter2", " spaces ", "line\nline\n", "日本語 🗝️", "x".repeat(64 * 1024)];
      {
        await using store = await open(directory.path);
        for (const [at, value] of values.entries())
          assert.equal(await store.set(`name-${at}`, value), "created");
      }
      await using store = await open(directory.path);
      for (const [at, value] of values.entries()) assert.equal(await store.get(`name-${at}`), value);
      assert.equal(await store.get("absent"), undefined);
    });

    test("list() returns names and times; a replaced secret keeps the time of its creation", async () => {
      await using directory = await makeTemporaryDirectory();
      await using store = await open(directory.path);
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

    test("delete() removes a secret and returns whether it existed", async () => {
      await using directory = await makeTemporaryDirectory();
      await using store = await open(directory.path);
      await store.set("a", "1");
      await store.set("b", "2");
      assert.equal(await store.delete("a"), true);
      assert.equal(await store.delete("a"), false);
      assert.equal(await store.get("a"), undefined);
      assert.equal(await store.get("b"), "2");
    });

    test("rename() renames a secret, and never replaces another", async () => {
      await using directory = await makeTemporaryDirectory();
      await using store = await open(directory.path);
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

    test("set() refuses invalid values and invalid names", async () => {
      await using directory = await makeTemporaryDirectory();
      await using store = await open(directory.path);
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

    test("watch() reports every secret that another store sets or removes, without its value", async () => {
      await using directory = await makeTemporaryDirectory();
      await using store = await open(directory.path);
      await using other = await open(directory.path);
      const changes: SecretChange[] = [];
      const watching = await store.watch((change) => changes.push(change));
      const reported = (expected: SecretChange) =>
        waitUntil(() => changes.some(({ kind, name }) => kind === expected.kind && name === expected.name), {
          what: `${expected.name} is reported as ${expected.kind}`,
        });
      await other.set("a", "1");
      await reported({ kind: "set", name: "a" });
      changes.length = 0;
      await other.set("a", "2");
      await reported({ kind: "set", name: "a" });
      assert.equal(await store.get("a"), "2", "the reported value is what a read returns");
      await other.rename("a", "b");
      await reported({ kind: "set", name: "b" });
      await reported({ kind: "removed", name: "a" });
      assert.doesNotMatch(JSON.stringify(changes), /value/);
      await watching[Symbol.asyncDispose]();
      changes.length = 0;
      await other.set("c", "3");
      await watching[Symbol.asyncDispose]();
      assert.deepEqual(changes, []);
    });
  });
}
