/** Contract tests of `SessionStore`, for every engine. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { SessionRecord, SessionStore } from "@toolcrib/store";

function sessionOf(id: string, changes: Partial<SessionRecord> = {}): SessionRecord {
  return {
    id,
    identity: { issuer: "toolcrib:token", subject: "ci" },
    view: "",
    protocolVersion: "2025-11-25",
    clientInfo: { name: "client", version: "1" },
    capabilities: { sampling: {} },
    createdAt: 1000,
    lastSeenAt: 1000,
    expiresAt: 5000,
    ...changes,
  };
}

/**
 * Defines the tests.
 *
 * @param open opens a store without sessions that uses the clock `now`.
 * @param maxSessions the limit of the store. @default 10,000
 */
export function testSessionStore(
  engine: string,
  open: (now: () => number) => Promise<SessionStore>,
  maxSessions = 10_000,
): void {
  describe(`SessionStore: ${engine}`, () => {
    test("add() adds a session that get() and list() return", async () => {
      const store = await open(() => 1000);
      const { clientInfo: _clientInfo, ...bare } = sessionOf("b");
      await store.add(sessionOf("a"));
      await store.add(bare);
      assert.deepEqual(await store.get("a"), sessionOf("a"));
      assert.deepEqual(await store.list(), [sessionOf("a"), bare]);
      assert.equal(await store.get("c"), undefined);
      assert.equal(await store.get("__proto__"), undefined);
    });

    test("add() refuses an id that exists, and a session that is too large", async () => {
      const store = await open(() => 1000);
      await store.add(sessionOf("a"));
      await assert.rejects(store.add(sessionOf("a", { view: "s" })), { code: "STORE_CONFLICT" });
      const capabilities = { large: "x".repeat(70_000) };
      await assert.rejects(store.add(sessionOf("b", { capabilities })), { code: "STORE_RECORD_TOO_LARGE" });
      assert.deepEqual(await store.list(), [sessionOf("a")]);
    });

    test("later changes of the caller's objects have no effect", async () => {
      const store = await open(() => 1000);
      const capabilities: { [name: string]: object } = { sampling: {} };
      await store.add(sessionOf("a", { capabilities: capabilities as SessionRecord["capabilities"] }));
      capabilities["roots"] = {};
      assert.deepEqual(await store.get("a"), sessionOf("a"));
    });

    test("an expired session does not exist, and its id is free", async () => {
      let now = 1000;
      const store = await open(() => now);
      await store.add(sessionOf("a"));
      now = 4999;
      assert.notEqual(await store.get("a"), undefined);
      now = 5000;
      assert.equal(await store.get("a"), undefined);
      assert.deepEqual(await store.touch([{ id: "a", lastSeenAt: 5000, expiresAt: 9000 }]), ["a"]);
      assert.deepEqual(await store.list(), []);
      await store.add(sessionOf("a", { expiresAt: 9000 }));
      assert.equal((await store.list()).length, 1);
    });

    test("touch() moves the expiry of known sessions and never back", async () => {
      let now = 1000;
      const store = await open(() => now);
      await store.add(sessionOf("a"));
      const missing = await store.touch([
        { id: "unknown", lastSeenAt: 2000, expiresAt: 6000 },
        { id: "a", lastSeenAt: 3000, expiresAt: 7000 },
      ]);
      assert.deepEqual(missing, ["unknown"]);
      await store.touch([{ id: "a", lastSeenAt: 2000, expiresAt: 6000 }]);
      now = 6500;
      assert.deepEqual(await store.list(), [sessionOf("a", { lastSeenAt: 3000, expiresAt: 7000 })]);
    });

    test("delete() removes a session, and ignores an unknown one", async () => {
      const store = await open(() => 1000);
      await store.add(sessionOf("a"));
      await store.delete("a");
      await store.delete("a");
      assert.deepEqual(await store.list(), []);
    });

    test("change() replaces what the client can change, and ignores an unknown session", async () => {
      const store = await open(() => 1000);
      await store.add(sessionOf("a"));
      await store.change({ id: "a", logLevel: "warning", subscriptions: ["test://a"] });
      await store.change({ id: "unknown", logLevel: "debug" });
      const changed = sessionOf("a", { logLevel: "warning", subscriptions: ["test://a"] });
      assert.deepEqual(await store.list(), [changed]);
      await store.touch([{ id: "a", lastSeenAt: 2000, expiresAt: 6000 }]);
      assert.deepEqual(await store.get("a"), { ...changed, lastSeenAt: 2000, expiresAt: 6000 });
      const subscriptions = ["x".repeat(70_000)];
      await assert.rejects(store.change({ id: "a", subscriptions }), { code: "STORE_RECORD_TOO_LARGE" });
      await store.change({ id: "a" });
      assert.deepEqual(await store.list(), [sessionOf("a", { lastSeenAt: 2000, expiresAt: 6000 })]);
    });

    test("add() refuses more sessions than the limit, and drops expired ones first", async () => {
      let now = 1000;
      const store = await open(() => now);
      const ofClient = (at: number) => ({ identity: { issuer: "toolcrib:token", subject: `ci${at}` } });
      for (let at = 0; at < maxSessions; at += 1) await store.add(sessionOf(`s${at}`, ofClient(at)));
      await assert.rejects(store.add(sessionOf("more")), { code: "STORE_FULL" });
      now = 5000;
      await store.add(sessionOf("more", { expiresAt: 9000 }));
      assert.equal((await store.list()).length, 1);
    });
  });
}
