/** What a policy forbids is forbidden in every way to it: lists, search, description, calls, resources, prompts. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { checkGolden, startEchoHttpServer } from "@toolcrib/testing";
import { matchesGlob } from "../src/tool-patterns.ts";
import { createToolPolicy } from "../src/tool-policy.ts";
import { onHttp, startTestGateway, textOf } from "./gateway-harness.ts";

/** Names on all pages of everything that a client is listed. */
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

/** What a call says, or the error that it is. */
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
  it("forbids in every way and view what it denies to everyone or to one client", async () => {
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
      tools: ["search_tools", "a__echo", "a__structured", "a__fail", "b__echo"],
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
      tools: ["search_tools", "a__echo", "a__structured", "a__fail"],
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

  it("lets nobody find, describe, call, read, watch or complete what they may not use", async () => {
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
    await add("be told of it as what was meant", callTool("a__enviro"));
    await add("be told of what is allowed", callTool("a__ecko text"));
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

  it("does not tell a client of servers of which it may use nothing", async () => {
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

describe("createToolPolicy()", () => {
  const ci = { kind: "token", name: "ci" } as const;
  const floor = { networkEgress: undefined, filesystemWrite: undefined, maxExecutionSeconds: undefined };
  const rule = (
    allow: string[] | undefined,
    deny: string[],
    id = "files:read",
    own: { readonly allow?: string[]; readonly deny?: string[] } = {},
  ) => {
    const clients = { ci: { allow: own.allow, deny: own.deny ?? [] } };
    const policy = createToolPolicy({ allow, deny, clients, floor });
    const { kind, rule: by } = policy.decide(ci, id, id.replace(":", "__"));
    return `${kind} ${by}`;
  };

  it("lets deny win over allow, and the client's rules add to those of everyone", () => {
    assert.equal(rule(undefined, []), "allow default");
    assert.equal(rule([], []), "deny policy.allow");
    assert.equal(rule(["x", "files:*"], []), "allow policy.allow[1]");
    assert.equal(rule(["files__*"], []), "allow policy.allow[0]");
    assert.equal(rule(["files:*"], ["x", "*:read"]), "deny policy.deny[1]");
    assert.equal(
      rule(["files:*"], [], "files:read", { deny: ["files:re?d"] }),
      "deny policy.clients.ci.deny[0]",
    );
    assert.equal(rule(["files:*"], [], "files:read", { allow: ["other:*"] }), "deny policy.clients.ci.allow");
    assert.equal(rule(["files:*"], [], "files:read", { allow: ["*"] }), "allow policy.clients.ci.allow[0]");
    assert.equal(rule(["other:*"], [], "files:read", { allow: ["*"] }), "deny policy.allow");
  });

  it("has Toolcrib's own tools in no need of an allow list, and in reach of a deny list", () => {
    assert.equal(rule(["files:*"], [], "toolcrib:call_tool"), "allow own tool");
    assert.equal(rule(undefined, ["toolcrib:call_*"], "toolcrib:call_tool"), "deny policy.deny[0]");
    assert.equal(rule(["files:*"], [], "toolcrib2:call_tool"), "deny policy.allow");
  });
});

describe("matchesGlob()", () => {
  const cases: readonly (readonly [pattern: string, text: string, matches: boolean])[] = [
    ["", "", true],
    ["*", "", true],
    ["*", "anything:at/all", true],
    ["a*c", "abc", true],
    ["a*c", "ac", true],
    ["a*c", "acb", false],
    ["a*b*c", "a-b-b-c", true],
    ["a*b*c", "a-c-b", false],
    ["**a**", "bab", true],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["a.c", "abc", false],
    ["a+(b)[c]", "a+(b)[c]", true],
    ["ABC", "abc", false],
    ["a", "ab", false],
    ["ab", "a", false],
  ];
  for (const [pattern, text, matches] of cases) {
    it(`${matches ? "takes" : "does not take"} "${text}" for "${pattern}"`, () => {
      assert.equal(matchesGlob(pattern, text), matches);
    });
  }

  it("takes time in proportion, whatever is matched", () => {
    assert.equal(matchesGlob(`${"*a".repeat(100)}b`, "a".repeat(10_000)), false);
    assert.equal(matchesGlob("*:*secret*:*x", `files:${"secret:".repeat(2000)}`), false);
  });
});
