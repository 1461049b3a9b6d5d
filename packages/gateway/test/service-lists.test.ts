/** Lists of clients: pages, modes and notifications of changes. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "@toolcrib/json";
import { slowTest, startEchoHttpServer, waitUntil } from "@toolcrib/testing";
import type { ToolDefinition } from "@toolcrib/tool";
import {
  compositeTools,
  onHttp,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  textOf,
  toolNamed,
  untilListed,
} from "./gateway-harness.ts";

/** Returns the names from all pages of a list. */
async function allTools(client: Pick<Client, "listTools">): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools({ cursor });
    pages.push(page.tools.map(({ name }) => name));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return pages;
}

/** Collects notifications of list changes. */
function listenTo(client: Client): string[] {
  const heard: string[] = [];
  for (const schema of [
    ToolListChangedNotificationSchema,
    ResourceListChangedNotificationSchema,
    PromptListChangedNotificationSchema,
  ]) {
    client.setNotificationHandler(schema, ({ method }) => void heard.push(method.split("/")[1] as string));
  }
  return heard;
}

const stale = (error: unknown) => {
  const { code, data } = error as { readonly code: number; readonly data: { readonly hint: string } };
  assert.equal(code, -32602);
  assert.match(data.hint, /list again from the start, without a cursor/);
  return true;
};

describe("a long list", () => {
  it("is paged without duplicates for every generation of client", async () => {
    const tools = Array.from({ length: 2500 }, (_, at) => toolNamed(`tool_${at}`));
    await using server = await startScriptedServer({ tools: () => tools });
    await using test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
    const own = tools.map(({ name }) => name);
    for (const client of [await test.connect(), await test.connectModern({ cachePartition: "x" })]) {
      const page = await client.listTools({ cursor: undefined });
      // The second generation reads all pages itself.
      const pages =
        page.nextCursor === undefined
          ? [page.tools.map(({ name }) => name)]
          : await allTools(client as Client);
      assert.deepEqual(pages.flat(), ["search_tools", ...compositeTools, ...own.map((name) => `s__${name}`)]);
      if (page.nextCursor !== undefined)
        assert.deepEqual(
          pages.map(({ length }) => length),
          [1000, 1000, 508],
        );
    }
    assert.deepEqual((await allTools(await test.connect({ server: "s" }))).flat(), own);
  });

  it("rejects cursors that are outdated, from another list, or invalid", async () => {
    let tools = Array.from({ length: 1500 }, (_, at) => toolNamed(`tool_${at}`));
    let resources = Array.from({ length: 1500 }, (_, at) => ({ uri: `r://${at}`, name: `r${at}` }));
    let others: ToolDefinition[] = [];
    await using server = await startScriptedServer({ tools: () => tools, resources: () => resources });
    await using other = await startScriptedServer({ tools: () => others });
    await using test = await startTestGateway({
      tool_servers: [onHttp("s", server.url), onHttp("o", other.url)],
    });
    const client = await test.connect();
    const own = await test.connect({ server: "s" });
    const { nextCursor: cursor } = await client.listTools();
    const { nextCursor: ownCursor } = await own.listTools();
    const { nextCursor: resourceCursor } = await client.listResources();
    assert.equal((await client.listTools({ cursor })).tools.length, 508);
    for (const wrong of ["", "nonsense", "MTAwMCB4", ownCursor, resourceCursor, "x".repeat(5000)]) {
      await assert.rejects(client.listTools({ cursor: wrong }), stale);
    }
    await assert.rejects(client.listTools({ cursor: 5 } as never), stale);
    // A change of another server affects the list of all servers, but not the list of this server.
    others = [toolNamed("new")];
    other.notify("notifications/tools/list_changed");
    await untilListed(test.gateway, "o__new");
    await assert.rejects(client.listTools({ cursor }), stale);
    assert.equal((await own.listTools({ cursor: ownCursor })).tools.length, 500);
    tools = [...tools.slice(1), toolNamed("last")];
    server.notify("notifications/tools/list_changed");
    await untilListed(test.gateway, "s__last");
    await assert.rejects(own.listTools({ cursor: ownCursor }), stale);
    // The list has the same length and other entries.
    resources = [...resources.slice(1), { uri: "r://last", name: "last" }];
    server.notify("notifications/resources/list_changed");
    await waitUntil(async () => {
      const { resources: now } = await client.listResources();
      return now[0]?.uri === "r://1";
    });
    await assert.rejects(client.listResources({ cursor: resourceCursor }), stale);
  });
});

describe("a change of a list", () => {
  it("is notified to the clients of the views that include it, in both eras", async () => {
    const lists = { a: [toolNamed("x")], b: [toolNamed("x")] };
    let resources: { uri: string; name: string }[] = [];
    let prompts: { name: string }[] = [];
    await using a = await startScriptedServer({
      tools: () => lists.a,
      resources: () => resources,
      prompts: () => prompts,
    });
    await using b = await startScriptedServer({ tools: () => lists.b });
    await using test = await startTestGateway({ tool_servers: [onHttp("a", a.url), onHttp("b", b.url)] });
    const all = listenTo(await test.connect());
    const ofA = listenTo(await test.connect({ server: "a" }));
    const ofB = listenTo(await test.connect({ server: "b" }));
    const modern = await test.connectModern();
    const modernB = await test.connectModern({ server: "b" });
    const modernHeard: string[] = [];
    const modernHeardB: string[] = [];
    for (const kind of ["tools", "resources", "prompts"] as const) {
      modern.setNotificationHandler(`notifications/${kind}/list_changed`, () => void modernHeard.push(kind));
      modernB.setNotificationHandler(
        `notifications/${kind}/list_changed`,
        () => void modernHeardB.push(kind),
      );
    }
    const filter = { toolsListChanged: true, promptsListChanged: true };
    const subscription = await modern.listen(filter);
    assert.deepEqual(subscription.honoredFilter, filter);
    await modernB.listen({ toolsListChanged: true, resourcesListChanged: true });

    lists.a = [...lists.a, toolNamed("y")];
    a.notify("notifications/tools/list_changed");
    await waitUntil(() => all.length === 1 && ofA.length === 1 && modernHeard.length === 1);
    resources = [{ uri: "r://1", name: "r" }];
    a.notify("notifications/resources/list_changed");
    await waitUntil(() => all.length === 2 && ofA.length === 2);
    prompts = [{ name: "p" }];
    a.notify("notifications/prompts/list_changed");
    await waitUntil(() => all.length === 3 && ofA.length === 3 && modernHeard.length === 2);
    assert.deepEqual([ofB, modernHeardB], [[], []]);
    lists.b = [...lists.b, toolNamed("y")];
    b.notify("notifications/tools/list_changed");
    await waitUntil(() => all.length === 4 && ofB.length === 1 && modernHeardB.length === 1);
    assert.deepEqual(
      { all, ofA, ofB, modernHeard, modernHeardB },
      {
        all: ["tools", "resources", "prompts", "tools"],
        ofA: ["tools", "resources", "prompts"],
        ofB: ["tools"],
        modernHeard: ["tools", "prompts", "tools"],
        modernHeardB: ["tools"],
      },
    );
    await subscription.close();
  });

  it("is in search results at once, and sends no notification when nothing changed", async () => {
    await using echo = await startEchoHttpServer();
    await using test = await startTestGateway({ tool_servers: [onHttp("echo", echo.url)] });
    const client = await test.connect();
    const heard = listenTo(client);
    const change = (given: object) =>
      client.callTool({ name: "echo__change_tools", arguments: { ...given } });
    const found = async (query: string) =>
      textOf(await client.callTool({ name: "search_tools", arguments: { query } }));
    await change({});
    await change({ add: "brand_new_thing" });
    await waitUntil(() => heard.length > 0);
    assert.deepEqual(heard, ["tools"]);
    assert.match(await found("brand new thing"), /^echo__brand_new_thing/);
    await change({ redefine: "echo" });
    await waitUntil(async () => (await found("redefined")).startsWith("echo__echo("));
    await change({ remove: "brand_new_thing" });
    await waitUntil(async () => !(await found("brand new thing")).includes("brand_new_thing"));
    await assert.rejects(client.callTool({ name: "echo__brand_new_thing" }), /Unknown tool/);
  });
});

describe("serve.mode and serve.tools", () => {
  const names = async (test: TestGateway, server?: string) =>
    (await allTools(await test.connect({ server }))).flat();

  it("list all tools and the search tools, or the meta-tools and pinned tools, and never hidden tools", async () => {
    await using echo = await startEchoHttpServer({ builtin: ["echo", "fail", "env"] });
    const tool_servers = [onHttp("echo", echo.url)];
    const tools = { hidden: ["echo:env"], pinned: ["echo:fail", "echo__env"] };
    await using full = await startTestGateway({ tool_servers, serve: { mode: "full", tools } });
    assert.deepEqual(await names(full), ["search_tools", ...compositeTools, "echo__echo", "echo__fail"]);
    assert.deepEqual(await names(full, "echo"), ["echo", "fail"]);
    await using search = await startTestGateway({ tool_servers, serve: { mode: "search", tools } });
    assert.deepEqual(await names(search), [
      "search_tools",
      "describe_tool",
      "call_tool",
      "read_more",
      "echo__fail",
    ]);
    assert.deepEqual(await names(search, "echo"), ["echo", "fail"]);
    const client = await search.connect();
    const call = async (name: string, given: object) =>
      textOf(await client.callTool({ name, arguments: { ...given } }));
    assert.equal(await call("search_tools", { query: "environment" }), "No tool matches. Try other words.");
    assert.match(
      await call("describe_tool", { name: "echo__env" }),
      /^The tool "echo__env" is hidden\nHint: .*can be called by its name$/,
    );
    assert.match(await call("describe_tool", { name: "echo:echo" }), /"name": "echo__echo"/);
    assert.equal(await call("call_tool", { name: "echo__echo", arguments: { text: "hi" } }), "hi");
    // A hidden tool is not denied: a client that knows its name may call it.
    assert.match(await call("call_tool", { name: "echo:env", arguments: { name: "PATH" } }), /\//);
    await assert.rejects(client.callTool({ name: "echo__environ" }), (error: unknown) => {
      const { data } = error as { readonly data: { readonly hint: string } };
      assert.equal(data.hint, "see tools/list, or search_tools");
      return true;
    });
  });

  it(
    "list and offer composite tools as execution.enabled says, and hide and pin Toolcrib's own tools",
    slowTest,
    async () => {
      await using echo = await startEchoHttpServer({ builtin: ["echo"] });
      const check = async (sections: JsonObject, expected: readonly string[]) => {
        await using test = await startTestGateway({ tool_servers: [onHttp("echo", echo.url)], ...sections });
        assert.deepEqual(await names(test), expected, JSON.stringify(sections));
        const client = await test.connect();
        const offersComposites = (client.getInstructions() ?? "").includes("save_tool");
        assert.equal(offersComposites, expected.includes("save_tool"));
        return await answerOf(client.callTool({ name: "eval_starlark", arguments: { code: "return 1" } }));
      };
      const answerOf = (work: Promise<unknown>) => work.then(JSON.stringify, String);
      const search = { mode: "search" };
      const four = ["search_tools", "describe_tool", "call_tool", "read_more"];
      const enabled = { enabled: true };
      await check({ serve: search }, four);
      await check({ serve: search, execution: enabled }, [...four, ...compositeTools]);
      await check({ serve: { ...search, tools: { pinned: ["toolcrib:save_tool"] } } }, [
        ...four,
        "save_tool",
      ]);
      await check({ execution: enabled }, ["search_tools", ...compositeTools, "echo__echo"]);
      const hidden = ["toolcrib:*_saved_*", "search_tools", "save_tool"];
      const others = ["eval_starlark", "describe_language", "echo__echo"];
      await check({ serve: { tools: { hidden } } }, others);
      await check({ serve: { ...search, tools: { hidden: ["toolcrib:*"] } } }, []);
      const answer = await check({ execution: { enabled: false } }, ["search_tools", "echo__echo"]);
      assert.match(answer, /Unknown tool/);
    },
  );

  it(
    "switch to search above the budget of tokens when the mode is auto, and back only with the tools",
    slowTest,
    async () => {
      await using echo = await startEchoHttpServer({ builtin: [], tools: 60 });
      const tool_servers = [onHttp("echo", echo.url)];
      const listedWith = async (token_budget: number) => {
        const serve = { mode: "auto", list: { token_budget } };
        await using test = await startTestGateway({ tool_servers, serve });
        assert.equal((await names(test, "echo")).length, 60);
        const [first, second] = [await names(test), await names(test)];
        assert.deepEqual(first, second);
        const [endpoint] = test.gateway.status().discovery.endpoints;
        assert.equal(endpoint?.listed, first.length);
        return { first, fullTokens: endpoint?.fullTokens ?? 0 };
      };
      const { first: all, fullTokens } = await listedWith(1_000_000);
      assert.deepEqual(all.slice(0, 2), ["search_tools", "read_more"]);
      assert.equal(all.length, 2 + compositeTools.length + 60);
      // The list that fits exactly is whole; one token less is too much.
      assert.deepEqual((await listedWith(fullTokens)).first, all);
      const four = ["search_tools", "describe_tool", "call_tool", "read_more"];
      assert.deepEqual((await listedWith(fullTokens - 1)).first, four);
    },
  );
});

describe("an unknown tool", () => {
  it("is an error that suggests a similar tool by its name in that view", async () => {
    await using server = await startScriptedServer({
      tools: () => [toolNamed("get_weather"), toolNamed("send_mail"), toolNamed("Send-Mail")],
    });
    await using test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
    const messageFor = async (name: unknown, server?: string) => {
      const client = await test.connect({ server });
      const error = await client.callTool({ name: name as string }).then(
        () => assert.fail("It was called"),
        (thrown: { readonly code: number; readonly message: string }) => thrown,
      );
      assert.equal(error.code, -32602);
      return error.message.replace(/^MCP error -32602: /, "");
    };
    const meant = (name: string, other: string) => `Unknown tool: "${name}" (did you mean "${other}"?)`;
    assert.equal(await messageFor("s__weather"), meant("s__weather", "s__get_weather"));
    assert.equal(await messageFor("s__get_wether"), meant("s__get_wether", "s__get_weather"));
    assert.equal(await messageFor("weather", "s"), meant("weather", "get_weather"));
    assert.equal(await messageFor("s__get_weather", "s"), meant("s__get_weather", "get_weather"));
    assert.match(await messageFor("nothing like it"), /\(see tools\/list, or search_tools\)$/);
    // The text of a description does not make a tool similar.
    assert.match(await messageFor("s__lists"), /\(see tools\/list, or search_tools\)$/);
    const quarantined =
      'The tool "s__Send-Mail" cannot be called: it is quarantined: "s:Send-Mail" is too similar to "s:send_mail", which was declared first';
    assert.equal(await messageFor("s__Send-Mail"), quarantined);
    assert.equal(await messageFor("Send-Mail", "s"), quarantined.replace("s__", ""));
    const long = "weather ".repeat(10_000);
    assert.equal(await messageFor(long), meant(long.slice(0, 200), "s__get_weather"));
    const client = await test.connectModern();
    await assert.rejects(client.callTool({ name: "s__weather" }), { code: -32602 });
  });
});

describe("instructions", () => {
  it("are those of all servers, truncated, at the shared endpoint, and a server's own at its endpoint", async () => {
    const long = "Read this. ".repeat(1000);
    await using a = await startEchoHttpServer({ instructions: "Use A with care" });
    await using b = await startEchoHttpServer({ instructions: long });
    await using c = await startEchoHttpServer();
    await using test = await startTestGateway({
      tool_servers: [onHttp("a", a.url), onHttp("b", b.url), onHttp("c", c.url)],
    });
    const all = (await test.connect()).getInstructions() ?? "";
    assert.match(all, /^Tools of several servers/);
    assert.match(all, /\n\n## a\nUse A with care\n\n## b\nRead this\. /);
    assert.ok(!all.includes("## c"));
    assert.ok(all.length < 5000);
    assert.equal((await test.connect({ server: "b" })).getInstructions(), long);
    assert.equal((await test.connect({ server: "c" })).getInstructions(), undefined);
    assert.equal((await test.connectModern({ server: "a" })).getInstructions(), "Use A with care");
  });
});
