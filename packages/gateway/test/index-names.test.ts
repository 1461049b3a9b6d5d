/** Names of tools: wire names, collisions, and their order, which depends on the configuration alone. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Gateway } from "@toolcrib/gateway";
import { slowTest, waitUntil } from "@toolcrib/testing";
import type { ToolDefinition } from "@toolcrib/tool";
import {
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
      gateway.search(somebody, "c", 10).map(({ id }) => id),
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
    await waitUntil(() => gateway.search(somebody, "way", 10).length === 1);
    tools = tools.toSpliced(5000, 1);
    server.notify("notifications/tools/list_changed");
    await waitUntil(() => namesIn(gateway).length === 9999);
    assert.deepEqual(gateway.search(somebody, "way", 10), []);
    assert.equal(namesIn(gateway)[5000], "big__tool_5001");
  });
});

/** Names that people or models could take for `name`, which has a separator. */
function* confusableWith(name: string): Generator<string> {
  const [first = "", second = ""] = name.split("_");
  for (const separator of ["-", ".", "/", ":", "__", "_-", "._"]) yield `${first}${separator}${second}`;
  for (const [at, letter] of [...name].entries()) {
    const withLetter = (other: string) => name.slice(0, at) + other + name.slice(at + 1);
    if (letter !== letter.toUpperCase()) yield withLetter(letter.toUpperCase());
    for (const lookalike of lookalikes[letter] ?? []) yield withLetter(lookalike);
    // Full width, an accent, a joiner, and a space that takes no space.
    if (/[a-z]/.test(letter)) yield withLetter(String.fromCodePoint(0xff41 + letter.charCodeAt(0) - 97));
    if (/[a-z]/.test(letter)) yield `${name.slice(0, at + 1)}\u0301${name.slice(at + 1)}`;
    yield `${name.slice(0, at + 1)}\u200d${name.slice(at + 1)}`;
    yield `${name.slice(0, at + 1)}\u200b${name.slice(at + 1)}`;
  }
}

/** Letters of other scripts that look like a Latin letter. */
const lookalikes: { readonly [letter: string]: readonly string[] } = {
  a: ["\u0430", "\u03b1"],
  c: ["\u0441"],
  e: ["\u0435"],
  i: ["\u0456", "\u03b9"],
  o: ["\u043e", "\u03bf"],
  p: ["\u0440", "\u03c1"],
  s: ["\u0455"],
  x: ["\u0445"],
  y: ["\u0443"],
};

describe("a name that could be confused with an earlier one", () => {
  it("is quarantined: 300 spellings of six names", async () => {
    const names = ["read_file", "send_email", "get_issue", "list_repos", "copy_box", "create_ticket"];
    const spellings = [...new Set(names.flatMap((name) => [...confusableWith(name)]))];
    assert.ok(spellings.length >= 300, `${spellings.length} spellings`);
    await using server = await startListingServer(() => [...names, ...spellings]);
    await using test = await startTestGateway({ tool_servers: [onHttp("files", server.url)] });
    assert.deepEqual(
      namesIn(test.gateway),
      names.map((name) => `files__${name}`),
    );
    assert.equal(test.gateway.status().quarantined.length, spellings.length);
  });
});
