/** Profiles: named subsets with endpoints of their own, which narrow what their clients may use and never widen it. */

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { localIdentity } from "@toolcrib/tool";
import {
  onHttp,
  type ScriptedServer,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  textOf,
  toolNamed,
} from "./gateway-harness.ts";

let crm: ScriptedServer;
let mail: ScriptedServer;
let test: TestGateway;
const calls: string[] = [];

function serverWith(names: readonly string[], server: string): Promise<ScriptedServer> {
  return startScriptedServer({
    tools: () => names.map((name) => toolNamed(name)),
    resources: () => [{ uri: `${server}://index`, name: "index" }],
    prompts: () => [{ name: "draft" }],
    instructions: `Instructions of ${server}`,
    call: (_request, name) => {
      calls.push(`${server}:${name}`);
      return { content: [{ type: "text", text: `${server} ${name}` }] };
    },
    other: ({ method, params }) =>
      method === "resources/read"
        ? { contents: [{ uri: String(params["uri"]), text: `${server} text` }] }
        : method === "prompts/get"
          ? { messages: [] }
          : undefined,
  });
}

before(async () => {
  crm = await serverWith(["find_customer", "delete_customer", "export_all"], "crm");
  mail = await serverWith(["send", "search"], "mail");
  test = await startTestGateway(
    {
      tool_servers: [onHttp("crm", crm.url), onHttp("mail", mail.url)],
      profiles: {
        triage: {
          tools: ["crm:*_customer", "crm:resources/*", "mail:search"],
          exclude: ["*:delete_*"],
          mode: "search",
          pinned: ["crm:find_customer"],
          instructions: "Look customers up before you answer.",
        },
        mailing: { servers: ["mail"], clients: ["ci"] },
        whole: {},
      },
      policy: { deny: ["mail:search"], clients: { bound: { profile: "triage" }, ci: {} } },
    },
    { clients: ["ci", "other", "bound"] },
  );
});

after(async () => {
  await test[Symbol.asyncDispose]();
  await mail[Symbol.asyncDispose]();
  await crm[Symbol.asyncDispose]();
});

const searchTools = ["search_tools", "describe_tool", "call_tool", "read_more"];

/** The list of an endpoint in both eras, which must be the same. */
async function listOf(where: { profile?: string; server?: string; as: string }): Promise<string[]> {
  const legacy = (await (await test.connect(where)).listTools()).tools.map(({ name }) => name);
  const modern = (await (await test.connectModern(where)).listTools()).tools.map(({ name }) => name);
  assert.deepEqual(modern, legacy);
  return legacy;
}

async function statusOf(path: string, as: string): Promise<{ status: number; body: string }> {
  const { readToken } = await import("@toolcrib/auth");
  const url = new URL(path, await test.endpoint());
  const headers = {
    authorization: `Bearer ${readToken(test.home, as)}`,
    accept: "application/json, text/event-stream",
  };
  const response = await fetch(url, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: "{}",
  });
  return { status: response.status, body: await response.text() };
}

describe("the endpoint of a profile", () => {
  it("lists, finds, describes and calls what is in it, in both eras, with its own mode and instructions", async () => {
    const where = { profile: "triage", as: "other" };
    assert.deepEqual(await listOf(where), [...searchTools, "crm__find_customer"]);
    for (const client of [await test.connect(where), await test.connectModern(where)]) {
      const call = async (name: string, args: JsonObject) =>
        textOf(await client.callTool({ name, arguments: args }));
      assert.match(client.getInstructions() ?? "", /^Look customers up before you answer\.\n/);
      assert.doesNotMatch(client.getInstructions() ?? "", /Instructions of/);
      assert.match(
        await call("search_tools", { query: "customer" }),
        /^crm__find_customer\(\) — The tool find_customer$/,
      );
      assert.equal(await call("call_tool", { name: "crm__find_customer" }), "crm find_customer");
      assert.equal(await call("crm__find_customer", {}), "crm find_customer");
      for (const outside of ["crm__delete_customer", "crm__export_all", "mail__send", "mail__search"]) {
        await assert.rejects(client.callTool({ name: outside, arguments: {} }), /Unknown tool/, outside);
        assert.match(await call("call_tool", { name: outside }), /^Unknown tool/, outside);
        assert.match(await call("describe_tool", { name: outside }), /^Unknown tool/, outside);
        assert.match(
          await call("search_tools", { query: outside.replaceAll("_", " ") }),
          /^(?!.*(delete|export|mail)).*$/s,
        );
      }
      const { resources } = await client.listResources();
      assert.deepEqual(
        resources.map(({ uri }) => uri),
        ["crm://index"],
      );
      await client.readResource({ uri: "crm://index" });
      await assert.rejects(client.readResource({ uri: "mail://index" }), /not found/i);
      assert.deepEqual((await client.listPrompts()).prompts, []);
      await assert.rejects(client.getPrompt({ name: "crm__draft" }), /Unknown prompt/);
    }
    assert.deepEqual(new Set(calls), new Set(["crm:find_customer"]));
  });

  it("shows a server in a profile of servers, and leaves out what the policy denies", async () => {
    // Without a mode of its own it has that of serve.
    assert.deepEqual(await listOf({ profile: "mailing", as: "ci" }), ["search_tools", "mail__send"]);
    const whole = await listOf({ profile: "whole", as: "ci" });
    assert.deepEqual(whole, await listOf({ as: "ci" }));
    assert.ok(!whole.includes("mail__search"));
  });

  it("keeps composites within it", async () => {
    const client = await test.connect({ profile: "whole", as: "other" });
    const ofProfile = await test.connect({ profile: "triage", as: "other" });
    const code = 'return call("crm__export_all")';
    const program = { code: "return crm.export_all({})" };
    assert.match(
      textOf(await client.callTool({ name: "eval_starlark", arguments: program })),
      /crm export_all/,
    );
    await assert.rejects(ofProfile.callTool({ name: "eval_starlark", arguments: { code } }), /Unknown tool/);
    assert.match(
      textOf(
        await ofProfile.callTool({
          name: "call_tool",
          arguments: { name: "eval_starlark", arguments: program },
        }),
      ),
      /^Unknown tool/,
    );
  });

  it("does not exist for others, who learn the names of their own only", async () => {
    const unknown = await statusOf("/mcp/p/nothing", "other");
    assert.equal(unknown.status, 404);
    assert.match(unknown.body, /There is no profile \\"nothing\\".*the profiles are triage, whole"/);
    assert.match(
      (await statusOf("/mcp/p/mailing", "other")).body,
      /There is no profile \\"mailing\\".*triage, whole"/,
    );
    assert.match((await statusOf("/mcp/p/nothing", "ci")).body, /the profiles are triage, mailing, whole"/);
    for (const path of ["/mcp/p/", "/mcp/p/triage/", "/mcp/p/..%2f", "/mcp/p/__proto__", "/mcp/p/triage?x"]) {
      const expected = path.includes("?") ? 400 : 404;
      assert.equal((await statusOf(path, "other")).status, expected, path);
    }
    const none = await fetch(new URL("/mcp/p/nothing", await test.endpoint()), { method: "POST" });
    assert.equal(none.status, 401);
    assert.doesNotMatch(await none.text(), /triage|profile/);
  });
});

describe("a client that is bound to a profile", () => {
  it("has it as its /mcp and cannot leave it", async () => {
    assert.deepEqual(await listOf({ as: "bound" }), [...searchTools, "crm__find_customer"]);
    assert.deepEqual(await listOf({ profile: "triage", as: "bound" }), [
      ...searchTools,
      "crm__find_customer",
    ]);
    // The endpoint of a server shows what of it is in the profile.
    assert.deepEqual(await listOf({ server: "crm", as: "bound" }), ["find_customer"]);
    for (const path of ["/mcp/p/whole", "/mcp/p/mailing", "/mcp/p/nothing"]) {
      const { status, body } = await statusOf(path, "bound");
      assert.equal(status, 404, path);
      assert.match(body, /the profiles are triage"/);
    }
    const client = await test.connect({ as: "bound" });
    assert.match(client.getInstructions() ?? "", /^Look customers up/);
    for (const name of [
      "crm__export_all",
      "crm:export_all",
      "crm__delete_customer",
      "mail__send",
      "eval_starlark",
    ]) {
      await assert.rejects(client.callTool({ name, arguments: {} }), /Unknown tool/, name);
    }
    const { endpoints } = test.gateway.status().discovery;
    assert.deepEqual(
      endpoints.map(({ path }) => path),
      ["/mcp", "/mcp/p/triage", "/mcp/p/mailing", "/mcp/p/whole"],
    );
    const denials = test.gateway.policySituation();
    assert.ok(denials !== undefined);
  });

  it("has the decisions of its profile explained", () => {
    const bound = localIdentity("token", "bound");
    assert.deepEqual(test.gateway.profilesOf(bound), ["triage"]);
    assert.equal(test.gateway.describe(bound, "crm__export_all"), undefined);
    assert.match(
      test.gateway.explain(bound, "crm__find_customers").hint ?? "",
      /did you mean "crm__find_customer"/,
    );
  });
});
