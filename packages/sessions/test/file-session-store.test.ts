/** The sessions of a home: what outlives a gateway, for whom, and within which limits. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { openSessionStore } from "@toolcrib/sessions";
import { makeTemporaryDirectory, testSessionStore, waitUntil } from "@toolcrib/testing";

type Store = ReturnType<typeof openSessionStore>;
type SessionRecord = Parameters<Store["add"]>[0];
type Limits = NonNullable<Parameters<typeof openSessionStore>[2]>;

const shared = await makeTemporaryDirectory();
after(() => shared[Symbol.asyncDispose]());
let homes = 0;

function newHome(): string {
  homes += 1;
  return join(shared.path, `home-${homes}`);
}

interface Opened {
  readonly store: Store;
  readonly problems: string[];
}

function open(home: string, limits: Limits = {}, now: () => number = () => 1000): Opened {
  const problems: string[] = [];
  const warn = (fields: object) => problems.push((fields as { reason: string }).reason);
  const deps = { now, randomBytes, logger: { warn } };
  return { store: openSessionStore(home, deps, { writeDelayMs: 1, ...limits }), problems };
}

function sessionOf(id: string, subject = "ci", changes: Partial<SessionRecord> = {}): SessionRecord {
  return {
    id,
    identity: { issuer: "toolcrib:token", subject },
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

const isOf =
  (subject: string) =>
  ({ identity }: SessionRecord) =>
    identity.subject === subject;
const adopt = (store: Store, id: string, subject = "ci") => store.left.adopt(id, isOf(subject));
const event = (stream: number, sequence: number, data = `{"n":${sequence}}`) => {
  return { stream, sequence, data, isWaiting: false };
};
const filesOf = (home: string, ending: string) =>
  readdirSync(join(home, "sessions"))
    .filter((name) => name.endsWith(ending))
    .map((name) => join(home, "sessions", name));

testSessionStore("files of a home", async (now) => open(newHome(), { maxSessions: 20 }, now).store, 20);

test("A session continues in the next gateway, with its state and its events, for its own identity only", async () => {
  const home = newHome();
  const first = open(home).store;
  await first.add(sessionOf("secret-session-id"));
  await first.change({ id: "secret-session-id", logLevel: "warning", subscriptions: ["test://a"] });
  first.left.append("secret-session-id", event(1, 1));
  first.left.append("secret-session-id", { ...event(1, 2), isWaiting: true });
  await first[Symbol.asyncDispose]();
  for (const path of filesOf(home, "")) {
    assert.equal(statSync(path).mode & 0o777, 0o600, path);
    assert.ok(!readFileSync(path, "utf8").includes("secret-session-id"));
  }
  const second = open(home);
  await using _second = second.store;
  assert.equal(await adopt(second.store, "secret-session-id", "other"), undefined);
  assert.equal(await adopt(second.store, "another id"), undefined);
  const adopted = await adopt(second.store, "secret-session-id");
  const changes = { logLevel: "warning", subscriptions: ["test://a"] };
  // A session lives longer after a restart by the time between two records of its use.
  assert.deepEqual(
    adopted?.session,
    sessionOf("secret-session-id", "ci", { ...changes, expiresAt: 305_000 }),
  );
  assert.deepEqual(adopted?.events, [event(1, 1), { ...event(1, 2), isWaiting: true }]);
  assert.deepEqual(second.problems, []);
  await second.store.delete("secret-session-id");
  assert.deepEqual(filesOf(home, ""), []);
});

test("A session of a gateway that runs is taken over by no other, and by the next one after its end", async () => {
  const home = newHome();
  const first = open(home).store;
  await first.add(sessionOf("a"));
  const second = open(home);
  await using _second = second.store;
  assert.equal(await adopt(second.store, "a"), undefined);
  await first[Symbol.asyncDispose]();
  assert.equal((await adopt(second.store, "a"))?.session.id, "a");
  const third = open(home);
  await using _third = third.store;
  assert.equal(await adopt(third.store, "a"), undefined);
});

test("A file that was changed, moved or cut off is no session, and is reported", async () => {
  const changes: readonly ((path: string) => void)[] = [
    (path) => writeFileSync(path, readFileSync(path, "utf8").replace('"subject":"ci"', '"subject":"me"')),
    (path) => writeFileSync(path, readFileSync(path, "utf8").replace("2025-11-25", "2025-06-18")),
    (path) => truncateSync(path, statSync(path).size - 2),
    (path) => writeFileSync(path, ""),
    (path) => appendFileSync(path, "x".repeat(200_000)),
    (path) => {
      rmSync(path);
      mkdirSync(path);
    },
  ];
  for (const change of changes) {
    const home = newHome();
    const first = open(home).store;
    await first.add(sessionOf("a"));
    await first[Symbol.asyncDispose]();
    change(filesOf(home, ".session")[0] as string);
    const second = open(home);
    assert.equal(await second.store.left.adopt("a", () => true), undefined);
    assert.match(
      second.problems.join("\n"),
      /is ignored: this home did not write it, or it was changed since/,
    );
    await second.store[Symbol.asyncDispose]();
  }
  // A whole file under the name of another session, and one of another home.
  const [home, other] = [newHome(), newHome()];
  for (const [folder, id] of [
    [home, "mine"],
    [other, "theirs"],
    [home, "theirs"],
  ] as const) {
    const store = open(folder).store;
    await store.add(sessionOf(id));
    await store[Symbol.asyncDispose]();
  }
  const [theirs] = filesOf(other, ".session");
  const name = (theirs as string).slice(other.length);
  copyFileSync(theirs as string, join(home, name));
  const moved = open(home);
  await using _moved = moved.store;
  assert.equal(await adopt(moved.store, "theirs"), undefined);
  assert.equal((await adopt(moved.store, "mine"))?.session.id, "mine");
  const [mine] = filesOf(home, ".session").filter((path) => !path.endsWith(name));
  copyFileSync(mine as string, join(home, name));
  assert.equal(await adopt(moved.store, "theirs"), undefined);
  assert.equal(moved.problems.length, 1);
});

test("Forged events are left out and reported; an event that a kill cut off is left out", async () => {
  const home = newHome();
  const first = open(home).store;
  await first.add(sessionOf("a"));
  for (let at = 1; at <= 3; at += 1) first.left.append("a", event(1, at));
  await first[Symbol.asyncDispose]();
  const [path] = filesOf(home, ".events") as [string];
  const lines = readFileSync(path, "utf8").split("\n");
  writeFileSync(path, [lines[0], lines[1]?.replace('n\\":2', 'n\\":9'), lines[2]?.slice(0, 30)].join("\n"));
  const second = open(home);
  assert.deepEqual((await adopt(second.store, "a"))?.events, [event(1, 1)]);
  assert.match(second.problems.join("\n"), /1 lines of .* are ignored/);
  // What is added to a damaged file can be read again.
  second.store.left.append("a", event(1, 4));
  await second.store[Symbol.asyncDispose]();
  const third = open(home);
  await using _third = third.store;
  assert.deepEqual((await adopt(third.store, "a"))?.events, [event(1, 1), event(1, 4)]);
  assert.deepEqual(third.problems, []);
});

test("Events of a stream that its client has received are not written", async () => {
  const home = newHome();
  const { store } = open(home, { writeDelayMs: 60_000 });
  await store.add(sessionOf("a"));
  store.left.append("a", event(1, 1));
  store.left.append("a", event(2, 2));
  store.left.delivered("a", 2);
  store.left.append("unknown", event(1, 1));
  await store[Symbol.asyncDispose]();
  const next = open(home);
  await using _next = next.store;
  assert.deepEqual((await adopt(next.store, "a"))?.events, [event(1, 1)]);
});

test("Events are limited for each stream, for each session and in all", async () => {
  const limits = {
    maxEvents: 20,
    maxStreamEvents: 8,
    maxEventBytes: 4000,
    maxStreamBytes: 2000,
    maxAllEventBytes: 40_000,
  };
  const home = newHome();
  const first = open(home, limits).store;
  const sum = () => filesOf(home, ".events").reduce((bytes, path) => bytes + statSync(path).size, 0);
  await first.add(sessionOf("a"));
  for (let at = 1; at <= 200; at += 1) {
    first.left.append("a", event(at % 2 === 0 ? 1 : at, at, "x".repeat(150)));
    if (at % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 3));
  }
  first.left.append("a", event(2, 201, "x".repeat(5000)));
  await first[Symbol.asyncDispose]();
  assert.ok(sum() < 2 * (4000 + 20 * 64) + 2000, `${sum()} bytes`);
  const second = open(home, limits).store;
  const kept = (await adopt(second, "a"))?.events ?? [];
  assert.ok(kept.length >= 5 && kept.length <= 20, `${kept.length} events`);
  assert.ok(kept.filter(({ stream }) => stream === 1).length <= 8);
  assert.equal(kept.at(-1)?.sequence, 200);
  // One client fills its share; another one still has room.
  for (let session = 0; session < 20; session += 1) {
    await second.add(sessionOf(`b${session}`, "greedy", { expiresAt: 9000 }));
    for (let at = 1; at <= 10; at += 1) second.left.append(`b${session}`, event(at, at, "x".repeat(300)));
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
  await second.add(sessionOf("c", "modest"));
  second.left.append("c", event(1, 1, "small"));
  await second[Symbol.asyncDispose]();
  assert.ok(sum() < 40_000 + 8000, `${sum()} bytes`);
  const third = open(home, limits);
  await using _third = third.store;
  assert.deepEqual((await adopt(third.store, "c", "modest"))?.events, [event(1, 1, "small")]);
});

test("One client gets at most half of the sessions; what it left makes room first, and expired ones are removed", async () => {
  let now = 1000;
  const home = newHome();
  const first = open(home, { maxSessions: 8 }, () => now).store;
  for (let at = 0; at < 4; at += 1) await first.add(sessionOf(`old${at}`, "ci", { lastSeenAt: 1000 + at }));
  await assert.rejects(first.add(sessionOf("more")), { code: "STORE_FULL" });
  await first.add(sessionOf("other", "other"));
  await first[Symbol.asyncDispose]();
  const second = open(home, { maxSessions: 8 }, () => now).store;
  await second.touch([]);
  await waitUntil(async () => {
    await second.add(sessionOf(`new${randomBytes(4).toString("hex")}`));
    return !(await isLeft(home, "old0"));
  });
  assert.equal((await adopt(second, "other", "other"))?.session.id, "other");
  await second[Symbol.asyncDispose]();
  assert.ok(filesOf(home, ".session").length <= 8);
  now = 1_000_000;
  const third = open(home, { maxSessions: 8 }, () => now).store;
  assert.equal(await adopt(third, "other", "other"), undefined);
  await third.touch([]);
  await third[Symbol.asyncDispose]();
  assert.deepEqual(filesOf(home, ""), []);
});

/** Whether the file of session `id` exists. */
async function isLeft(home: string, id: string): Promise<boolean> {
  const { createHash } = await import("node:crypto");
  return existsSync(join(home, "sessions", `${createHash("sha256").update(id).digest("hex")}.session`));
}

test("Where the home cannot be written, sessions are refused and reported, and nothing else fails", async () => {
  const home = newHome();
  mkdirSync(home);
  writeFileSync(join(home, "sessions"), "");
  const { store, problems } = open(home);
  await assert.rejects(store.add(sessionOf("a")));
  store.left.append("a", event(1, 1));
  await waitUntil(() => problems.length > 0);
  assert.equal((await store.get("a"))?.id, "a");
  // It is written when the home is writable again.
  rmSync(join(home, "sessions"));
  assert.deepEqual(await store.touch([{ id: "a", lastSeenAt: 400_000, expiresAt: 500_000 }]), []);
  await store[Symbol.asyncDispose]();
  const next = open(home);
  await using _next = next.store;
  assert.equal((await adopt(next.store, "a"))?.session.lastSeenAt, 400_000);
});

test("A damaged key is reported, and makes no session readable", async () => {
  const home = newHome();
  const first = open(home).store;
  await first.add(sessionOf("a"));
  await first[Symbol.asyncDispose]();
  writeFileSync(join(home, "sessions.key"), "no key");
  const second = open(home);
  await using _second = second.store;
  await assert.rejects(adopt(second.store, "a"), { code: "STORE_UNREADABLE" });
  await assert.rejects(second.store.add(sessionOf("b")), { code: "STORE_UNREADABLE" });
});
