import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimers, startEchoHttpServer, startEchoSseServer, waitUntil } from "@toolcrib/testing";
import type { ResourceWatcher } from "@toolcrib/tool";
import {
  createAskableClient,
  createClient,
  createSource,
  echoStdio,
  failureOf,
  never,
  oddStdio,
  receivedBy,
  startSource,
  type TestSource,
} from "./source-harness.ts";

interface TestWatcher extends ResourceWatcher {
  readonly heard: string[];
}

function createWatcher(session?: ResourceWatcher["session"]): TestWatcher {
  const heard: string[] = [];
  return { session, heard, updated: (uri) => void heard.push(uri) };
}

function namesOf({ server }: TestSource): string[] {
  return server.tools().map(({ definition }) => definition.name);
}

/** Waits until the server "held-list" gets the request for its list for the `count`th time. */
async function untilListing(source: TestSource, count: number): Promise<void> {
  await waitUntil(async () => (await source.text("count")) === String(count));
}

test("start() refuses endless and too long lists, and names them", async (t) => {
  const cases: [title: string, transport: ReturnType<typeof echoStdio>, limits: object, reason: string][] = [
    ["a cursor that repeats", echoStdio("--endless-cursor"), {}, '"tools/list" repeats the cursor "from:0"'],
    ["cursors that never repeat", oddStdio("fresh-cursors"), {}, '"tools/list" has more than 1000 pages'],
    ["20,001 tools on one page", oddStdio("many", "20001"), {}, '"tools/list" lists more than 20000 items'],
    [
      "six tools with 100,000 values each",
      oddStdio("values", "6"),
      {},
      '"tools/list" lists more than 500000 values',
    ],
    [
      "more items than the limit",
      echoStdio("--page-size", "3"),
      { listMaxItems: 10 },
      '"tools/list" lists more than 10 items',
    ],
  ];
  await Promise.all(
    cases.map(([title, transport, limits, reason]) =>
      t.test(title, async () => {
        await using source = createSource({ transport, limits: { reconnectMinMs: 10_000, ...limits } });
        await source.server.start(never);
        assert.equal(source.server.health().state, "unavailable");
        assert.equal(source.server.health().reason, reason);
        assert.deepEqual(source.server.tools(), []);
      }),
    ),
  );
});

test("start() accepts a list with fewer than 500,000 values", async () => {
  await using source = await startSource({ transport: oddStdio("values", "4") });
  assert.equal(source.server.tools().length, 4);
});

test("start() accepts a list of 20,000 tools", async () => {
  await using source = await startSource({ transport: oddStdio("many", "20000") });
  assert.equal(source.server.tools().length, 20_000);
});

test("start() leaves out definitions without a usable name, and keeps the others", async () => {
  await using source = await startSource({ transport: oddStdio("bad-tools") });
  // The index quarantines tools that are malformed otherwise.
  assert.deepEqual(namesOf(source), ["good", "no-schema", "bad-output", "also good"]);
  const refused = source.records.filter(({ event }) => event === "tool definition was left out");
  assert.deepEqual(
    refused.map(({ reason }) => reason),
    [
      "it has no name",
      "a tool of this name is already listed",
      "its name is longer than 256 characters",
      "its name contains control characters",
    ],
  );
  assert.equal(source.server.health().reason, '4 of its tools are left out, such as "?": it has no name');
});

test("halves of characters in definitions are replaced, because some clients cannot read them", async () => {
  await using source = await startSource({ transport: oddStdio("half-characters") });
  const { description, inputSchema } = source.tool("cut").definition;
  assert.equal(description, "A cut \ufffd");
  assert.deepEqual(inputSchema["properties"], { "a\ufffd": { enum: ["\u{1f600}", "\ufffd"] } });
});

test("start() lists the tools of a server whose other lists cannot be read", async () => {
  await using source = await startSource({ transport: oddStdio("refuses-resources") });
  assert.ok(source.server.tools().length > 0);
  assert.deepEqual(source.server.features.resources(), []);
  assert.deepEqual((await source.call("old")).content, []);
});

test("a changed list is read once for a burst of notifications, and emitted once", async () => {
  const timers = new ManualTimers();
  await using source = await startSource({ transport: oddStdio("held-list"), timers });
  source.changes.length = 0;
  await source.call("change", { times: 4 });
  // The notifications arrive before the answer, and the list is read after a pause.
  assert.deepEqual(timers.delays, [20]);
  timers.fire();
  await untilListing(source, 2);
  await source.call("release");
  await waitUntil(() => source.changes.length > 0);
  assert.deepEqual(timers.delays, [], "no further reading is planned");
  assert.deepEqual(source.changes, ["tools"]);
  assert.equal(namesOf(source)[0], "version_2");
  assert.equal(await source.text("count"), "2");
});

test("a list that is reported as changed and is equal is emitted, and stays the same array", async () => {
  await using source = await startSource({ transport: echoStdio() });
  const old = source.server.tools();
  source.changes.length = 0;
  await source.call("change_tools");
  await waitUntil(() => source.changes.length > 0);
  assert.equal(source.server.tools(), old);
  await source.call("change_tools", { redefine: "echo" });
  await waitUntil(() => source.server.tools() !== old);
  assert.deepEqual(source.changes, ["tools", "tools"]);
  assert.equal(source.tool("echo").definition.description, "Returns its text (redefined)");
});

test("a change that is reported during the first reading of the lists is not lost", async () => {
  await using source = await startSource({ transport: oddStdio("changes-while-listing") });
  await waitUntil(() => namesOf(source).includes("new"));
});

test("changes during the reading of a list are read after it", async () => {
  const timers = new ManualTimers();
  let now = 0;
  await using source = await startSource({ transport: oddStdio("held-list"), timers, now: () => now });
  await source.call("change");
  timers.fire();
  await untilListing(source, 2);
  await Promise.all([source.call("change"), source.call("change")]);
  now += 700;
  await source.call("release");
  await waitUntil(() => timers.delays.length > 0);
  assert.deepEqual(timers.delays, [700], "the pause is as long as the reading");
  timers.fire();
  await untilListing(source, 3);
  assert.equal(namesOf(source)[0], "version_2");
  await source.call("release");
  await waitUntil(() => namesOf(source).includes("version_3"));
  assert.deepEqual(timers.delays, [], "no further reading is planned");
  assert.equal(await source.text("count"), "3");
});

const ways = [
  { name: "stdio", open: async () => ({ transport: echoStdio(), end: async () => {} }) },
  {
    name: "streamable HTTP",
    async open() {
      const echo = await startEchoHttpServer();
      const transport = { kind: "streamable_http", url: echo.url, headers: {} } as const;
      return { transport, end: () => echo[Symbol.asyncDispose]() };
    },
  },
  {
    name: "HTTP with SSE",
    async open() {
      const echo = await startEchoSseServer();
      const transport = { kind: "sse", url: echo.url, headers: {} } as const;
      return { transport, end: () => echo[Symbol.asyncDispose]() };
    },
  },
];

for (const { name, open } of ways) {
  test(`over ${name}, a resource is subscribed to from its first watcher to its last, and only watchers get updates`, async () => {
    const { transport, end } = await open();
    await using source = await startSource({ transport });
    const { watch, unwatch } = source.server.features;
    const [first, second, other] = [createWatcher(), createWatcher(createClient()), createWatcher()];
    const uri = "echo://watched";
    await Promise.all([
      watch(uri, first),
      watch(uri, second),
      watch("echo://note", other),
      watch(uri, first),
    ]);
    assert.equal((await receivedBy(source, "resources/subscribe")).length, 2);
    await source.call("update_resource", { uri, times: 2 });
    await waitUntil(() => first.heard.length === 2 && second.heard.length === 2);
    assert.deepEqual([...first.heard, ...other.heard], [uri, uri]);

    await unwatch(uri, first);
    await unwatch(uri, first);
    assert.equal((await receivedBy(source, "resources/unsubscribe")).length, 0);
    await source.call("update_resource", { uri });
    await waitUntil(() => second.heard.length === 3);
    await unwatch(uri, second);
    assert.deepEqual(
      (await receivedBy(source, "resources/unsubscribe")).map(({ params }) => params),
      [{ uri }],
    );
    await source.call("update_resource", { uri });
    await source.call("update_resource", { uri: "echo://note" });
    await waitUntil(() => other.heard.length === 1);
    assert.deepEqual([first.heard.length, second.heard.length], [2, 3]);
    await source[Symbol.asyncDispose]();
    await end();
  });
}

test("a watch ends with its client's session", async () => {
  await using source = await startSource({ transport: echoStdio() });
  const client = createClient();
  const watcher = createWatcher(client);
  await source.server.features.watch("echo://watched", watcher);
  client.leave();
  await waitUntil(async () => (await receivedBy(source, "resources/unsubscribe")).length === 1);
  await source.call("update_resource", {});
  assert.deepEqual(watcher.heard, []);
  await assert.rejects(source.server.features.watch("echo://watched", watcher), /The client left/);
});

test("a watch that ends while its server is being connected does not wait for it", async () => {
  await using source = createSource({ transport: echoStdio("--hang-initialize"), graceMs: 100 });
  const stopping = new AbortController();
  const starting = source.server.start(stopping.signal);
  const { watch, unwatch } = source.server.features;
  const [client, watcher] = [createClient(), createWatcher()];
  const watching = [watch("echo://watched", watcher), watch("echo://watched", createWatcher(client))];
  await unwatch("echo://watched", watcher);
  client.leave();
  await Promise.all(watching);
  assert.equal(source.server.health().state, "starting");
  stopping.abort();
  await starting;
});

test("a watcher gets the updates of parts of its resource", async () => {
  await using source = await startSource({ transport: echoStdio() });
  const [root, near] = [createWatcher(), createWatcher()];
  await source.server.features.watch("echo://folder", root);
  await source.server.features.watch("echo://folder/fil", near);
  // The echo server sends updates only for exactly the subscribed URIs.
  const file = createWatcher();
  await source.server.features.watch("echo://folder/file", file);
  await source.call("update_resource", { uri: "echo://folder/file" });
  await waitUntil(() => root.heard.length > 0);
  assert.deepEqual(
    [root.heard, near.heard, file.heard],
    [["echo://folder/file"], [], ["echo://folder/file"]],
  );
});

test("a watch that the server refuses fails, and can be tried again", async () => {
  await using source = await startSource({ transport: echoStdio("--capabilities", "tools") });
  const watcher = createWatcher();
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const error = await failureOf(source.server.features.watch("x://y", watcher));
    assert.deepEqual([error.code, error.data["rpcCode"]], ["UPSTREAM_ERROR", -32601]);
    assert.equal((await receivedBy(source, "resources/subscribe")).length, attempt);
  }
  await source.server.features.unwatch("x://y", watcher);
  assert.equal((await receivedBy(source, "resources/unsubscribe")).length, 0);
});

test("watches move to the next session, and their watchers get an update", async () => {
  await using source = await startSource({ transport: echoStdio() });
  const [shared, own] = [createWatcher(), createWatcher(createAskableClient("own"))];
  const { watch, unwatch } = source.server.features;
  await watch("echo://watched", shared);
  await watch("echo://note", own);
  assert.equal(source.server.facts().clientSessions, 1);
  process.kill(source.server.facts().pid as number, "SIGKILL");
  await waitUntil(() => shared.heard.length === 1);
  await source.call("update_resource", {});
  await waitUntil(() => shared.heard.length === 2);
  // The client's own session was not affected.
  assert.deepEqual(own.heard, []);
  await unwatch("echo://watched", shared);
  assert.equal((await receivedBy(source, "resources/unsubscribe")).length, 1);
});
