import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startEchoHttpServer, waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import {
  createAskableClient,
  createCall,
  createClient,
  echoStdio,
  failureOf,
  oddStdio,
  type ResolvedTransport,
  receivedBy,
  startSource,
  type TestCall,
  type TestSource,
} from "./source-harness.ts";

const ways: { name: string; open: () => Promise<AsyncDisposable & { transport: ResolvedTransport }> }[] = [
  {
    name: "stdio",
    open: async () => ({ transport: echoStdio(), async [Symbol.asyncDispose]() {} }),
  },
  {
    name: "streamable HTTP",
    async open() {
      const echo = await startEchoHttpServer();
      const transport = { kind: "streamable_http", url: echo.url, headers: {} } as const;
      return { transport, [Symbol.asyncDispose]: () => echo[Symbol.asyncDispose]() };
    },
  },
];

/** Starts a call of `name` that does not end until it is cancelled. */
function startHanging(source: TestSource, name: string) {
  const stopping = new AbortController();
  const call = createCall({ name, signal: stopping.signal });
  const failed = failureOf(source.call("hang", {}, call));
  return {
    sent: call.sent,
    async stop() {
      stopping.abort(new Error("stop"));
      await failed;
    },
  };
}

for (const { name, open } of ways) {
  describe(`clients over ${name}`, () => {
    test("the server's requests reach exactly the client that called, with many interleaved calls", async () => {
      await using way = await open();
      await using source = await startSource({ transport: way.transport });
      const [ada, alan] = [createAskableClient("ada"), createAskableClient("alan")];
      const questions = ["ask_sampling", "ask_elicitation", "ask_roots"];
      await Promise.all(
        Array.from({ length: 5 }, () => questions)
          .flat()
          .flatMap((question) =>
            [ada, alan].map(async (client) => {
              const text = await source.text(question, {}, createCall({ client }));
              assert.match(text, new RegExp(client === ada ? "ada" : "alan"));
              assert.doesNotMatch(text, new RegExp(client === ada ? "alan" : "ada"));
            }),
          ),
      );
      assert.deepEqual([ada.asked.length, alan.asked.length], [15, 15]);
      assert.equal(source.server.facts().clientSessions, 2);
    });

    test("a client without the capability gets the reason from a tool that sends a request", async () => {
      await using way = await open();
      await using source = await startSource({ transport: way.transport });
      const plain = createCall({ client: createClient() });
      const error = await failureOf(source.call("ask_sampling", {}, plain));
      assert.equal(error.code, "UPSTREAM_ERROR");
      assert.equal(error.message, "The client that made this call does not support sampling");
      assert.equal(source.server.facts().clientSessions, 0);
      // The reason is the same while other clients call.
      const others = [source.call("sleep", { ms: 200 }, createCall({ client: createClient() }))];
      const again = await failureOf(source.call("ask_elicitation", {}, plain));
      assert.equal(again.message, "The client that made this call does not support elicitation");
      await Promise.all(others);
    });

    test("the declared capabilities are the client's capabilities that can be passed on, and its extensions", async () => {
      await using way = await open();
      await using source = await startSource({ transport: way.transport });
      const passed = {
        elicitation: { form: {} },
        experimental: { x: {} },
        extensions: { "example.com/x": { level: 1 } },
      };
      const extensions = { ...passed.extensions, "io.modelcontextprotocol/tasks": {} };
      const capabilities = { ...passed, extensions, tasks: { list: {} } };
      const client = createClient({ capabilities });
      const call = createCall({ client });
      const initializations = await receivedBy(source, "initialize", call);
      const { params } = initializations.at(-1) as { params: { capabilities: unknown } };
      assert.deepEqual(params.capabilities, passed);
    });

    test("log messages reach the client that caused them, at the level that it set", async () => {
      await using way = await open();
      await using source = await startSource({ transport: way.transport });
      const [debug, error] = [createClient({ logLevel: "debug" }), createClient({ logLevel: "error" })];
      const log = (client: typeof debug, level: string, message: string) =>
        source.call("log", { level, message }, createCall({ client }));
      await Promise.all([
        log(debug, "debug", "one"),
        log(error, "info", "two"),
        log(error, "critical", "three"),
      ]);
      await waitUntil(() => debug.sent.length === 1 && error.sent.length === 1);
      assert.deepEqual(
        [...debug.sent, ...error.sent].map(({ params }) => params["data"]),
        ["one", "three"],
      );
      // A changed level applies from the next call on.
      error.logLevel = "info";
      await log(error, "info", "four");
      await waitUntil(() => error.sent.length === 2);
      debug.logLevel = "alert";
      await log(debug, "error", "five");
      await log(debug, "alert", "six");
      await waitUntil(() => debug.sent.length === 2);
      assert.equal(debug.sent.at(-1)?.params["data"], "six");
    });

    test("a log message reaches no client while calls of several clients can have caused it", async () => {
      await using way = await open();
      await using source = await startSource({ transport: way.transport });
      const first = createCall({ name: "first" });
      await source.call("log", { message: "alone" }, first);
      const second = createCall({ name: "second" });
      const hanging = startHanging(source, "first");
      await source.call("log", {}, second);
      await hanging.stop();
      await source.call("echo", {}, first);
      assert.deepEqual(
        first.sent.map(({ params }) => params["data"]),
        ["alone"],
      );
      // A separate stream shows which call the message belongs to; a common channel does not.
      assert.equal(second.sent.length, name === "stdio" ? 0 : 1);
      const logged = source.records.filter(({ event }) => event === "log message of the server");
      assert.equal(logged.length, name === "stdio" ? 1 : 0);
    });

    test("with several calls of one identity, a log message reaches the call on whose stream it arrives", async () => {
      await using way = await open();
      await using source = await startSource({ transport: way.transport });
      const logging = createCall();
      const hanging = startHanging(source, logging.identity.name);
      await source.call("log", {}, logging);
      await hanging.stop();
      assert.deepEqual([hanging.sent.length, logging.sent.length], [0, name === "stdio" ? 0 : 1]);
    });

    test("a change of a client's roots is reported to its own session, and to no other", async () => {
      await using way = await open();
      await using source = await startSource({ transport: way.transport });
      const [ada, alan] = [createAskableClient("ada"), createAskableClient("alan")];
      const calls = [ada, alan].map((client) => createCall({ client }));
      for (const call of calls) await source.call("echo", {}, call);
      ada.changeRoots();
      const rootsChanges = async (call: (typeof calls)[number]) =>
        (await receivedBy(source, "notifications/roots/list_changed", call)).length;
      await waitUntil(async () => (await rootsChanges(calls[0] as never)) === 1);
      // The processes of a stdio server share no state; an HTTP server counts all of its sessions.
      assert.equal(await rootsChanges(calls[1] as never), name === "stdio" ? 0 : 1);
      ada.leave();
      ada.changeRoots();
    });

    test("a session ends with its client", async () => {
      await using way = await open();
      await using source = await startSource({ transport: way.transport });
      const client = createAskableClient("ada");
      const call = createCall({ client });
      const pid = JSON.parse(await source.text("request", {}, call)).pid;
      assert.equal(pid, undefined);
      const inFlight = failureOf(source.call("hang", {}, call));
      await source.call("echo", {}, call);
      client.leave();
      assert.equal((await inFlight).code, "UPSTREAM_CLOSED");
      assert.equal(source.server.facts().clientSessions, 0);
      await assert.rejects(source.call("echo", {}, call), /The client left/);
      assert.equal(await source.text("echo", { text: "the others stay" }), "the others stay");
    });

    test("a client's session that breaks is opened again at its next call", async () => {
      await using way = await open();
      await using source = await startSource({ transport: way.transport });
      const client = createAskableClient("ada");
      const call = createCall({ client });
      await source.call("echo", {}, call);
      const breaking =
        name === "stdio" ? source.call("crash", {}, call) : source.call("expire_session", {}, call);
      if (name === "stdio") assert.equal((await failureOf(breaking)).code, "UPSTREAM_CLOSED");
      else await breaking;
      if (name === "stdio") {
        await waitUntil(() => source.records.some(({ event }) => event === "session of a client failed"));
      }
      assert.match(await source.text("ask_sampling", {}, call), /ada/);
      assert.equal(source.server.facts().restarts, 0);
    });
  });
}

test("a resource is watched on its client's own session", async () => {
  await using source = await startSource({ transport: echoStdio() });
  const client = createAskableClient("ada");
  const call = createCall({ client });
  const heard: string[] = [];
  const watcher = { session: client, updated: (uri: string) => void heard.push(uri) };
  await source.server.features.watch("echo://watched", watcher);
  let sharedCount = 0;
  const shared = {
    updated() {
      sharedCount += 1;
    },
  };
  await source.server.features.watch("echo://watched", shared);
  await source.call("update_resource");
  await waitUntil(() => sharedCount === 1);
  await source.call("update_resource", {}, call);
  await waitUntil(() => heard.length === 1);
  // Its session breaks: the watch moves to the next one, and the watcher gets an update.
  await failureOf(source.call("crash", {}, call));
  await waitUntil(() => heard.length === 2);
  await source.call("update_resource", {}, call);
  await waitUntil(() => heard.length === 3);
  assert.deepEqual([sharedCount, (await receivedBy(source, "resources/subscribe")).length], [1, 1]);
});

test("other credentials end the sessions of clients after their calls in flight, and renewed ones end none", async () => {
  await using source = await startSource({ transport: echoStdio() });
  const { promise: ready, resolve: answer } = Promise.withResolvers<void>();
  const busy = createAskableClient("busy", ready);
  const watching = createAskableClient("watching");
  const heard: string[] = [];
  await source.server.features.watch("echo://watched", {
    session: watching,
    updated: (uri) => void heard.push(uri),
  });
  await source.call("echo", {}, createCall({ client: watching }));
  const asked = source.text("ask_sampling", {}, createCall({ client: busy }));
  await waitUntil(() => busy.asked.length === 1);
  source.server.credentialsChanged({ owner: undefined, isReplaced: false });
  assert.deepEqual([source.server.facts().clientSessions, heard], [2, []]);
  source.server.credentialsChanged({ owner: undefined, isReplaced: true });
  // The watch moves to a session of its own, and its watcher gets an update.
  await waitUntil(() => heard.length === 1);
  await source.call("echo", {}, createCall({ client: busy }));
  assert.equal(source.server.facts().clientSessions, 3);
  answer();
  assert.match(await asked, /"busy"/);
  await waitUntil(() => source.server.facts().clientSessions === 2);
});

test("a session in use is never closed for another client, an unused one is", async () => {
  await using source = await startSource({
    transport: echoStdio(),
    limits: { maxClientSessions: 2, sessionWaitMs: 0 },
  });
  const { promise: ready, resolve: answer } = Promise.withResolvers<void>();
  const clients = ["a", "b"].map((name) => createAskableClient(name, ready));
  const [a, b] = clients.map((client) => createCall({ client })) as [TestCall, TestCall];
  const c = createCall({ client: createAskableClient("c") });
  const busy = [a, b].map((call) => source.text("ask_sampling", {}, call));
  await waitUntil(() => clients.every(({ asked }) => asked.length === 1));
  const error = await failureOf(source.call("echo", {}, c));
  assert.equal(error.code, "UPSTREAM_SESSION_LIMIT");
  assert.equal(error.message, 'All 2 client sessions of the server "s" are in use');
  answer();
  const [first = "", second = ""] = await Promise.all(busy);
  assert.match(first, /"a"/);
  assert.match(second, /"b"/);
  await source.call("echo", {}, b);
  // Now the least recently used session is closed.
  assert.match(await source.text("ask_sampling", {}, c), /"c"/);
  assert.equal(source.server.facts().clientSessions, 2);
  assert.match(await source.text("ask_sampling", {}, b), /"b"/);
});

test("the sessions of one caller get half of the places, and close no session of another caller", async () => {
  await using source = await startSource({
    transport: echoStdio(),
    limits: { maxClientSessions: 4, sessionWaitMs: 0 },
  });
  const clientOf = (name: string, user: string, ready?: Promise<void>) => ({
    ...createAskableClient(name, ready),
    identity: localIdentity("token", user),
  });
  const callOf = (name: string, user: string) => createCall({ client: clientOf(name, user) });
  const { promise: ready, resolve: answer } = Promise.withResolvers<void>();
  const clients = ["a1", "a2"].map((name) => clientOf(name, "a", ready));
  const busy = clients.map((client) => source.text("ask_sampling", {}, createCall({ client })));
  await waitUntil(() => clients.every(({ asked }) => asked.length === 1));
  const error = await failureOf(source.call("echo", {}, callOf("a3", "a")));
  assert.equal(error.code, "UPSTREAM_SESSION_LIMIT");
  assert.match(await source.text("ask_sampling", {}, callOf("b", "b")), /"b"/);
  answer();
  await Promise.all(busy);
  // A further session of the same caller closes one of its own.
  await source.call("echo", {}, callOf("a4", "a"));
  assert.equal(source.server.facts().clientSessions, 3);
});

test("an unused session is closed after the idle time, unless a resource is watched on it", async () => {
  let now = 1_000_000;
  await using source = await startSource({
    transport: echoStdio(),
    now: () => now,
    limits: { clientSessionIdleMs: 1000 },
  });
  const [idle, watching] = [createAskableClient("idle"), createAskableClient("watching")];
  for (const client of [idle, watching]) await source.call("echo", {}, createCall({ client }));
  const heard: string[] = [];
  const watcher = { session: watching, updated: (uri: string) => void heard.push(uri) };
  await source.server.features.watch("echo://note", watcher);
  assert.equal(source.server.facts().clientSessions, 2);
  const hello = { uri: "echo://hello" };
  await source.call("update_resource", { ...hello, text: "mark" }, createCall({ client: watching }));
  now += 1001;
  await waitUntil(() => source.server.facts().clientSessions === 1);
  assert.match(await source.text("ask_sampling", {}, createCall({ client: idle })), /idle/);
  const { features } = source.server;
  const read = await features.request("resources/read", hello, createCall({ client: watching }));
  assert.match(JSON.stringify(read), /mark/);
  assert.deepEqual(heard, []);
});

test("a client whose sessions end at once waits between attempts, other clients do not", async () => {
  let isBroken = false;
  await using source = await startSource({
    transport: async () => (isBroken ? echoStdio("--die") : echoStdio()),
    limits: { reconnectMinMs: 10_000 },
  });
  isBroken = true;
  const call = createCall({ client: createAskableClient("ada") });
  const first = await failureOf(source.call("echo", {}, call));
  assert.equal(first.code, "UPSTREAM_UNAVAILABLE");
  assert.match(first.message, /^The server "s" is not available to this client: .*exited with code 3/);
  isBroken = false;
  assert.equal((await failureOf(source.call("echo", {}, call))).code, "UPSTREAM_UNAVAILABLE");
  assert.equal(await source.text("echo", { text: "shared" }), "shared");
  const other = createCall({ client: createAskableClient("alan") });
  assert.equal(await source.text("echo", { text: "own" }, other), "own");
});

test("the completion of a URL elicitation reaches its client, during the call and after it", async () => {
  await using source = await startSource({ transport: oddStdio("plain") });
  const [ada, alan] = [createAskableClient("ada"), createAskableClient("alan")];
  const [adas, alans] = [createCall({ client: ada }), createCall({ client: alan })];
  assert.match(await source.text("visit", { id: "visit-1" }, adas), /accept/);
  await source.call("visit", { id: "visit-2" }, alans);
  assert.deepEqual(
    ada.asked.map(({ params }) => params["elicitationId"]),
    ["visit-1"],
  );
  await source.call("finish", { id: "visit-1" }, adas);
  const complete = { method: "notifications/elicitation/complete", params: { elicitationId: "visit-1" } };
  assert.deepEqual([ada.sent, alan.sent], [[complete], []]);
});

test("the completion of a required URL elicitation reaches its caller over the shared session, and no other client", async () => {
  await using source = await startSource({ transport: oddStdio("plain") });
  const [ada, alan] = [createClient(), createClient()];
  const error = await failureOf(source.call("require", { id: "visit-3" }, createCall({ client: ada })));
  assert.equal(error.data["rpcCode"], -32042);
  await source.call("finish", { id: "visit-3" }, createCall({ client: alan, name: "alan" }));
  await waitUntil(() => ada.sent.length === 1);
  assert.deepEqual(ada.sent[0]?.params, { elicitationId: "visit-3" });
  await source.call("finish", { id: "unknown" }, createCall({ client: alan, name: "alan" }));
  assert.deepEqual([ada.sent.length, alan.sent], [1, []]);
});

test("a log message that arrives after its call reaches no call of another identity", async () => {
  await using source = await startSource({ transport: oddStdio("logs-late") });
  const [first, second] = [createCall({ name: "first" }), createCall({ name: "second" })];
  await source.call("start", {}, first);
  await source.call("wait", { ms: 0 }, second);
  assert.deepEqual([first.sent, second.sent], [[], []]);
  const [record] = source.records.filter(({ event }) => event === "log message of the server");
  assert.equal(record?.["data"], '"late"');
});

test("a call waits until its client's log level is set", async () => {
  await using source = await startSource({ transport: oddStdio("sets-level-slowly") });
  const client = createClient({ logLevel: "notice" });
  const call = createCall({ client });
  assert.deepEqual(await Promise.all([source.text("level", {}, call), source.text("level", {}, call)]), [
    "notice",
    "notice",
  ]);
  client.logLevel = "error";
  assert.equal(await source.text("level", {}, call), "error");
});

test("a request that any of several calls can have caused outlives the end of one call", async () => {
  await using source = await startSource({ transport: oddStdio("plain") });
  let answer: (given: { action: string }) => void = () => {};
  const client = createClient({
    capabilities: { elicitation: { url: {} } },
    answer: () => new Promise((resolve) => (answer = resolve)),
  });
  const visiting = source.text("visit", { id: "visit-4", isDelayed: true }, createCall({ client }));
  const stopping = new AbortController();
  const waiting = failureOf(
    source.call("wait", { ms: 5000 }, createCall({ client, signal: stopping.signal })),
  );
  await waitUntil(() => client.asked.length === 1);
  stopping.abort(new Error("stop"));
  await waiting;
  assert.equal(client.asked[0]?.signal.aborted, false);
  answer({ action: "accept" });
  assert.match(await visiting, /accept/);
});

test("a client whose sessions all expire soon waits between attempts, after one that is made at once", async () => {
  await using echo = await startEchoHttpServer();
  const transport = { kind: "streamable_http", url: echo.url, headers: {} } as const;
  await using source = await startSource({
    transport,
    limits: { reconnectMinMs: 60_000, reconnectMaxMs: 60_000 },
  });
  const call = createCall({ client: createAskableClient("ada") });
  await source.call("echo", {}, call);
  await source.call("ask_sampling", {}, call);
  await source.call("expire_session", {}, call);
  // The next session is opened at once, and the server forgets it, too.
  await source.call("expire_session", {}, call);
  const { code, message } = await failureOf(source.call("echo", {}, call));
  assert.equal(code, "UPSTREAM_UNAVAILABLE", message);
  assert.equal(await source.text("echo", { text: "the others stay" }), "the others stay");
});
