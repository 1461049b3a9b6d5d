/** Contract tests of `AuditStore`, for every engine. */

import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { AuditStore } from "@toolcrib/store";
import { callIdsOf, completionOf, denialOf, intentOf, tickingClock } from "./sample-events.ts";

/** Opens an engine. */
export interface AuditEngine {
  readonly name: string;
  /** Returns the location of a trail that does not exist yet, deleted after the test. */
  readonly newLocation: (t: TestContext) => string;
  /** Opens a writer. Several open stores of one location share one trail. */
  readonly open: (location: string, now: () => number) => Promise<AuditStore>;
}

/** Defines the tests. */
export function testAuditStore({ name, newLocation, open }: AuditEngine): void {
  describe(`AuditStore: ${name}`, () => {
    test("an intent that resolved is visible to every store of the trail", async (t) => {
      const location = newLocation(t);
      await using store = await open(location, tickingClock());
      await using other = await open(location, tickingClock());
      await store.intent(intentOf("c1"));
      assert.deepEqual(callIdsOf(await store.list()), ["c1"]);
      assert.deepEqual(callIdsOf(await other.list()), ["c1"]);
    });

    test("records survive disposal, newest first, each once", async (t) => {
      const location = newLocation(t);
      const now = tickingClock();
      {
        await using store = await open(location, now);
        await Promise.all(["c1", "c2"].map((id) => store.intent(intentOf(id))));
        store.record("call.completed", completionOf("c1"));
        store.record("call.denied", denialOf("c3"));
      }
      await using store = await open(location, now);
      const records = await store.list();
      assert.deepEqual(
        records.map(({ type }) => type),
        ["call.denied", "call.completed", "call.intent", "call.intent"],
      );
      assert.deepEqual(callIdsOf(records), ["c3", "c1", "c2", "c1"]);
      assert.equal(new Set(records.map(({ id }) => id)).size, 4);
      assert.deepEqual(records.at(-1)?.data, intentOf("c1"));
    });

    test("the sequence of a writer has no gap across restarts", async (t) => {
      const location = newLocation(t);
      const now = tickingClock();
      for (const id of ["c1", "c2", "c3"]) {
        await using store = await open(location, now);
        await store.intent(intentOf(id));
      }
      await using store = await open(location, now);
      const records = await store.list();
      assert.deepEqual(records.map(({ sequence }) => Number(sequence)).toReversed(), [1, 2, 3]);
      assert.deepEqual(await store.problems(), []);
    });

    test("list() combines conditions and returns pages", async (t) => {
      await using store = await open(newLocation(t), tickingClock());
      for (const id of ["c1", "c2", "c3"]) await store.intent(intentOf(id));
      store.record("call.denied", denialOf("d1", { tool: "files:read" }));
      const [first] = await store.list({ limit: 1, type: "call.intent" });
      assert.deepEqual(callIdsOf([first!]), ["c3"]);
      const rest = await store.list({ type: "call.intent", before: first });
      assert.deepEqual(callIdsOf(rest), ["c2", "c1"]);
      assert.deepEqual(callIdsOf(await store.list({ tool: "files:*", outcome: "denied" })), ["d1"]);
      await assert.rejects(store.list({ limit: 0 }), { code: "AUDIT_QUERY_INVALID" });
    });

    test("show() returns a call with its inner calls", async (t) => {
      await using store = await open(newLocation(t), tickingClock());
      await store.intent(intentOf("outer"));
      await store.intent(intentOf("inner", { parentId: "outer", depth: 1 }));
      store.record("call.completed", completionOf("outer"));
      const call = await store.show("outer");
      assert.equal(call?.completion?.data.outcome, "ok");
      assert.deepEqual(
        call?.calls.map(({ callId, completion }) => [callId, completion]),
        [["inner", undefined]],
      );
      assert.equal(await store.show("absent"), undefined);
    });

    test("tail() yields the last records, oldest first, then new ones until aborted", async (t) => {
      await using store = await open(newLocation(t), tickingClock());
      for (const id of ["c1", "c2", "c3"]) await store.intent(intentOf(id));
      const controller = new AbortController();
      const seen: (string | undefined)[] = [];
      const following = async () => {
        for await (const record of store.tail({ limit: 2, follow: true, signal: controller.signal })) {
          seen.push(...callIdsOf([record]));
          if (seen.length === 2) await store.intent(intentOf("c4"));
          if (seen.length === 3) controller.abort(new Error("enough"));
        }
      };
      await assert.rejects(following(), { message: "enough" });
      assert.deepEqual(seen, ["c2", "c3", "c4"]);
    });

    test("a closed store refuses records and queries", async (t) => {
      const store = await open(newLocation(t), tickingClock());
      await store[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      await assert.rejects(store.intent(intentOf("c1")), { code: "STORE_CLOSED" });
      assert.throws(() => store.record("call.denied", denialOf("c1")), { code: "STORE_CLOSED" });
      await assert.rejects(store.list(), { code: "STORE_CLOSED" });
    });

    test("intent() rejects with the reason of an aborted signal", async (t) => {
      await using store = await open(newLocation(t), tickingClock());
      const reason = new Error("client disconnected");
      await assert.rejects(store.intent(intentOf("c1"), AbortSignal.abort(reason)), reason);
    });
  });
}
