/** Contract tests of `ApprovalStore`, for every engine. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Approval, ApprovalStore } from "@toolcrib/store";
import { makeTemporaryDirectory } from "../temporary-directory.ts";
import { waitUntil } from "../wait-until.ts";

const narrow = { tools: ["github:searchIssues"], dynamic: false };
const wide = { tools: ["github:createIssue", "github:searchIssues"], dynamic: true };
const approvedBy = { issuer: "toolcrib:cli", subject: "operator" };

const renewed: Partial<Approval> = { reach: wide, definitionDigest: "sha256:0", approvedAt: 2000 };

function approvalOf(name: string, changes: Partial<Approval> = {}): Approval {
  return { name, reach: narrow, approvedBy, approvedAt: 1000, ...changes };
}

type OpenApprovals = (home: string) => Promise<ApprovalStore>;
type WithStores = (run: (store: ApprovalStore, other: ApprovalStore) => Promise<void>) => Promise<void>;

/**
 * Defines the tests.
 *
 * @param open opens a store of `home`; several open stores of one home share their approvals.
 */
export function testApprovalStore(engine: string, open: OpenApprovals): void {
  const withStores: WithStores = async (run) => {
    await using directory = await makeTemporaryDirectory();
    await using store = await open(directory.path);
    await using other = await open(directory.path);
    await run(store, other);
  };
  describe(`ApprovalStore: ${engine}`, () => {
    testConcurrency(withStores);
    testLimits(withStores);

    test("put() creates and replaces an approval, also for a store that is opened later", async () => {
      await using directory = await makeTemporaryDirectory();
      {
        await using store = await open(directory.path);
        assert.equal(await store.get("a"), undefined);
        const first = await store.put(approvalOf("a"), undefined);
        assert.deepEqual(first, { ...approvalOf("a"), version: 1 });
        assert.deepEqual(store.current("a"), first);
        const second = await store.put(approvalOf("a", renewed), 1);
        assert.equal(second.version, 2);
      }
      await using store = await open(directory.path);
      const expected = { ...approvalOf("a", renewed), version: 2 };
      assert.deepEqual(store.current("a"), expected);
      assert.deepEqual(await store.list(), [expected]);
    });

    test("put() refuses a version that another store replaced", () =>
      withStores(async (store, other) => {
        await store.put(approvalOf("a"), undefined);
        const conflict = { code: "STORE_CONFLICT" };
        await assert.rejects(other.put(approvalOf("a", { reach: wide }), undefined), conflict);
        await other.put(approvalOf("a", { reach: wide }), 1);
        await assert.rejects(store.put(approvalOf("a"), 1), conflict);
        await assert.rejects(store.put(approvalOf("b"), 1), conflict);
        assert.deepEqual((await store.get("a"))?.reach, wide);
        assert.equal(await store.get("b"), undefined);
      }));

    test("adopt() adds approvals of names that have none", () =>
      withStores(async (store, other) => {
        await store.put(approvalOf("a", { reach: wide }), undefined);
        await other.adopt([approvalOf("a"), approvalOf("b"), approvalOf("constructor")]);
        assert.deepEqual(
          (await store.list()).map(({ name, reach, version }) => [name, reach, version]),
          [
            ["a", wide, 1],
            ["b", narrow, 1],
            ["constructor", narrow, 1],
          ],
        );
        assert.equal(store.current("__proto__"), undefined);
      }));

    test("delete() removes an approval of the expected version", () =>
      withStores(async (store, other) => {
        await store.put(approvalOf("a"), undefined);
        await assert.rejects(other.delete("a", 2), { code: "STORE_CONFLICT" });
        await other.delete("a", 1);
        assert.equal(await store.get("a"), undefined);
        await assert.rejects(store.delete("a", 1), { code: "STORE_CONFLICT" });
      }));

    test("onChange() reports changes of any store, and refresh() reads them", () =>
      withStores(async (store, other) => {
        let changes = 0;
        const unsubscribe = store.onChange(() => {
          changes += 1;
        });
        await other.put(approvalOf("a"), undefined);
        await waitUntil(() => changes === 1 && store.current("a") !== undefined);
        unsubscribe();
        await other.delete("a", 1);
        await store.refresh();
        assert.equal(store.current("a"), undefined);
        assert.equal(changes, 1);
      }));

    test("a closed store refuses changes and queries", () =>
      withStores(async (store) => {
        await store[Symbol.asyncDispose]();
        await assert.rejects(store.get("a"), { code: "STORE_CLOSED" });
        await assert.rejects(async () => store.put(approvalOf("a"), undefined), { code: "STORE_CLOSED" });
      }));
  });
}

function testConcurrency(withStores: WithStores): void {
  test("of several stores that put the same version, one succeeds", () =>
    withStores(async (store, other) => {
      const puts = [store, other, store, other].map((one, at) =>
        one.put(approvalOf("a", { approvedAt: at }), undefined),
      );
      const settled = await Promise.allSettled(puts);
      assert.equal(settled.filter(({ status }) => status === "fulfilled").length, 1);
    }));

  test("changes of different names by several stores are all kept", () =>
    withStores(async (store, other) => {
      const names = Array.from({ length: 20 }, (_, at) => `tool-${String(at).padStart(2, "0")}`);
      await Promise.all(
        names.map((name, at) => (at % 2 === 0 ? store : other).put(approvalOf(name), undefined)),
      );
      assert.deepEqual(
        (await store.list()).map(({ name }) => name),
        names,
      );
    }));
}

function testLimits(withStores: WithStores): void {
  test("approvals of deleted tools are limited to those that were deleted last", () =>
    withStores(async (store) => {
      const deleted = Array.from({ length: 1001 }, (_, at) => approvalOf(`deleted-${at}`, { deletedAt: at }));
      await store.adopt([approvalOf("existing"), ...deleted]);
      assert.equal((await store.list()).length, 1001);
      assert.equal(store.current("deleted-0"), undefined);
      assert.notEqual(store.current("deleted-1"), undefined);
      assert.notEqual(store.current("existing"), undefined);
    }));

  test("put() refuses an approval that is too large", () =>
    withStores(async (store) => {
      const reach = { tools: ["x".repeat(600_000)], dynamic: false };
      await assert.rejects(store.put(approvalOf("a", { reach }), undefined), {
        code: "STORE_RECORD_TOO_LARGE",
      });
      assert.deepEqual(await store.list(), []);
    }));
}
