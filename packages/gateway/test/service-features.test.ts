/** Resources, prompts and completion of several servers at one endpoint, and the clients that receive updates. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { slowTest, startEchoHttpServer, waitUntil } from "@toolcrib/testing";
import {
  callsIn,
  onHttp,
  readAudit,
  somebody,
  startScriptedServer,
  startTestGateway,
} from "./gateway-harness.ts";

/** URIs of the update notifications that `client` receives. */
function updatesOf(client: Client): string[] {
  const heard: string[] = [];
  client.setNotificationHandler(
    ResourceUpdatedNotificationSchema,
    ({ params }) => void heard.push(params.uri),
  );
  return heard;
}

/** Code and data of the error that `work` rejects with. */
async function errorOf(work: Promise<unknown>) {
  const error = await work.then(
    () => assert.fail("It succeeded"),
    (thrown: { readonly code: number; readonly data?: unknown }) => thrown,
  );
  return [error.code, error.data];
}

/** A server whose resources contain the name of the server. */
function startNamedServer(name: string, more: Partial<Parameters<typeof startScriptedServer>[0]> = {}) {
  return startScriptedServer({
    tools: () => [],
    resources: () => [
      { uri: "shared://doc", name },
      { uri: `${name}://own`, name },
    ],
    templates: () => [{ uriTemplate: `${name}://items/{id}`, name }],
    prompts: () => [{ name: "ask", description: name }],
    other({ method, params }) {
      if (method === "resources/read") return { contents: [{ uri: String(params["uri"]), text: name }] };
      if (method !== "prompts/get") return undefined;
      return { messages: [{ role: "user", content: { type: "text", text: `${name} ${params["name"]}` } }] };
    },
    ...more,
  });
}

describe("resources", () => {
  it("are read from the first server that lists them or has a template for them", async () => {
    await using a = await startNamedServer("a");
    await using b = await startNamedServer("b");
    await using test = await startTestGateway({ tool_servers: [onHttp("a", a.url), onHttp("b", b.url)] });
    const client = await test.connect();
    const modern = await test.connectModern();
    const ofB = await test.connect({ server: "b" });
    const { resources } = await client.listResources();
    assert.deepEqual(
      resources.map(({ uri, name }) => `${uri} of ${name}`),
      ["shared://doc of a", "a://own of a", "b://own of b"],
    );
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.deepEqual(
      resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      ["a://items/{id}", "b://items/{id}"],
    );
    const reads: readonly (readonly [Pick<Client, "readResource">, uri: string, server: string])[] = [
      [client, "shared://doc", "a"],
      [client, "b://own", "b"],
      [client, "b://items/7", "b"],
      [ofB, "shared://doc", "b"],
      [ofB, "anything://at.all", "b"],
      [modern as never, "b://items/x", "b"],
    ];
    for (const [by, uri, server] of reads) {
      const { contents } = await by.readResource({ uri });
      assert.deepEqual(contents, [{ uri, text: server }]);
    }
  });

  it("that no server has are not found, with the error code of the client's era", async () => {
    await using a = await startEchoHttpServer();
    await using b = await startEchoHttpServer({ protocol: "2026-07-28", only: true });
    await using test = await startTestGateway({ tool_servers: [onHttp("a", a.url), onHttp("b", b.url)] });
    const client = await test.connect();
    const modern = await test.connectModern();
    const uri = "echo://nothing";
    const data = { uri, code: "RESOURCE_NOT_FOUND" };
    assert.deepEqual(await errorOf(client.readResource({ uri })), [-32002, data]);
    assert.deepEqual(await errorOf(client.subscribeResource({ uri })), [-32002, data]);
    assert.deepEqual(await errorOf(modern.readResource({ uri })), [-32602, data]);
    // Only one server receives the request, and its error has the code of the client's era.
    const ofA = await test.connect({ server: "a" });
    const modernOfA = await test.connectModern({ server: "a" });
    assert.deepEqual(await errorOf(ofA.readResource({ uri })), [-32002, { uri }]);
    assert.deepEqual(await errorOf(modernOfA.readResource({ uri })), [-32602, { uri }]);
    assert.equal((await errorOf(client.readResource({ uri: `x:${"y".repeat(9000)}` })))[0], -32602);
    assert.equal((await errorOf(client.readResource({ uri: 5 } as never)))[0], -32602);
    const argument = { name: "name", value: "A" };
    const completed = (uri: unknown) =>
      client.complete({ ref: { type: "ref/resource", uri: uri as string }, argument });
    const long = `x:${"y".repeat(8191)}`;
    await assert.rejects(completed(long), {
      code: -32602,
      message: /"ref.uri" is longer than 8192 characters/,
    });
    await assert.rejects(client.readResource({ uri: long }), /"uri" is longer than 8192 characters/);
    await assert.rejects(completed(long.slice(1)), { message: /ref.* names no prompt or resource template/ });
  });

  it("send few updates of a server that reports changes without end, and never lose the last one", async () => {
    await using a = await startEchoHttpServer();
    await using test = await startTestGateway({ tool_servers: [onHttp("a", a.url)] });
    const uris = ["echo://watched", "echo://note"];
    const update = (of: string | undefined, times: number) =>
      test.gateway.call(somebody, "a:update_resource", { uri: of, times });
    const client = await test.connect();
    const heard = updatesOf(client);
    for (const uri of uris) await client.subscribeResource({ uri });
    for (const uri of uris) await update(uri, 5000);
    await waitUntil(() => uris.every((uri) => heard.includes(uri)));
    const floodCount = heard.length;
    assert.ok(floodCount < 200, String(floodCount));
    await update(uris[0], 1);
    await waitUntil(() => heard.length > floodCount && heard.at(-1) === uris[0]);
  });

  it("send updates to subscribers until they unsubscribe or disconnect", async () => {
    await using a = await startEchoHttpServer();
    await using b = await startEchoHttpServer();
    await using test = await startTestGateway({ tool_servers: [onHttp("a", a.url), onHttp("b", b.url)] });
    const uri = "echo://watched";
    const update = (id = "a", of = uri) => test.gateway.call(somebody, `${id}:update_resource`, { uri: of });
    const first = await test.connect();
    const second = await test.connect();
    const ofB = await test.connect({ server: "b" });
    const never = await test.connect();
    const modern = await test.connectModern();
    const heard = [first, second, ofB, never].map(updatesOf);
    const modernHeard: string[] = [];
    modern.setNotificationHandler(
      "notifications/resources/updated",
      ({ params }) => void modernHeard.push(params.uri),
    );
    await Promise.all([first, second, ofB].map((client) => client.subscribeResource({ uri })));
    await first.subscribeResource({ uri });
    await first.subscribeResource({ uri: "echo://note" });
    const listening = await modern.listen({ resourceSubscriptions: [uri, "echo://gone", "echo://note"] });
    assert.deepEqual(listening.honoredFilter.resourceSubscriptions, [uri, "echo://note"]);
    await update();
    await update("b");
    await waitUntil(() => heard[0]?.length === 1 && heard[1]?.length === 1 && heard[2]?.length === 1);
    await waitUntil(() => modernHeard.length === 1);
    await second.unsubscribeResource({ uri });
    await second.unsubscribeResource({ uri });
    await second.unsubscribeResource({ uri: "echo://never" });
    await listening.close();
    await update();
    await update("a", "echo://note");
    await waitUntil(() => heard[0]?.length === 3);
    assert.deepEqual(heard, [[uri, uri, "echo://note"], [uri], [uri], []]);
    assert.deepEqual(modernHeard, [uri]);
    // After the last subscriber leaves, the gateway unsubscribes at the server.
    const unsubscribed = () =>
      a.received
        .filter(({ method }) => method === "resources/unsubscribe")
        .map(({ params }) => params?.["uri"]);
    await (first.transport as StreamableHTTPClientTransport).terminateSession();
    await waitUntil(() => unsubscribed().length === 2);
    assert.deepEqual(unsubscribed().sort(), ["echo://note", uri]);
    assert.equal(a.received.filter(({ method }) => method === "resources/subscribe").length, 2);
  });

  it("record each subscription that reaches a server, before it does", async () => {
    const intentsAtServer: string[][] = [];
    const intents = () =>
      readAudit(test.home)
        .filter(({ type }) => type === "call.intent")
        .map(({ data }) => (data as { readonly tool: string }).tool);
    await using a = await startNamedServer("a", {
      resources: () => ["a://one", "a://two", "a://broken", "a://secret"].map((uri) => ({ uri, name: uri })),
      other({ method, params }) {
        if (method !== "resources/subscribe") return undefined;
        intentsAtServer.push(intents());
        if (params["uri"] === "a://broken") throw new Error("no");
        return {};
      },
    });
    await using test = await startTestGateway({
      tool_servers: [onHttp("a", a.url)],
      policy: { deny: ["a:resources/a://secret"] },
    });
    const client = await test.connect();
    const modern = await test.connectModern();
    await client.subscribeResource({ uri: "a://one" });
    await assert.rejects(client.subscribeResource({ uri: "a://broken" }));
    await assert.rejects(client.subscribeResource({ uri: "a://secret" }));
    const listening = await modern.listen({ resourceSubscriptions: ["a://two", "a://secret"] });
    assert.deepEqual(listening.honoredFilter.resourceSubscriptions, ["a://two"]);
    await test.stop();
    assert.deepEqual(
      intentsAtServer.map((tools) => tools.at(-1)),
      ["a:resources/a://one", "a:resources/a://broken", "a:resources/a://two"],
    );
    assert.deepEqual(callsIn(test.audit()), [
      "a:resources/a://one intent, completed ok",
      "a:resources/a://broken intent, completed failed UPSTREAM_ERROR",
      "a:resources/a://secret denied POLICY_DENIED",
      "a:resources/a://two intent, completed ok",
    ]);
  });

  it("keep their subscription at the same server, also when another one starts to list them", async () => {
    let isThere = false;
    await using a = await startNamedServer("a", {
      resources: () => (isThere ? [{ uri: "b://own", name: "taken" }] : []),
    });
    const methods: string[] = [];
    await using b = await startNamedServer("b", {
      other({ method }) {
        if (!method.startsWith("resources/") || method.includes("list")) return undefined;
        methods.push(method);
        return {};
      },
    });
    await using test = await startTestGateway({ tool_servers: [onHttp("a", a.url), onHttp("b", b.url)] });
    const client = await test.connect();
    await client.subscribeResource({ uri: "b://own" });
    isThere = true;
    a.notify("notifications/resources/list_changed");
    await waitUntil(async () => (await client.listResources()).resources[0]?.name === "taken");
    await client.unsubscribeResource({ uri: "b://own" });
    assert.deepEqual(methods, ["resources/subscribe", "resources/unsubscribe"]);
  });

  it("leave no subscription when the client disconnects before the server responds", async () => {
    const methods: string[] = [];
    let answer = () => {};
    await using server = await startScriptedServer({
      tools: () => [],
      resources: () => [{ uri: "slow://r", name: "r" }],
      other({ method }) {
        if (method !== "resources/subscribe" && method !== "resources/unsubscribe") return undefined;
        methods.push(method);
        return method === "resources/unsubscribe"
          ? {}
          : (new Promise((resolve) => {
              answer = () => resolve({});
            }) as never);
      },
    });
    await using test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
    const client = await test.connect();
    client.subscribeResource({ uri: "slow://r" }).catch(() => {});
    await waitUntil(() => methods.length === 1);
    await (client.transport as StreamableHTTPClientTransport).terminateSession();
    answer();
    await waitUntil(() => methods.length === 2);
    assert.deepEqual(methods, ["resources/subscribe", "resources/unsubscribe"]);
  });

  it("leave no subscription when the client cancels it before the server responds, unless it wants it again", async () => {
    const methods: string[] = [];
    const holds: (() => void)[] = [];
    await using slow = await startScriptedServer({
      resources: () => ["slow://r", "slow://kept"].map((uri) => ({ uri, name: "r" })),
      other({ method, params }) {
        if (method !== "resources/subscribe" && method !== "resources/unsubscribe") return undefined;
        methods.push(`${method} ${params["uri"]}`);
        return method === "resources/unsubscribe"
          ? {}
          : (new Promise((resolve) => holds.push(() => resolve({}))) as never);
      },
    });
    await using test = await startTestGateway({ tool_servers: [onHttp("slow", slow.url)] });
    const client = await test.connect();
    const cancelling = new AbortController();
    const { signal } = cancelling;
    const wanted = ["slow://r", "slow://kept"].map((uri) => client.subscribeResource({ uri }, { signal }));
    await waitUntil(() => holds.length === 2);
    const again = client.subscribeResource({ uri: "slow://kept" });
    await waitUntil(() => test.gateway.callsInFlight() === 3);
    cancelling.abort();
    for (const one of wanted) await assert.rejects(one);
    await waitUntil(() => test.gateway.callsInFlight() === 1);
    for (const release of holds) release();
    await again;
    await waitUntil(() => methods.length === 3);
    assert.deepEqual(methods, [
      "resources/subscribe slow://r",
      "resources/subscribe slow://kept",
      "resources/unsubscribe slow://r",
    ]);
    await client.unsubscribeResource({ uri: "slow://kept" });
    assert.equal(methods.at(-1), "resources/unsubscribe slow://kept");
  });

  it(
    "are watched by all sessions of a client up to its share, which ends with its subscriptions",
    slowTest,
    async () => {
      await using server = await startScriptedServer({
        tools: () => [],
        resources: () => [{ uri: "long://r", name: "r" }],
        templates: () => [{ uriTemplate: "long://{id}", name: "long" }],
        other: ({ method }) => (/^resources\/(?:un)?subscribe$/.test(method) ? {} : undefined),
      });
      await using test = await startTestGateway(
        { tool_servers: [onHttp("s", server.url)] },
        { clients: ["first", "other"] },
      );
      const first = await test.connect({ as: "first" });
      const second = await test.connect({ as: "first" });
      const other = await test.connect({ as: "other" });
      const uris = Array.from({ length: 1100 }, (_, at) => `long://${at}-${"a".repeat(8000)}`);
      const made: (readonly [client: Client, uri: string])[] = [];
      const refused: unknown[] = [];
      for (let start = 0; start < uris.length; start += 50) {
        await Promise.all(
          uris.slice(start, start + 50).map(async (uri, at) => {
            const by = at % 2 === 0 ? first : second;
            await by.subscribeResource({ uri }).then(
              () => made.push([by, uri]),
              (error: unknown) => refused.push(error),
            );
          }),
        );
      }
      assert.ok(made.length > 900 && made.length < 1000, String(made.length));
      assert.match(String(refused[0]), /This client watches as many resources as its share allows/);
      const modern = await test.connectModern({ as: "first" });
      const listening = await modern.listen({ resourceSubscriptions: ["long://m"], toolsListChanged: true });
      assert.deepEqual(listening.honoredFilter, { toolsListChanged: true });
      await listening.close();
      await other.subscribeResource({ uri: "long://other" });
      for (const [by, uri] of made.slice(0, 20)) await by.unsubscribeResource({ uri });
      await first.subscribeResource({ uri: "long://again" });
    },
  );

  it("that a server refuses to report take no share of a stream that stays open", slowTest, async () => {
    await using server = await startScriptedServer({
      resources: () => [],
      templates: () => [{ uriTemplate: "long://{id}", name: "long" }],
      other({ method, params }) {
        if (method !== "resources/subscribe") return undefined;
        if (String(params["uri"]).startsWith("long://no-")) throw new Error("no");
        return {};
      },
    });
    await using test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
    const modern = await test.connectModern();
    for (let at = 0; at < 4; at += 1) {
      const refused = Array.from({ length: 300 }, (_, of) => `long://no-${at}-${of}-${"a".repeat(8000)}`);
      const listening = await modern.listen({ resourceSubscriptions: [...refused, `long://yes-${at}`] });
      assert.deepEqual(listening.honoredFilter, { resourceSubscriptions: [`long://yes-${at}`] });
    }
  });

  it("reject a subscription that the server rejects", async () => {
    await using server = await startScriptedServer({
      tools: () => [],
      resources: () => [{ uri: "no://r", name: "r" }],
    });
    await using test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
    const client = await test.connect();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const [code] = await errorOf(client.subscribeResource({ uri: "no://r" }));
      assert.equal(code, -32601);
    }
    const modern = await test.connectModern();
    const listening = await modern.listen({ resourceSubscriptions: ["no://r"], toolsListChanged: true });
    assert.deepEqual(listening.honoredFilter, { toolsListChanged: true });
    await listening.close();
  });
});

describe("prompts and completion", () => {
  it("go to the server of the name's prefix, which is not needed in a server's own view", async () => {
    await using a = await startNamedServer("a");
    await using b = await startNamedServer("b");
    await using test = await startTestGateway({ tool_servers: [onHttp("a", a.url), onHttp("b", b.url)] });
    const client = await test.connect();
    const ofB = await test.connect({ server: "b" });
    const modern = await test.connectModern();
    const listed = async (by: Pick<Client, "listPrompts">) =>
      (await by.listPrompts()).prompts.map(({ name, description }) => `${name} of ${description}`);
    assert.deepEqual(await listed(client), ["a__ask of a", "b__ask of b"]);
    assert.deepEqual(await listed(ofB), ["ask of b"]);
    const said = async (by: Pick<Client, "getPrompt">, name: string) => {
      const { messages } = await by.getPrompt({ name });
      return (messages[0]?.content as { readonly text: string } | undefined)?.text;
    };
    assert.equal(await said(client, "b__ask"), "b ask");
    assert.equal(await said(client, "a:ask"), "a ask");
    assert.equal(await said(ofB, "ask"), "b ask");
    assert.equal(await said(modern as never, "a__ask"), "a ask");
    for (const name of ["ask", "c__ask", "b__other"]) {
      const [code, data] = await errorOf(client.getPrompt({ name }));
      assert.deepEqual([code, data], [-32602, { code: "PROMPT_NOT_FOUND" }]);
    }
  });

  it("complete arguments of prompts and of templates", async () => {
    await using a = await startEchoHttpServer();
    await using b = await startEchoHttpServer();
    await using test = await startTestGateway({ tool_servers: [onHttp("a", a.url), onHttp("b", b.url)] });
    const client = await test.connect();
    const modern = await test.connectModern({ server: "b" });
    const argument = { name: "name", value: "A" };
    const names = ["Ada", "Alan"];
    const template = { type: "ref/resource", uri: "echo://greeting/{name}" } as const;
    const complete = async (by: Pick<Client, "complete">, ref: Parameters<Client["complete"]>[0]["ref"]) =>
      (await by.complete({ ref, argument })).completion.values;
    assert.deepEqual(await complete(client, { type: "ref/prompt", name: "b__greet" }), names);
    assert.deepEqual(await complete(client, template), names);
    assert.deepEqual(await complete(modern as never, { type: "ref/prompt", name: "greet" }), names);
    assert.deepEqual(
      await errorOf(client.complete({ ref: { type: "ref/prompt", name: "greet" }, argument })),
      [-32602, { code: "PARAMS_INVALID" }],
    );
    const received = b.received.filter(({ method }) => method === "completion/complete");
    assert.deepEqual(received[0]?.params?.["ref"], { type: "ref/prompt", name: "greet" });
  });
});

describe("capabilities", () => {
  it("of a server's own view are the forwarded capabilities of that server", async () => {
    await using tools = await startEchoHttpServer({ capabilities: ["tools"] });
    await using all = await startEchoHttpServer();
    await using test = await startTestGateway({
      tool_servers: [onHttp("tools", tools.url), onHttp("all", all.url)],
    });
    const of = async (server?: string) =>
      Object.keys((await test.connect({ server })).getServerCapabilities() ?? {}).sort();
    const every = ["completions", "logging", "prompts", "resources", "tools"];
    assert.deepEqual(await of("tools"), ["tools"]);
    assert.deepEqual(await of("all"), every);
    assert.deepEqual(await of(), every);
  });
});

describe("a resource template", () => {
  const cases: readonly (readonly [template: string, uri: string, matches: boolean])[] = [
    ["a://greeting/{name}", "a://greeting/Ada", true],
    ["a://greeting/{name}", "a://greeting/", true],
    ["a://greeting/{name}", "a://greeting/a/b", false],
    ["a://greeting/{name}", "a://greetings/a", false],
    ["b:///{+path}", "b:///a/b?c#d", true],
    ["c:///{path*}", "c:///a/b", true],
    ["d://{table}/{id}.json", "d://users/7.json", true],
    ["d://{table}/{id}.json", "d://users/7.xml", false],
    ["e://a{?q,r}", "e://a?q=1&r=2", true],
    ["e://a{?q,r}", "e://a", true],
    ["f://{a}{b}{c}", "f://anything", true],
    ["g://{a}", "g://a b", false],
    ["h://.*", "h://yy", false],
    ["i://{a", "i://{a", true],
    // The time is proportional to the length of the template and the URI, for any input.
    [`j://${"{a}".repeat(600)}!`, `j://${"a".repeat(1900)}`, false],
    [`k://${"{+a}b".repeat(300)}`, `k://${"b".repeat(1900)}`, true],
    [`l://${"{a}".repeat(1000)}`, "l://a", false],
  ];

  it("matches exactly the URIs that it can produce", async () => {
    await using server = await startNamedServer("s", {
      templates: () => cases.map(([uriTemplate]) => ({ uriTemplate, name: "t" })),
    });
    await using other = await startNamedServer("o");
    await using test = await startTestGateway({
      tool_servers: [onHttp("o", other.url), onHttp("s", server.url)],
    });
    const client = await test.connect();
    for (const [template, uri, matches] of cases) {
      const read = client.readResource({ uri });
      const name = `${uri.slice(0, 50)} of ${template.slice(0, 50)}`;
      if (matches) assert.deepEqual((await read).contents, [{ uri, text: "s" }], name);
      else assert.equal((await errorOf(read))[0], -32002, name);
    }
  });
});
