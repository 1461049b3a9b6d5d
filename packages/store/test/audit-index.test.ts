import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type AuditCall, openAuditReader, openStore, type Store, toAuditClient } from "@toolcrib/store";
import { slowTest, waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import {
  callIdsOf,
  completionOf,
  denialOf,
  intentOf,
  newHome,
  recordsOf,
  tickingClock,
} from "./sample-events.ts";

const start = Date.UTC(2026, 0, 1);

/** Ten calls of two clients and three tools, one millisecond apart, each with its completion. */
async function writeCalls(store: Store): Promise<void> {
  const tools = ["github:create_issue", "github:list_issues", "files:read[1]"];
  for (let n = 0; n < 10; n += 1) {
    const shared = {
      tool: tools[n % 3]!,
      client: toAuditClient(localIdentity("token", n % 2 === 0 ? "default" : "ci")),
    };
    if (n === 9) {
      store.audit.record("call.denied", denialOf(`call-${n}`, shared));
      continue;
    }
    await store.audit.intent(intentOf(`call-${n}`, shared));
    const outcome = n === 4 ? "tool_error" : "ok";
    store.audit.record("call.completed", completionOf(`call-${n}`, { ...shared, outcome }));
  }
  store.audit.record("server.stopped", { server: "github", reason: "test" });
  await store.audit.flush();
}

test("records of earlier versions, whose client has a kind and a name, are listed, filtered and shown", async (t) => {
  const home = newHome(t);
  {
    await using store = await openStore({ home }, { now: tickingClock(start) });
    const client = { kind: "token", name: "ci" };
    await store.audit.intent(intentOf("old", { client }));
    store.audit.record("call.completed", completionOf("old", { client }));
  }
  const line = readFileSync(join(home, "audit", "001-00000001.jsonl"), "utf8").split("\n", 1)[0] ?? "";
  assert.ok(line.includes('"client":{"kind":"token","name":"ci"},'), line);
  await using store = await openStore({ home }, { now: tickingClock(start + 1000) });
  const client = toAuditClient(localIdentity("token", "ci"));
  await store.audit.intent(intentOf("new", { client }));
  store.audit.record("call.completed", completionOf("new", { client }));
  for (const query of [{ client: "ci" }, { issuer: "toolcrib:token", subject: "ci" }]) {
    const calls = (await store.audit.list(query)).map(({ data }) => (data as { callId: string }).callId);
    assert.deepEqual(calls, ["new", "new", "old", "old"]);
  }
  assert.deepEqual((await store.audit.show("old"))?.intent?.data.client, { kind: "token", name: "ci" });
  assert.deepEqual((await store.audit.show("new"))?.intent?.data.client, {
    issuer: "toolcrib:token",
    subject: "ci",
    name: "ci",
  });
  assert.deepEqual(await store.audit.problems(), []);
});

test("list() returns the newest records first, with everything recorded before the query", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home }, { now: tickingClock(start) });
  await writeCalls(store);
  store.audit.record("server.stopped", { server: "last", reason: "test" });
  const records = await store.audit.list();
  assert.deepEqual(records, recordsOf(home).reverse());
  assert.equal(records.length, 21);
  assert(records[0]?.type === "server.stopped");
  assert.equal(records[0].data.server, "last");
});

test("list() returns the records that meet every condition", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home }, { now: tickingClock(start) });
  await writeCalls(store);
  const all = await store.audit.list();
  const check = async (
    query: Parameters<Store["audit"]["list"]>[0],
    expected: (index: number) => boolean,
  ) => {
    const found = await store.audit.list(query);
    assert.deepEqual(
      found,
      all.filter((_, index) => expected(index)),
      JSON.stringify(query),
    );
  };
  const data = (index: number) =>
    all[index]!.data as { tool?: string; client?: { name: string }; callId?: string; outcome?: string };
  const time = (index: number) => Date.parse(all[index]!.time);
  await check({ limit: 3 }, (index) => index < 3);
  await check({ client: "ci" }, (index) => data(index).client?.name === "ci");
  await check({ issuer: "toolcrib:token" }, (index) => data(index).client !== undefined);
  await check({ issuer: "https://id.test" }, () => false);
  await check({ issuer: "toolcrib:token", subject: "ci" }, (index) => data(index).client?.name === "ci");
  await check({ subject: "toolcrib:token" }, () => false);
  await check({ tool: "github:create_issue" }, (index) => data(index).tool === "github:create_issue");
  await check({ tool: "github:*_issue?" }, (index) => data(index).tool === "github:list_issues");
  await check({ tool: "*" }, (index) => data(index).tool !== undefined);
  await check({ tool: "*read[1]" }, (index) => data(index).tool === "files:read[1]");
  await check({ tool: "*read[12]" }, () => false);
  await check({ tool: "GITHUB:*" }, () => false);
  await check({ outcome: "tool_error" }, (index) => data(index).outcome === "tool_error");
  await check({ outcome: "denied" }, (index) => all[index]!.type === "call.denied");
  await check({ type: "call.intent" }, (index) => all[index]!.type === "call.intent");
  await check({ type: ["call.denied", "server.stopped"] }, (index) =>
    /denied|stopped/.test(all[index]!.type),
  );
  await check({ callId: "call-" }, (index) => data(index).callId !== undefined);
  await check({ callId: "call-3" }, (index) => data(index).callId === "call-3");
  await check({ callId: "call-3x" }, () => false);
  await check({ since: time(5) }, (index) => time(index) >= time(5));
  await check({ until: time(5) }, (index) => time(index) < time(5));
  await check(
    { since: time(10), until: time(5), client: "default", type: "call.completed" },
    (index) =>
      time(index) >= time(10) &&
      time(index) < time(5) &&
      data(index).client?.name === "default" &&
      all[index]!.type === "call.completed",
  );
});

test("pages of list() contain every record once", async (t) => {
  const home = newHome(t);
  // The clock does not advance: the order within one millisecond is the order of writing.
  await using store = await openStore({ home }, { now: () => start });
  await writeCalls(store);
  const paged: string[] = [];
  for (let page = await store.audit.list({ limit: 4 }); page.length > 0; ) {
    paged.push(...page.map(({ sequence }) => sequence));
    page = await store.audit.list({ limit: 4, before: page.at(-1) });
  }
  assert.deepEqual(
    paged,
    recordsOf(home)
      .map(({ sequence }) => sequence)
      .reverse(),
  );
});

for (const [title, query] of [
  ["a limit of 0", { limit: 0 }],
  ["a limit past 1,000", { limit: 1001 }],
  ["a time that is no number", { since: Number.NaN }],
  ["a tool pattern that is too long", { tool: "x".repeat(201) }],
  ["a tool pattern with too many stars", { tool: "*a".repeat(9) }],
  ["a position that is none", { before: { time: "yesterday", writer: "001", sequence: "1" } }],
] as const) {
  test(`list() refuses ${title}`, async (t) => {
    await using reader = await openAuditReader({ home: newHome(t) });
    await assert.rejects(reader.list(query), { code: "AUDIT_QUERY_INVALID" });
  });
}

test("show() returns a call with the tree of its inner calls", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home }, { now: tickingClock(start) });
  const inner = (callId: string, parentId: string, depth: number) => intentOf(callId, { parentId, depth });
  await store.audit.intent(intentOf("root"));
  await store.audit.intent(inner("b", "root", 1));
  await store.audit.intent(inner("a", "root", 1));
  await store.audit.intent(inner("b1", "b", 2));
  store.audit.record("call.completed", completionOf("b1", { parentId: "b", depth: 2 }));
  store.audit.record("call.denied", denialOf("b2", { parentId: "b", depth: 2 }));
  store.audit.record("call.completed", completionOf("b", { parentId: "root", depth: 1 }));
  store.audit.record("call.completed", completionOf("root"));
  const shape = (call: AuditCall): unknown => [
    call.callId,
    call.intent?.data.callId,
    call.completion?.data.outcome,
    call.calls.map(shape),
  ];
  const root = await store.audit.show("root");
  assert(root !== undefined);
  assert.deepEqual(shape(root), [
    "root",
    "root",
    "ok",
    [
      [
        "b",
        "b",
        "ok",
        [
          ["b1", "b1", "ok", []],
          ["b2", undefined, "denied", []],
        ],
      ],
      ["a", "a", undefined, []],
    ],
  ]);
  assert.equal(await store.audit.show("unknown"), undefined);
  assert.deepEqual(shape((await store.audit.show("b2"))!), ["b2", undefined, "denied", []]);
});

test("show() ends at cycles of parents and at its limits", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home }, { now: tickingClock(start) });
  await Promise.all([
    store.audit.intent(intentOf("x", { parentId: "y" })),
    store.audit.intent(intentOf("y", { parentId: "x" })),
    ...Array.from({ length: 40 }, (_, n) =>
      store.audit.intent(intentOf(`deep${n + 1}`, { parentId: `deep${n}` })),
    ),
    ...Array.from({ length: 1100 }, (_, n) =>
      store.audit.intent(intentOf(`wide-${n}`, { parentId: "wide" })),
    ),
  ]);
  assert.deepEqual(
    (await store.audit.show("x"))?.calls.map(({ callId, calls }) => [callId, calls]),
    [["y", []]],
  );
  let depth = 0;
  let call = await store.audit.show("deep0");
  for (; call?.truncated === undefined; call = call?.calls[0]) depth += 1;
  assert.equal(depth, 31);
  const wide = await store.audit.show("wide");
  assert.equal(wide?.calls.length, 999);
  assert.equal(wide?.truncated, true);
});

test("a deleted index is rebuilt, also under an open store", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home }, { now: tickingClock(start) });
  await writeCalls(store);
  const all = await store.audit.list();
  for (const name of readdirSync(home)) if (name.startsWith("toolcrib.db")) rmSync(join(home, name));
  assert.deepEqual(await store.audit.list(), all);
  await store.audit.intent(intentOf("after"));
  assert.equal((await store.audit.list()).length, all.length + 1);
  assert(existsSync(join(home, "toolcrib.db")));
});

for (const [title, damage] of [
  ["is no database", (path: string) => writeFileSync(path, "x".repeat(8192))],
  [
    "has overwritten pages",
    (path: string) => {
      const bytes = readFileSync(path);
      bytes.fill(0xa5, 4096);
      writeFileSync(path, bytes);
    },
  ],
] as const) {
  test(`an index that ${title} is moved away and rebuilt`, async (t) => {
    const home = newHome(t);
    let all: unknown;
    {
      await using store = await openStore({ home }, { now: tickingClock(start) });
      await writeCalls(store);
      all = await store.audit.list();
    }
    damage(join(home, "toolcrib.db"));
    const problems: string[] = [];
    {
      await using store = await openStore(
        { home },
        { now: tickingClock(start), onProblem: ({ code }) => problems.push(code) },
      );
      assert.deepEqual(await store.audit.list(), all);
    }
    assert.deepEqual(problems, ["AUDIT_INDEX_REBUILT"]);
    assert(existsSync(join(home, "toolcrib.db.damaged")));
    await using reader = await openAuditReader({ home }, { onProblem: ({ code }) => problems.push(code) });
    assert.deepEqual(await reader.list(), all);
    assert.equal(problems.length, 1);
  });
}

test("queries that cannot be sent to the index thread take no place of others", async (t) => {
  await using store = await openStore({ home: newHome(t) }, { now: tickingClock(start) });
  await store.audit.intent(intentOf("kept"));
  // A function cannot be sent to a thread.
  const unsendable = { tool: () => "" } as unknown as { readonly tool: string };
  for (let asked = 0; asked < 1000; asked += 1)
    await assert.rejects(store.audit.list(unsendable), { name: "DataCloneError" });
  assert.deepEqual(callIdsOf(await store.audit.list()), ["kept"]);
});

test("an index without its tables is refused, and no query leaves its file open", async (t) => {
  const home = newHome(t);
  {
    await using store = await openStore({ home }, { now: tickingClock(start) });
    await writeCalls(store);
    await store.audit.list();
  }
  const database = new DatabaseSync(join(home, "toolcrib.db"));
  database.exec("DROP TABLE audit_problem");
  database.close();
  await using reader = await openAuditReader({ home });
  for (let asked = 0; asked < 3; asked += 1)
    await assert.rejects(reader.list(), { code: "AUDIT_INDEX_FAILED", message: /no such table/ });
  if (process.platform === "linux") assert.deepEqual(openFilesBelow(home), []);
});

/** The files below a folder that this process has open (Linux). */
function openFilesBelow(folder: string): readonly string[] {
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`);
      return path.startsWith(folder) ? [path] : [];
    } catch {
      // The descriptor with which the folder was listed.
      return [];
    }
  });
}

test("a damaged index that another process uses is left alone", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home }, { now: tickingClock(start) });
  await writeCalls(store);
  const all = await store.audit.list();
  // The second reader of the home finds random bytes in place of the tables, while the first one has the file open.
  const path = join(home, "toolcrib.db");
  const bytes = readFileSync(path);
  rmSync(`${path}-wal`, { force: true });
  writeFileSync(path, "x".repeat(bytes.length));
  const problems: string[] = [];
  await using reader = await openAuditReader({ home }, { onProblem: ({ code }) => problems.push(code) });
  assert.deepEqual(await reader.list(), all);
  assert.deepEqual(problems, ["AUDIT_INDEX_REBUILT"]);
  assert(!existsSync(`${path}.damaged`));
});

test("a segment that was replaced or edited is indexed again", async (t) => {
  const home = newHome(t);
  const path = join(home, "audit", "001-00000001.jsonl");
  {
    await using store = await openStore({ home }, { now: tickingClock(start) });
    await writeCalls(store);
  }
  await using reader = await openAuditReader({ home });
  assert.equal((await reader.list()).length, 20);
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  // The length stays the same, so only reading the records can detect the change.
  writeFileSync(path, `${lines.toReversed().join("\n")}\n`);
  assert.equal(callIdsOf(await reader.list({ limit: 20 })).length, 19);
  assert((await reader.problems()).some(({ kind }) => kind === "gap"));
  writeFileSync(path, `${lines.slice(0, 3).join("\n")}\n`);
  assert.equal((await reader.list()).length, 3);
  assert.deepEqual(await reader.problems(), []);
});

test(
  "the index indexes many new records without a query, and its thread ends when it is idle",
  slowTest,
  async (t) => {
    const home = newHome(t);
    await using store = await openStore({ home }, { now: tickingClock(start) });
    const write = (count: number, name: string) =>
      Promise.all(Array.from({ length: count }, (_, n) => store.audit.intent(intentOf(`${name}${n}`))));
    await write(1000, "few");
    const path = join(home, "toolcrib.db");
    assert(!existsSync(path), "few records are indexed by a query alone");
    for (let written = 0; written < 50_000; written += 5000) await write(5000, `many${written}-`);
    await waitUntil(() => existsSync(path));
    // Where threads have names, wait for the end of the idle one.
    const hasThread = () =>
      readdirSync("/proc/self/task").some((id) => nameOfThread(id).startsWith("toolcrib-audit"));
    if (process.platform === "linux") {
      await waitUntil(hasThread);
      await waitUntil(() => !hasThread(), { timeoutMs: 60_000 });
    }
    assert.equal((await store.audit.show("many45000-4999"))?.callId, "many45000-4999");
  },
);

/** The name of a thread of this process; empty where the thread has ended since it was listed. */
function nameOfThread(id: string): string {
  try {
    return readFileSync(`/proc/self/task/${id}/comm`, "utf8");
  } catch {
    return "";
  }
}

test("a reader of a home that does not exist returns an empty trail and creates nothing", async (t) => {
  const home = newHome(t);
  await using reader = await openAuditReader({ home });
  assert.deepEqual(await reader.list(), []);
  assert.equal(await reader.show("c1"), undefined);
  assert.deepEqual(await reader.problems(), []);
  for await (const record of reader.tail()) assert.fail(record.id);
  assert(!existsSync(home));
  await reader[Symbol.asyncDispose]();
  await assert.rejects(reader.list(), { code: "STORE_CLOSED" });
});

test("a reader without write permission returns the records", async (t) => {
  const home = newHome(t);
  {
    await using store = await openStore({ home }, { now: tickingClock(start) });
    await writeCalls(store);
  }
  // A copy of the segments only: no lock files and no index.
  rmSync(join(home, "locks"), { recursive: true });
  await using reader = await openAuditReader({ home });
  assert.equal((await reader.list()).length, 20);
  assert.deepEqual(readdirSync(home), ["audit"]);
});

test("a query waits for another process that creates the index at the same time", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home }, { now: tickingClock(start) });
  await writeCalls(store);
  // As a process between the first statement and the end of its first transaction.
  const other = new DatabaseSync(join(home, "toolcrib.db"));
  other.exec("BEGIN IMMEDIATE");
  const listed = store.audit.list({ limit: 3 });
  await Promise.race([delay(500), listed.catch(() => {})]);
  other.close();
  assert.equal((await listed).length, 3);
});

test("a reader indexes a long trail with one buffer", async (t) => {
  const home = newHome(t);
  {
    await using store = await openStore({ home }, { now: tickingClock(start) });
    await writeCalls(store);
  }
  // Lines that are no records are read and counted like others.
  const line = `${"x".repeat(64 * 1024 - 1)}\n`;
  const path = join(home, "audit", "001-00000001.jsonl");
  writeFileSync(path, readFileSync(path, "utf8") + line.repeat(16 * 16));
  const allocate = t.mock.method(Buffer, "allocUnsafe");
  const allocateSlow = t.mock.method(Buffer, "allocUnsafeSlow");
  await using reader = await openAuditReader({ home });
  assert.equal((await reader.problems()).length, 16 * 16);
  const allocated = [...allocate.mock.calls, ...allocateSlow.mock.calls].map((call) => call.arguments[0]);
  const bytes = allocated.reduce((sum, size) => sum + size, 0);
  assert.ok(bytes < 4 * 2 ** 20, `${bytes} bytes for a segment of 16 MB`);
});
