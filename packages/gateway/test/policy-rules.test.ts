/** A policy applies to every route: lists, search, descriptions, calls, resources, prompts. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { EmptyResultSchema } from "@modelcontextprotocol/sdk/types.js";
import type { PolicyConfig } from "@toolcrib/config";
import type { JsonObject } from "@toolcrib/json";
import { createRegistry, type RegistryConfig } from "@toolcrib/registry";
import { checkGolden, startEchoHttpServer } from "@toolcrib/testing";
import { compositeTools, onHttp, somebody, startTestGateway, textOf } from "./gateway-harness.ts";

/** Names from all pages of all lists of a client. */
async function listedBy(client: Client) {
  const [{ tools }, { resources }, { resourceTemplates }, { prompts }] = await Promise.all([
    client.listTools(),
    client.listResources(),
    client.listResourceTemplates(),
    client.listPrompts(),
  ]);
  return {
    tools: tools.map(({ name }) => name),
    resources: resources.map(({ uri }) => uri),
    templates: resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    prompts: prompts.map(({ name }) => name),
  };
}

/** Returns the text of a call's result, or its error. */
async function answerOf(work: Promise<unknown>): Promise<string> {
  try {
    const result = (await work) as { readonly isError?: boolean; readonly content?: object };
    if (result.content === undefined) return JSON.stringify(result);
    return `${result.isError === true ? "isError " : ""}${textOf(result)}`;
  } catch (error) {
    const { message, code, data } = error as { message: string; code?: number; data?: unknown };
    return `${code} ${message} ${JSON.stringify(data)}`;
  }
}

describe("a policy", () => {
  it("denies tools to all clients or to one client, by every route and in every view", async () => {
    await using a = await startEchoHttpServer({ builtin: ["echo", "env", "fail", "structured"] });
    await using b = await startEchoHttpServer({ builtin: ["echo", "env"] });
    await using test = await startTestGateway(
      {
        tool_servers: [onHttp("a", a.url), onHttp("b", b.url)],
        policy: {
          deny: ["*:env"],
          clients: {
            narrow: { allow: ["a:echo", "a__structured", "b:prompts?greet", "a:resources*hello"] },
            strict: { deny: ["b:*", "a:resources*", "a:prompts?plain", "toolcrib:call_tool"] },
            nothing: { allow: [] },
          },
        },
      },
      { clients: ["free", "narrow", "strict", "nothing"] },
    );
    const free = await listedBy(await test.connect({ as: "free" }));
    assert.deepEqual(free, {
      tools: ["search_tools", ...compositeTools, "a__echo", "a__structured", "a__fail", "b__echo"],
      resources: ["echo://hello", "echo://watched", "echo://note"],
      templates: ["echo://greeting/{name}"],
      prompts: ["a__plain", "a__greet", "b__plain", "b__greet"],
    });
    assert.deepEqual(await listedBy(await test.connect({ as: "narrow" })), {
      tools: ["search_tools", "a__echo", "a__structured"],
      resources: ["echo://hello"],
      templates: [],
      prompts: ["b__greet"],
    });
    assert.deepEqual(await listedBy(await test.connect({ as: "strict" })), {
      tools: ["search_tools", ...compositeTools, "a__echo", "a__structured", "a__fail"],
      resources: [],
      templates: [],
      prompts: ["a__greet"],
    });
    assert.deepEqual(await listedBy(await test.connect({ as: "nothing" })), {
      tools: ["search_tools"],
      resources: [],
      templates: [],
      prompts: [],
    });
    assert.deepEqual(await listedBy(await test.connect({ as: "narrow", server: "a" })), {
      tools: ["echo", "structured"],
      resources: ["echo://hello"],
      templates: [],
      prompts: [],
    });
    assert.deepEqual(await listedBy(await test.connect({ as: "narrow", server: "b" })), {
      tools: [],
      resources: [],
      templates: [],
      prompts: ["greet"],
    });
  });

  it("lets no client find, describe, call, read, subscribe to or complete anything that it may not use", async () => {
    await using a = await startEchoHttpServer();
    await using b = await startEchoHttpServer();
    await using test = await startTestGateway(
      {
        tool_servers: [onHttp("a", a.url), onHttp("b", b.url)],
        policy: {
          deny: ["*:env"],
          clients: { ci: { allow: ["a:echo", "b:resources*hello", "b:completion*"], deny: ["a:prompts*"] } },
        },
      },
      { clients: ["ci"] },
    );
    const client = await test.connect({ as: "ci" });
    const own = await test.connect({ as: "ci", server: "a" });
    const modern = await test.connectModern({ as: "ci" });
    const lines: string[] = [];
    const add = async (what: string, work: Promise<unknown>) => {
      lines.push(`${what}\n  ${(await answerOf(work)).replaceAll("\n", "\n  ")}\n`);
    };
    const callTool = (name: string, args = {}) => client.callTool({ name, arguments: args });
    await add("call what everyone is denied", callTool("a__env"));
    await add("call what the client is not allowed", callTool("b__echo", { text: "x" }));
    await add("call it by its id", callTool("b:echo", { text: "x" }));
    await add("call it in the view of its server", own.callTool({ name: "env" }));
    await add(
      "call it through call_tool",
      callTool("call_tool", { name: "b__echo", arguments: { text: "x" } }),
    );
    await add("call it in the modern era", modern.callTool({ name: "b__echo", arguments: { text: "x" } }));
    await add("describe it", callTool("describe_tool", { name: "b__echo" }));
    await add("find it", callTool("search_tools", { query: "env environment" }));
    await add("find what is allowed", callTool("search_tools", { query: "echo text" }));
    await add("get it as a suggestion", callTool("a__enviro"));
    await add("get an allowed tool as a suggestion", callTool("a__ecko text"));
    await add("read", client.readResource({ uri: "echo://watched" }));
    await add("read from the server that may be used", client.readResource({ uri: "echo://hello" }));
    await add("read in the modern era", modern.readResource({ uri: "echo://watched" }));
    await add("watch", client.subscribeResource({ uri: "echo://watched" }));
    await add("get a prompt", client.getPrompt({ name: "a__plain" }));
    await add(
      "complete",
      client.complete({
        ref: { type: "ref/prompt", name: "a__greet" },
        argument: { name: "name", value: "A" },
      }),
    );
    checkGolden(join(import.meta.dirname, "golden/policy-denials.txt"), lines.join("\n"));
  });

  it("decides about a completion by the reference that the server receives", async () => {
    await using a = await startEchoHttpServer();
    await using test = await startTestGateway({
      tool_servers: [onHttp("a", a.url)],
      policy: { deny: ["a:resources/echo:*", "a:prompts/greet"] },
    });
    const client = await test.connect();
    const answers: string[] = [];
    for (const ref of [
      { type: "ref/resource", uri: "echo://greeting/{name}" },
      { type: "ref/resource", uri: "echo://greeting/{name}", name: "ok" },
      { type: "ref/resource", uri: "\techo://greeting/{name}", name: "ok" },
      { type: "ref/resource", uri: " echo://greeting/{name}" },
      { type: "ref/xyz", uri: "echo://greeting/{name}" },
      { type: ["ref/prompt"], name: "a__greet" },
      { type: "ref/prompt", name: "a__greet", uri: "other:x" },
      { type: "ref/prompt", name: ["a__greet"] },
      { type: "ref/prompt", name: { toString: "a__greet" } },
      "a__greet",
      null,
    ]) {
      const params = { ref, argument: { name: "name", value: "A" } };
      const request = { method: "completion/complete", params } as never;
      answers.push(await answerOf(client.request(request, EmptyResultSchema)));
    }
    checkGolden(join(import.meta.dirname, "golden/policy-completions.txt"), `${answers.join("\n")}\n`);
    assert.deepEqual(
      a.received.filter(({ method }) => method === "completion/complete"),
      [],
    );
  });

  it("denies a resource by the pattern that names it, in every spelling of its URI", async () => {
    await using a = await startEchoHttpServer();
    const check = async (
      policy: { readonly deny?: readonly string[]; readonly allow?: readonly string[] },
      denied: readonly string[],
      allowed: readonly string[],
    ) => {
      await using test = await startTestGateway({
        tool_servers: [onHttp("a", a.url)],
        policy: policy as JsonObject,
      });
      const client = await test.connect();
      // The server has none of these resources, so its error shows that the policy allowed the request.
      const verdictOf = async (uri: string) =>
        (await answerOf(client.readResource({ uri }))).includes('"code":"RESOURCE_NOT_FOUND"')
          ? "denied"
          : "allowed";
      for (const uri of denied) assert.equal(await verdictOf(uri), "denied", uri);
      for (const uri of allowed) assert.equal(await verdictOf(uri), "allowed", uri);
    };
    await check(
      { deny: ["a:resources/file:///etc/*"] },
      [
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        "file:///%65tc/passwd",
        "file:///etc/%70%61sswd",
        "file:///pub/../etc/passwd",
        "file:///pub/%2e%2E/etc/passwd",
        "file:///pub/..%2f..%2fetc/passwd",
        "file:///pub/%3F%2F..%2F..%2Fetc/passwd",
        "file:///pub\\..\\etc\\passwd",
        "file:////etc/passwd",
        "file:/etc/passwd",
        "file://localhost/etc/passwd",
        "file://LOCALHOST/etc//passwd",
      ],
      ["file:///pub/readme", "file:///etc", "memo://etc/passwd"],
    );
    await check(
      { deny: ["a:resources/file:///etc/passwd", "a__resources/memo://Team/*"] },
      ["file:///etc/passwd#", "memo://Team/a b?draft=1#top", "memo://team/a%20b", "memo://x@TEAM:/a"],
      ["file:///etc/passwd2", "memo://Teams/a"],
    );
    await check(
      { deny: ["*:resources/*://Intern*.Example/*", "a:resources/memo://x/ä %2A?b=c#d"] },
      ["https://internal.example/x", "HTTPS://INTERNAL.EXAMPLE:443/x", "memo://x/%c3%a4%20*?b=c#d"],
      ["https://external.example/x", "memo://x/a"],
    );
    await check(
      { allow: ["a:resources/file:///pub/*", "a:resources/memo://Team/a b?draft=1#top"] },
      [
        "file:///etc/passwd",
        "file:///pub/../etc/passwd",
        "file:///pub/%2e%2e/etc/passwd",
        "file:///pub/..%2Fetc/passwd",
        "memo://team/a b?draft=1#top",
      ],
      ["file:///pub/readme", "file:///pub/a%20b", "memo://Team/a b?draft=1#top"],
    );
  });

  it("denies a prompt by the pattern that names it, for all characters in its name", async () => {
    await using a = await startEchoHttpServer({ prompts: ["review code", "review/50%", "list"] });
    await using test = await startTestGateway({
      tool_servers: [onHttp("a", a.url)],
      policy: { deny: ["a:prompts/review code", "a__prompts/*/50%"] },
    });
    assert.deepEqual((await listedBy(await test.connect())).prompts, ["a__plain", "a__greet", "a__list"]);
  });

  it("reports rules that name no tool or prompt of a server that is ready", async () => {
    await using a = await startEchoHttpServer({ prompts: ["review code"] });
    await using test = await startTestGateway({
      tool_servers: [onHttp("a", a.url), onHttp("down", "http://127.0.0.1:9/mcp")],
      policy: {
        deny: [
          "a:ecoh",
          "a:echo",
          "a:delete_*",
          "*:delete_*",
          "down:nothing",
          "a:resources/x:*",
          "a:prompts/*",
        ],
        clients: {
          cli: { allow: ["a__structurd", "a:prompts/review cod", "toolcrib:serch_tools", "save_tol"] },
        },
      },
      guards: { costs: { "a:echo": 1, "a:structurd": 2, "down:nothing": 3 } },
    });
    const { idleRules } = test.gateway.status();
    const tools = '"a" has no tool that it matches';
    assert.deepEqual(
      idleRules.map(({ path, reason, hint }) => [path, reason, hint]),
      [
        ["policy.deny[0]", tools, 'did you mean "a:echo"?'],
        ["policy.deny[2]", tools, undefined],
        ["policy.clients.cli.allow[0]", tools, 'did you mean "a__structured"?'],
        [
          "policy.clients.cli.allow[1]",
          '"a" has no prompt that it matches',
          'did you mean "a:prompts/review code"?',
        ],
        [
          "policy.clients.cli.allow[2]",
          '"toolcrib" has no tool that it matches',
          'did you mean "toolcrib:search_tools"?',
        ],
        ["guards.costs[1]", tools, 'did you mean "a:structured"?'],
      ],
    );
    const warned = test.logger.records.filter(({ message }) => message === "rule matches nothing known");
    assert.equal(warned.length, 6);
  });

  it("hides servers from clients that may use none of their tools", async () => {
    await using a = await startEchoHttpServer({ instructions: "Use A with care" });
    await using b = await startEchoHttpServer({ instructions: "Use B at will" });
    await using test = await startTestGateway(
      {
        tool_servers: [onHttp("a", a.url), onHttp("b", b.url)],
        policy: { clients: { ci: { deny: ["b:*"] } } },
      },
      { clients: ["ci", "free"] },
    );
    const instructions = async (as: string) => (await test.connect({ as })).getInstructions() ?? "";
    assert.match(await instructions("free"), /## a\nUse A with care\n\n## b\nUse B at will/);
    assert.match(await instructions("ci"), /Use A with care$/);
  });
});

/** A registry with one function and a policy. */
async function registryWith(id: string, policy: RegistryConfig["policy"]) {
  const registry = createRegistry({ policy });
  const [namespace = "", name = ""] = id.split(":");
  registry.registerLocal(name, "A function", { type: "object" }, () => "called", { namespace });
  await registry.start();
  return registry;
}

describe("rules", () => {
  const check = async (expected: string, policy: RegistryConfig["policy"]) => {
    await using registry = await registryWith("files:read", policy);
    const said = await registry.execute("files:read").catch((error: Error) => error.message);
    const rule = /\(([^()]+)\)$/.exec(String(said))?.[1] ?? said;
    assert.equal(rule, expected);
    assert.equal(registry.getTool("files:read") !== undefined, expected === "called");
    assert.equal(registry.search("read").length, expected === "called" ? 1 : 0);
  };

  it("deny before they allow, and a client's rules add to the rules for all clients", async () => {
    // Calls of the embedding program have the client name "library".
    const own = (rules: Partial<PolicyConfig>) => ({
      clients: { library: { allow: undefined, deny: [], ...rules } },
    });
    await check("called", {});
    await check("policy.allow", { allow: [] });
    await check("called", { allow: ["x", "files:*"] });
    await check("called", { allow: ["files__*"] });
    await check("policy.deny[1]", { allow: ["files:*"], deny: ["x", "*:read"] });
    await check("policy.clients.library.deny[0]", { allow: ["files:*"], ...own({ deny: ["files:re?d"] }) });
    await check("policy.clients.library.allow", { allow: ["files:*"], ...own({ allow: ["other:*"] }) });
    await check("called", { allow: ["files:*"], ...own({ allow: ["*"] }) });
    await check("policy.allow", { allow: ["other:*"], ...own({ allow: ["*"] }) });
    await check("called", { clients: { ci: { allow: [], deny: ["*"] } } });
  });

  it("apply to Toolcrib's own tools: an allow list must name them, but for the meta-tools", async () => {
    const allow = ["a:echo"];
    await using a = await startEchoHttpServer();
    await using test = await startTestGateway(
      {
        tool_servers: [onHttp("a", a.url)],
        serve: { tools: { pinned: ["toolcrib:call_tool", "describe_tool"] } },
        policy: {
          clients: {
            plain: { allow },
            author: { allow: [...allow, "toolcrib:save_tool", "eval_*"] },
            every: { allow: ["toolcrib:*"] },
            less: { allow, deny: ["toolcrib:call_tool", "search_tools"] },
          },
        },
      },
      { clients: ["plain", "author", "every", "less"] },
    );
    const metaTools = ["search_tools", "describe_tool", "call_tool"];
    const toolsOf = async (as: string) => (await listedBy(await test.connect({ as }))).tools;
    assert.deepEqual(await toolsOf("plain"), [...metaTools, "a__echo"]);
    assert.deepEqual(await toolsOf("author"), [...metaTools, "save_tool", "eval_starlark", "a__echo"]);
    assert.deepEqual(await toolsOf("every"), [...metaTools, ...compositeTools]);
    assert.deepEqual(await toolsOf("less"), ["describe_tool", "a__echo"]);
    const plain = await test.connect({ as: "plain" });
    for (const name of compositeTools) {
      const given = { name: "x", code: "return 1", description: "A tool" };
      const answer = await answerOf(plain.callTool({ name, arguments: given }));
      assert.match(answer, /may not use|Unknown tool/, name);
    }
    assert.equal(
      test.gateway.listTools(somebody).some(({ id }) => id === "saved:x"),
      false,
    );
  });

  it("apply to Toolcrib's own tools by a deny list, and allow the meta-tools without an entry", async () => {
    await using allowing = await registryWith("files:read", { allow: ["files:*"] });
    assert.equal(await allowing.execute("call_tool", { name: "files:read" }), "called");
    await using denying = await registryWith("files:read", { deny: ["toolcrib:call_*"] });
    await assert.rejects(denying.execute("call_tool", { name: "files:read" }), /policy\.deny\[0\]/);
  });
});

describe("a pattern", () => {
  const cases: readonly (readonly [pattern: string, id: string, matches: boolean])[] = [
    ["*", "a:b", true],
    ["a:b", "a:b", true],
    ["a__b", "a:b", true],
    ["a:", "a:b", false],
    ["a:bc", "a:b", false],
    ["A:B", "a:b", false],
    ["a:*d", "a:bcd", true],
    ["a:*b*", "a:b", true],
    ["a*b*c", "a:b-b-c", true],
    ["a*b*c", "a:c-b", false],
    ["**:**b**", "a:cbc", true],
    ["a:?b", "a:xb", true],
    ["a:?b", "a:b", false],
    ["a.b", "a:b", false],
    ["a:[b]", "a:b", false],
    ["a:(b|c)", "a:b", false],
    ["a:b+", "a:bb", false],
    ["^a:b$", "a:b", false],
  ];
  for (const [pattern, id, matches] of cases) {
    it(`"${pattern}" ${matches ? "takes" : "does not take"} "${id}"`, async () => {
      await using registry = await registryWith(id, { allow: [pattern] });
      assert.equal(registry.getTool(id) !== undefined, matches);
    });
  }

  it("matches in time proportional to pattern times text, for every pattern and text", async () => {
    const id = `a:${"a".repeat(128)}`;
    await using registry = await registryWith(id, {
      deny: [`${"*a".repeat(100)}b`, "*a*a*a*a*a*a*a*a*a*a*ab"],
    });
    assert.ok(registry.getTool(id));
  });
});
