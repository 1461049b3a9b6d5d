import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startEchoHttpServer, startRawServer, waitUntil } from "@toolcrib/testing";
import {
  createAskableClient,
  createCall,
  createClient,
  createSource,
  echoStdio,
  failureOf,
  never,
  type RememberedServer,
  type ResolvedTransport,
  receivedBy,
  startSource,
} from "./source-harness.ts";

const modern = { protocol: "2026-07-28", only: true };
const ways: { name: string; open: () => Promise<AsyncDisposable & { transport: ResolvedTransport }> }[] = [
  {
    name: "stdio",
    open: async () => ({
      transport: echoStdio("--protocol", "2026-07-28", "--only", "--page-size", "7"),
      async [Symbol.asyncDispose]() {},
    }),
  },
  {
    name: "streamable HTTP",
    async open() {
      const echo = await startEchoHttpServer({ ...modern, pageSize: 7 });
      const transport = { kind: "streamable_http", url: echo.url, headers: {} } as const;
      return { transport, [Symbol.asyncDispose]: () => echo[Symbol.asyncDispose]() };
    },
  },
];

for (const { name, open } of ways) {
  describe(`a server that speaks only 2026-07-28 over ${name}`, () => {
    test("lists and calls, with progress, errors and cancellation", async () => {
      await using way = await open();
      await using source = await startSource({ transport: way.transport });
      const { server } = source;
      assert.equal(server.facts().protocolVersion, "2026-07-28");
      assert.equal(server.facts().serverInfo?.["name"], "echo");
      assert.ok(server.tools().length > 20);
      const result = await source.call("structured", { value: 2 });
      assert.deepEqual(result.structuredContent, { value: 2, doubled: 4 });
      assert.equal("resultType" in result, false);
      const call = createCall({ wantsProgress: true });
      await source.call("progress", { steps: 50 }, call);
      assert.equal(call.progressed.length, 50);
      const refused = await failureOf(source.call("rpc_error", { code: -32050 }));
      assert.deepEqual([refused.code, refused.data["rpcCode"]], ["UPSTREAM_ERROR", -32050]);
      const stopping = new AbortController();
      const hanging = failureOf(source.call("hang", {}, createCall({ signal: stopping.signal })));
      await source.call("echo");
      stopping.abort(new Error("stop"));
      assert.equal((await hanging).message, "stop");
      await waitUntil(async () => (await source.text("cancelled")) === "1");
    });

    test("offers resources, templates, prompts and completion", async () => {
      await using way = await open();
      await using source = await startSource({ transport: way.transport });
      const { features } = source.server;
      const counts = [features.resources(), features.resourceTemplates(), features.prompts()];
      assert.deepEqual(
        counts.map(({ length }) => length),
        [3, 1, 2],
      );
      const read = await features.request("resources/read", { uri: "echo://note" }, createCall());
      assert.equal((read["contents"] as { text: string }[])[0]?.text, "A note");
      const missing = features.request("resources/read", { uri: "echo://none" }, createCall());
      assert.equal((await failureOf(missing)).data["rpcCode"], -32602);
      await features.request("prompts/get", { name: "plain" }, createCall());
    });

    test("reports changed lists and watched resources on one stream", async () => {
      await using way = await open();
      await using source = await startSource({ transport: way.transport });
      const { watch, unwatch } = source.server.features;
      await waitUntil(async () => (await receivedBy(source, "subscriptions/listen")).length === 1);
      await source.call("change_tools", { add: "fresh" });
      await waitUntil(() => source.server.tools().some(({ definition }) => definition.name === "fresh"));
      const heard: string[] = [];
      const watcher = { updated: (uri: string) => void heard.push(uri) };
      const other = { updated: () => assert.fail("It watches something else") };
      await Promise.all([watch("echo://watched", watcher), watch("echo://note", other)]);
      await source.call("update_resource");
      await waitUntil(() => heard.length === 1);
      await source.call("change_tools", { add: "fresher" });
      await waitUntil(() => source.server.tools().some(({ definition }) => definition.name === "fresher"));
      await unwatch("echo://watched", watcher);
      await source.call("update_resource");
      await source.call("echo");
      assert.deepEqual(heard, ["echo://watched"]);
      const listens = await receivedBy(source, "subscriptions/listen");
      assert.ok(listens.length <= 4, `${listens.length} streams were opened`);
      // Over HTTP, closing the stream is the only signal.
      const cancelled = await receivedBy(source, "notifications/cancelled");
      assert.equal(cancelled.length, name === "stdio" ? listens.length - 1 : 0);
    });

    test("serves all clients over one session, and asks each as it declared", async () => {
      await using way = await open();
      await using source = await startSource({ transport: way.transport });
      const client = createAskableClient("ada");
      assert.match(await source.text("ask_sampling", {}, createCall({ client })), /"ada"/);
      assert.match(await source.text("ask_roots", {}, createCall({ client })), /file:\/\/\/ada/);
      assert.equal(client.asked.length, 2);
      const mute = createClient();
      const refused = await failureOf(source.call("ask_sampling", {}, createCall({ client: mute })));
      assert.equal(refused.data["rpcCode"], -32021);
      assert.deepEqual(mute.asked, []);
      assert.equal(source.server.facts().clientSessions, 0);
    });

    test("passes log messages on to the client that set a level", async () => {
      await using way = await open();
      await using source = await startSource({ transport: way.transport });
      const client = createClient({ logLevel: "info" });
      const deaf = createCall();
      const busy = source.call("sleep", { ms: 100 }, deaf);
      await source.call("log", { level: "info", message: "heard" }, createCall({ client }));
      await source.call("log", { level: "debug", message: "too low" }, createCall({ client }));
      await source.call("log", { level: "info", message: "not asked for" }, deaf);
      await busy;
      assert.deepEqual(
        client.sent.map(({ params }) => params["data"]),
        ["heard"],
      );
      assert.deepEqual(deaf.sent, []);
    });
  });
}

test("a modern stdio server that is killed is connected again in its era, with its stream", async () => {
  await using source = await startSource({ transport: echoStdio("--protocol", "2026-07-28", "--only") });
  const heard: string[] = [];
  await source.server.features.watch("echo://watched", { updated: (uri) => void heard.push(uri) });
  process.kill(source.server.facts().pid as number, "SIGKILL");
  await waitUntil(() => heard.length === 1);
  await source.call("update_resource");
  await waitUntil(() => heard.length === 2);
  await source.call("change_tools", { add: "fresh" });
  await waitUntil(() => source.server.tools().some(({ definition }) => definition.name === "fresh"));
});

test("a modern HTTP stream that breaks is opened again, and changes meanwhile are read", async () => {
  await using echo = await startEchoHttpServer(modern);
  await using source = await startSource({
    transport: { kind: "streamable_http", url: echo.url, headers: {} },
  });
  const heard: string[] = [];
  await source.server.features.watch("echo://watched", { updated: (uri) => void heard.push(uri) });
  // As if the change happened while there is no stream.
  await source.call("change_tools", { add: "unseen", silent: true });
  echo.dropConnections();
  await waitUntil(() => source.server.tools().some(({ definition }) => definition.name === "unseen"));
  assert.deepEqual(heard, ["echo://watched"]);
  assert.equal(source.server.facts().restarts, 0);
});

test("annotated parameters are mirrored as headers over HTTP", async () => {
  await using echo = await startEchoHttpServer(modern);
  await using source = await startSource({
    transport: { kind: "streamable_http", url: echo.url, headers: {} },
  });
  const mirrored = JSON.parse(await source.text("mirror", { region: "eu", nested: { level: 3 } }));
  assert.deepEqual(mirrored, { "mcp-param-region": "eu", "mcp-param-level": "3" });
});

test("a server of both eras over HTTP has a link for each, and its eras are remembered", async () => {
  await using echo = await startEchoHttpServer({ protocol: "2026-07-28" });
  const transport = { kind: "streamable_http", url: echo.url, headers: {} } as const;
  let remembered: RememberedServer | undefined;
  const remember = (definitions: RememberedServer) => {
    remembered = definitions;
  };
  await using source = await startSource({ transport, remember });
  assert.deepEqual(remembered?.eras, ["legacy", "modern"]);
  const ofModern = {
    ...createCall(),
    era: "modern",
    rounds: {},
    clientCapabilities: { sampling: {} },
  } as const;
  const asked: { readonly [member: string]: unknown } = await source.call("ask_sampling", {}, ofModern);
  assert.equal(asked["resultType"], "input_required");
  const client = createAskableClient("ada");
  assert.match(await source.text("ask_sampling", {}, createCall({ client })), /"ada"/);
  const discovered = (await receivedBy(source, "server/discover")).length;
  await using again = await startSource({ transport, ...(remembered === undefined ? {} : { remembered }) });
  assert.equal((await receivedBy(again, "server/discover")).length, discovered);
  const later = Date.now() + 2 * 24 * 3600 * 1000;
  const old = { transport, now: () => later, ...(remembered === undefined ? {} : { remembered }) };
  await using checked = await startSource(old);
  assert.ok((await receivedBy(checked, "server/discover")).length > discovered);
});

test("a server that refuses a version and lists only modern ones is not asked for a legacy session", async () => {
  const methods: (string | undefined)[] = [];
  await using server = await startRawServer((exchange) => {
    const { rpc } = exchange;
    methods.push(rpc.method);
    if (rpc.method !== "server/discover")
      return exchange.json(
        exchange.answer({ resultType: "complete", tools: [], ttlMs: 0, cacheScope: "private" }),
      );
    const supported = ["2026-07-28"];
    if (exchange.earlier > 0)
      return exchange.json(exchange.answer({ supportedVersions: supported, capabilities: { tools: {} } }));
    const error = { code: -32022, message: "Unsupported", data: { supported } };
    const type = { "content-type": "application/json" };
    return exchange.respond(400, type, JSON.stringify({ jsonrpc: "2.0", id: rpc.id, error }));
  });
  await using source = await startSource({
    transport: { kind: "streamable_http", url: server.url, headers: {} },
  });
  assert.equal(source.server.facts().protocolVersion, "2026-07-28");
  assert.deepEqual(methods, ["server/discover", "server/discover", "tools/list"]);
});

test("a watch is refused where the server acknowledges a stream without its resource", async () => {
  const subscriptionId = "io.modelcontextprotocol/subscriptionId";
  await using server = await startRawServer((exchange) => {
    const { rpc } = exchange;
    if (rpc.method === "server/discover")
      return exchange.json(
        exchange.answer({
          supportedVersions: ["2026-07-28"],
          capabilities: { resources: { subscribe: true } },
        }),
      );
    const empty = { resultType: "complete", tools: [], resources: [], resourceTemplates: [] };
    if (rpc.method !== "subscriptions/listen")
      return exchange.json(exchange.answer({ ...empty, ttlMs: 0, cacheScope: "private" }));
    const params = { notifications: {}, _meta: { [subscriptionId]: rpc.id } };
    const method = "notifications/subscriptions/acknowledged";
    exchange.begin();
    return exchange.chunk(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", method, params })}\n\n`);
  });
  await using source = await startSource({
    transport: { kind: "streamable_http", url: server.url, headers: {} },
  });
  assert.equal(source.server.facts().protocolVersion, "2026-07-28");
  const watched = source.server.features.watch("note:1", {
    updated: () => assert.fail("It watches nothing"),
  });
  const refused = await failureOf(watched);
  assert.equal(refused.code, "UPSTREAM_WATCH_REFUSED");
  assert.match(refused.message, /does not report changes of "note:1"/);
});

test("a server is used in the era that its declaration names, and in no other", async () => {
  await using both = await startEchoHttpServer({ protocol: "2026-07-28" });
  await using legacy = await startEchoHttpServer();
  const on = (url: string) => ({ transport: { kind: "streamable_http", url, headers: {} } as const });
  await using pinned = await startSource({ ...on(both.url), protocol: "modern" });
  assert.equal(pinned.server.facts().protocolVersion, "2026-07-28");
  await using older = await startSource({ ...on(both.url), protocol: "legacy" });
  assert.equal(older.server.facts().protocolVersion, "2025-11-25");
  await using refused = createSource({
    ...on(legacy.url),
    protocol: "modern",
    limits: { reconnectMinMs: 60_000 },
  });
  await refused.server.start(never);
  assert.equal(refused.server.health().state, "unavailable");
  assert.deepEqual(await receivedBy(older, "nothing"), []);
});
