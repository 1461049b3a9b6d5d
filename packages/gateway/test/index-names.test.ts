/** Names of tools: wire names, collisions, and their order, which depends on the configuration alone. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Gateway } from "@toolcrib/gateway";
import { fastSample, slowTest, waitUntil } from "@toolcrib/testing";
import type { ToolDefinition } from "@toolcrib/tool";
import { confusableNames, namesToConfuse } from "./confusable-names.ts";
import {
  configOf,
  dataOf,
  onHttp,
  somebody,
  startScriptedServer,
  startTestGateway,
  textOf,
  toolNamed,
  untilListed,
} from "./gateway-harness.ts";

/** Wire names of the tools of servers, in order. */
function namesIn(gateway: Gateway): string[] {
  return gateway
    .listTools(somebody)
    .filter(({ origin }) => origin !== "meta")
    .map(({ wireName }) => wireName);
}

/** A server that lists the tools in `names`, and returns the name of the called tool. */
function startListingServer(names: () => readonly (string | ToolDefinition)[]) {
  return startScriptedServer({
    tools: () => names().map((one) => (typeof one === "string" ? toolNamed(one) : one)),
    call: (_request, name) => ({ content: [{ type: "text", text: name }] }),
  });
}

describe("a wire name", () => {
  const long = "a-rather-long-name-of-a-tool-that-nobody-would-want-to-write-twice";
  const cases: readonly (readonly [name: string, wireName: string])[] = [
    ["read", "files__read"],
    ["Get_Issue.v2", "files__Get_Issue.v2"],
    ["read file/now: ünïcode", "files__read_file_now___n_code"],
    ["x".repeat(57), `files__${"x".repeat(57)}`],
    ["y".repeat(58), `files__${"y".repeat(48)}_78cffc4f`],
    [long, "files__a-rather-long-name-of-a-tool-that-nobody-would-w_d12d8f2a"],
    [`${long}!`, "files__a-rather-long-name-of-a-tool-that-nobody-would-w_2f993ff7"],
  ];

  it("has only characters and a length that hosts accept, and resolves to its tool", async () => {
    await using server = await startListingServer(() => cases.map(([name]) => name));
    await using test = await startTestGateway({ tool_servers: [onHttp("files", server.url)] });
    const { gateway } = test;
    assert.deepEqual(
      namesIn(gateway),
      cases.map(([, wireName]) => wireName),
    );
    const client = await test.connect();
    const own = await test.connect({ server: "files" });
    for (const [name, wireName] of cases) {
      assert.match(wireName, /^[A-Za-z0-9_.-]{1,64}$/);
      for (const called of [wireName, `files:${name}`]) {
        assert.equal(textOf(await client.callTool({ name: called })), name);
      }
      assert.equal(textOf(await own.callTool({ name })), name);
      assert.equal(gateway.describe(somebody, wireName)?.id, `files:${name}`);
    }
    for (const name of ["read", "files", "", "__proto__", "constructor", "toolcrib__search_tools"]) {
      assert.equal(gateway.describe(somebody, name), undefined);
      await assert.rejects(client.callTool({ name }), { code: -32602 });
    }
  });
});

describe("two names", () => {
  const alike: readonly (readonly [string, string])[] = [
    ["read", "READ"],
    ["read_file", "read-file"],
    ["read_file", "read.file"],
    ["read__file", "read_file"],
    ["two words", "two_words"],
    ["read", "re\u200dad"],
    ["read", "rеad"],
    ["send", "ѕend"],
    ["scope", "sсоре"],
    ["tool", "t00l"],
    ["list", "1ist"],
    ["cafe", "café"],
    ["read", "ｒｅａｄ"],
    ["file", "ﬁle"],
  ];
  const distinct: readonly (readonly [string, string])[] = [
    ["read", "reed"],
    ["getUser", "get_user"],
    ["a_b", "ab"],
    ["list", "lists"],
  ];
  /** Prefixes each pair differently, so that pairs do not collide with each other. */
  const inCorner = (names: readonly string[], at: number) =>
    names.map((name) => `${String.fromCharCode(97 + at)}x-${name}`);

  it("that people or models may confuse collide, and the later one is quarantined", async () => {
    const pairs = [...alike, ...distinct].map(inCorner);
    await using server = await startListingServer(() => pairs.flat());
    await using test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
    assert.deepEqual(
      test.gateway.status().quarantined.map(({ id, reason }) => ({ id, reason })),
      pairs.slice(0, alike.length).map(([first, later]) => ({
        id: `s:${later}`,
        reason: `"s:${later}" is too similar to "s:${first}", which was declared first`,
      })),
    );
    assert.equal(namesIn(test.gateway).length, alike.length + 2 * distinct.length);
    await test.stop();
    const events = dataOf(test.audit(), "server.quarantined");
    assert.equal(events.length, alike.length);
    assert.deepEqual(events[0], {
      server: "s",
      tool: "s:ax-READ",
      reason: '"s:ax-READ" is too similar to "s:ax-read", which was declared first',
      code: "TOOL_NAME_COLLISION",
    });
  });

  it("of two servers collide too, and the later one is restored when the first is removed", async () => {
    let names = ["b_c", "other"];
    await using a = await startListingServer(() => names);
    await using b = await startListingServer(() => ["c", "read"]);
    await using test = await startTestGateway({ tool_servers: [onHttp("a", a.url), onHttp("a_b", b.url)] });
    const { gateway } = test;
    assert.deepEqual(namesIn(gateway), ["a__b_c", "a__other", "a_b__read"]);
    assert.deepEqual(
      (await gateway.search(somebody, "c", 10)).map(({ id }) => id),
      ["a:b_c"],
    );
    const client = await test.connect({ server: "a_b" });
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ["read"],
    );
    names = ["other"];
    a.notify("notifications/tools/list_changed");
    await untilListed(gateway, "a_b__c");
    assert.deepEqual(gateway.status().quarantined, []);
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ["c", "read"],
    );
  });
});

describe("names and their order", () => {
  it("do not depend on which server starts first", async () => {
    const lists = [
      ["read", "write", "Odd Name"],
      ["c", "x".repeat(80), "x".repeat(81)],
      ["odd-name", "odd name", "c"],
    ];
    const ids = ["a", "a_b", "B"];
    const outcomes = new Set<string>();
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 2, 0],
      [1, 0, 2],
    ]) {
      const gates = lists.map(() => Promise.withResolvers<void>());
      await using stack = new AsyncDisposableStack();
      const servers = [];
      for (const [at, names] of lists.entries()) {
        const server = await startScriptedServer({
          other({ method }) {
            if (method !== "tools/list") return undefined;
            const listed = { tools: names.map((name) => toolNamed(name)) };
            return gates[at]?.promise.then(() => listed) as never;
          },
        });
        servers.push(onHttp(ids[at] ?? "", stack.use(server).url));
      }
      await using test = await startTestGateway({ tool_servers: servers }, { isAwaited: false });
      for (const at of order) {
        gates[at]?.resolve();
        await waitUntil(() => test.gateway.status().servers[at]?.health.state === "ready");
      }
      const { quarantined } = test.gateway.status();
      outcomes.add(JSON.stringify([namesIn(test.gateway), quarantined.map(({ id }) => id)]));
    }
    assert.equal(outcomes.size, 1);
  });
});

describe("10,000 tools", () => {
  it("of one server are listed, found, called and changed one at a time", slowTest, async () => {
    let tools: readonly ToolDefinition[] = Array.from({ length: 10_000 }, (_, at) => toolNamed(`tool_${at}`));
    await using server = await startListingServer(() => tools);
    await using test = await startTestGateway({ tool_servers: [onHttp("big", server.url)] });
    const { gateway } = test;
    assert.equal(namesIn(gateway).length, 10_000);
    const client = await test.connect();
    assert.equal(textOf(await client.callTool({ name: "big__tool_9999" })), "tool_9999");
    tools = tools.with(5000, toolNamed("tool_5000", { description: "Changed on the way" }));
    server.notify("notifications/tools/list_changed");
    await waitUntil(async () => (await gateway.search(somebody, "way", 10)).length === 1);
    tools = tools.toSpliced(5000, 1);
    server.notify("notifications/tools/list_changed");
    await waitUntil(() => namesIn(gateway).length === 9999);
    assert.deepEqual(await gateway.search(somebody, "way", 10), []);
    assert.equal(namesIn(gateway)[5000], "big__tool_5001");
  });
});

describe("a name that could be confused with an earlier one", () => {
  const isEnough = confusableNames.length >= 300;

  it("is quarantined: 300 spellings of six names of tools", async () => {
    assert.ok(isEnough, `${confusableNames.length} spellings`);
    await using server = await startListingServer(() => [...namesToConfuse, ...confusableNames]);
    await using test = await startTestGateway({ tool_servers: [onHttp("files", server.url)] });
    assert.deepEqual(
      namesIn(test.gateway),
      namesToConfuse.map((name) => `files__${name}`),
    );
    assert.equal(test.gateway.status().quarantined.length, confusableNames.length);
  });

  it("is quarantined: 300 spellings of six names of prompts", async () => {
    const names = [...namesToConfuse, ...confusableNames];
    await using server = await startScriptedServer({
      prompts: () => names.map((name, at) => ({ name, description: String(at) })),
      other: ({ method, params }) =>
        method === "prompts/get" ? { messages: [], description: String(params["name"]) } : undefined,
    });
    await using test = await startTestGateway({ tool_servers: [onHttp("files", server.url)] });
    const client = await test.connect();
    const { prompts } = await client.listPrompts();
    assert.deepEqual(
      prompts.map(({ name, description }) => [name, description]),
      namesToConfuse.map((name, at) => [`files__${name}`, String(at)]),
    );
    assert.equal(test.gateway.status().quarantined.length, confusableNames.length);
    for (const name of confusableNames.slice(0, 50)) {
      await assert.rejects(client.getPrompt({ name: `files:${name}` }), /Unknown prompt/);
    }
    assert.equal((await client.getPrompt({ name: "files__read_file" })).description, "read_file");
    await test.stop();
    const events = dataOf(test.audit(), "server.quarantined");
    assert.deepEqual([...new Set(events.map(({ code }) => code))], ["TOOL_NAME_COLLISION"]);
  });

  it("is refused: 300 spellings of six names of saved tools", async () => {
    await using test = await startTestGateway({ tool_servers: [] });
    const client = await test.connect();
    const save = async (name: string) => {
      const inputSchema = { type: "object" };
      const tool = { name, description: "Returns one.", inputSchema, code: "return 1" };
      return (await client.callTool({ name: "save_tool", arguments: tool })).isError === true;
    };
    for (const name of namesToConfuse) assert.equal(await save(name), false, name);
    for (const name of fastSample(confusableNames)) assert.equal(await save(name), true, name);
  });

  it("is refused by the configuration: spellings of an id of a server", () => {
    // Other letters are no part of an id at all.
    const spellings = confusableNames.filter((name) => name !== "read__file");
    for (const id of spellings) {
      const first = namesToConfuse.map((name) => onHttp(name, "http://127.0.0.1:1/mcp"));
      const document = { tool_servers: [...first, onHttp(id, "http://127.0.0.1:1/mcp")] };
      assert.throws(() => configOf(document), /CONFIG_ID_COLLISION|CONFIG_ID/, id);
    }
  });

  it("does not exist for resources: URIs are addresses, and of equal ones the first counts", async () => {
    const uris = ["file:///a", "file:///A", "file:///a", "file:///\u0430"];
    await using server = await startScriptedServer({
      resources: () => uris.map((uri, at) => ({ uri, name: String(at) })),
    });
    await using test = await startTestGateway({ tool_servers: [onHttp("files", server.url)] });
    const { resources } = await (await test.connect()).listResources();
    assert.deepEqual(
      resources.map(({ uri, name }) => [uri, name]),
      [
        ["file:///a", "0"],
        ["file:///A", "1"],
        ["file:///\u0430", "3"],
      ],
    );
    assert.deepEqual(test.gateway.status().quarantined, []);
  });

  it("counts once in one list: the second definition of a name never replaces the first", async () => {
    let tools = [toolNamed("read", { description: "First" }), toolNamed("read", { description: "Second" })];
    await using server = await startListingServer(() => tools);
    for (const trust_state of ["certified", "verified"]) {
      await using test = await startTestGateway({
        tool_servers: [onHttp("files", server.url, { trust_state })],
      });
      const { gateway } = test;
      assert.equal(gateway.describe(somebody, "files:read")?.definition.description, "First");
      assert.match(gateway.status().servers[0]?.health.reason ?? "", /1 of its tools is left out: "read"/);
      tools = [...tools, toolNamed("other")];
      server.notify("notifications/tools/list_changed");
      await untilListed(gateway, "files__other");
      await test.stop();
      assert.deepEqual(dataOf(test.audit(), "definition.changed"), []);
      tools = tools.slice(0, 2);
    }
  });
});
