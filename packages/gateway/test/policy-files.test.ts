/** Policies in Cedar, through every entry point, and their replacement while the gateway runs. */

import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { startGateway } from "@toolcrib/gateway";
import { slowTest, startEchoHttpServer, waitUntil } from "@toolcrib/testing";
import {
  configOf,
  createTestLogger,
  dataOf,
  onHttp,
  somebody,
  startTestGateway,
  textOf,
} from "./gateway-harness.ts";

const policies = `
@id("robots-read")
permit(principal in Role::"robot", action in Action::"use", resource in ToolServer::"a")
  when { resource.name == "env" || resource.name == "echo" };

@id("short-texts") @message("Texts start with hello")
forbid(principal, action == Action::"call", resource == Tool::"a:echo")
  unless { context.arguments.hasTag("text") && context.arguments.getTag("text") like "hello*" };

@id("team")
permit(principal, action, resource)
  when { principal.hasTag("team") && resource.server.hasTag("team") && principal.getTag("team") == resource.server.getTag("team") };

@id("operator")
permit(principal == Client::"cli", action, resource) when { resource is Prompt };
`;

function documentFor(a: URL | string, b: URL | string) {
  return {
    tool_servers: [onHttp("a", String(a)), onHttp("b", String(b), { labels: { team: "web" } })],
    policy: {
      files: ["policies/main.cedar"],
      clients: {
        ci: { roles: ["robot"] },
        dev: { labels: { team: "web" }, deny: ["b:env"] },
      },
    },
  };
}

const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name).sort();

/** Names of Toolcrib's own tools that need no permit. */
const ownNames = ["search_tools"];

describe("policy files", () => {
  it("decide lists, search, calls, resources, prompts and inner calls by every entry point", async () => {
    const builtin = ["echo", "env", "fail"] as const;
    await using a = await startEchoHttpServer({ builtin });
    await using b = await startEchoHttpServer({ builtin });
    await using test = await startTestGateway(documentFor(a.url, b.url), {
      clients: ["ci", "dev", "other"],
      files: { "policies/main.cedar": policies },
    });
    const ci = await test.connect({ as: "ci" });
    const dev = await test.connect({ as: "dev" });
    const other = await test.connectModern({ as: "other" });
    assert.deepEqual(await namesOf(ci), ["a__echo", "a__env", ...ownNames]);
    assert.deepEqual(await namesOf(dev), ["b__echo", "b__fail", ...ownNames]);
    assert.deepEqual((await other.listTools()).tools.map(({ name }) => name).sort(), ownNames);
    assert.deepEqual((await ci.listPrompts()).prompts, []);
    assert.ok((await dev.listPrompts()).prompts.every(({ name }) => name.startsWith("b__")));
    assert.ok((await dev.listResources()).resources.length > 0);

    const call = async (client: Client, name: string, args = {}) =>
      textOf((await client.callTool({ name, arguments: args })) as never);
    assert.equal(await call(ci, "a__echo", { text: "hello you" }), "hello you");
    const refused = await call(ci, "a__echo", { text: "bye" });
    const reason = /^"a__echo" was not called: the policy does not allow this call: Texts start with hello/;
    assert.match(refused, reason);
    assert.doesNotMatch(refused, /short-texts|main\.cedar/, "the rules are the operator's");
    await assert.rejects(ci.callTool({ name: "b__echo", arguments: {} }), /Unknown tool: "b__echo"/);
    await assert.rejects(dev.callTool({ name: "b__env", arguments: {} }), /Unknown tool/);

    // The meta-tool, search, and a composite.
    const meta = (name: string, args: object) => call(ci, "call_tool", { name, arguments: args });
    assert.equal(await meta("a__echo", { text: "hello" }), "hello");
    assert.match(await meta("a__echo", { text: "bye" }), reason);
    assert.match(await meta("b__echo", { text: "hello" }).catch(String), /Unknown tool/);
    assert.doesNotMatch(await call(ci, "search_tools", { query: "fail" }), /a__fail|b__/);

    // A program in the process of the gateway.
    const outcome = await test.gateway.call(somebody, "a:echo", { text: "hello" });
    assert.deepEqual(outcome.kind === "denied" && [outcome.code, outcome.rule], [
      "POLICY_DENIED",
      "policy.files",
    ]);

    await test.stop();
    // The configuration was loaded by its complete path, and so are the names of its files.
    const shortRule = (rule: string | undefined) => rule?.replace(/^.*(?=policies\/main)/, "");
    const rules = dataOf(test.audit(), "call.denied").map(({ rule }) => shortRule(rule));
    assert.deepEqual([...new Set(rules)].sort(), [
      "policies/main.cedar#short-texts",
      "policy.clients.dev.deny[0]",
      "policy.files",
    ]);
    const [intent] = dataOf(test.audit(), "call.intent");
    assert.equal(shortRule(intent?.rule), "policies/main.cedar#robots-read");
  });

  it("refuse a call that their engine fails at, without calling the tool, and decide the next one", async (t) => {
    await using a = await startEchoHttpServer({ builtin: ["echo"] });
    const text = `permit(principal, action == Action::"list", resource);
permit(principal, action == Action::"call", resource) when { context.arguments.hasTag("text") && context.arguments.getTag("text") != principal.name };`;
    await using test = await startTestGateway(
      { tool_servers: [onHttp("a", String(a.url))], policy: { files: ["main.cedar"] } },
      { clients: ["ci"], files: { "main.cedar": text } },
    );
    const ci = await test.connect({ as: "ci" });
    const call = async (name: string, given: object) =>
      textOf((await ci.callTool({ name, arguments: { ...given } })) as never);
    await ci.listTools();
    const require = createRequire(new URL("../../cedar/package.json", import.meta.url));
    const engine = require("@cedar-policy/cedar-wasm/nodejs") as { statefulIsAuthorized: () => unknown };
    const failing = t.mock.method(engine, "statefulIsAuthorized", () => {
      throw new Error("memory access out of bounds");
    });
    const refused = /^"a__echo" was not called: the policy engine failed; try again in a minute/;
    assert.match(await call("a__echo", { text: "one" }), refused);
    assert.equal(failing.mock.callCount(), 1);
    assert.equal(await call("a__echo", { text: "two" }), "two");
    failing.mock.restore();
    const { policy } = test.gateway.status();
    assert.equal(policy?.engine?.problem, "memory access out of bounds");
    await test.stop();
    assert.deepEqual(
      dataOf(test.audit(), "call.denied").map(({ code }) => code),
      ["POLICY_UNAVAILABLE"],
    );
    const failed = dataOf(test.audit(), "policy.failed").map(({ problem }) => problem);
    assert.deepEqual(failed, ["memory access out of bounds"]);
  });

  it("do not reveal a tool that a client may not list where their engine fails", async (t) => {
    await using a = await startEchoHttpServer({ builtin: ["echo", "env"] });
    const text = `permit(principal, action == Action::"list", resource) when { resource.name != "env" };
permit(principal, action == Action::"call", resource) when { context.arguments.hasTag("name") || context.arguments.hasTag("text") };`;
    await using test = await startTestGateway(
      { tool_servers: [onHttp("a", String(a.url))], policy: { files: ["main.cedar"] } },
      { clients: ["ci"], files: { "main.cedar": text } },
    );
    const ci = await test.connect({ as: "ci" });
    await ci.listTools();
    const require = createRequire(new URL("../../cedar/package.json", import.meta.url));
    const call = async (name: string) => {
      const request = { name: "call_tool", arguments: { name: `a__${name}`, arguments: { text: name } } };
      return ci.callTool(request).then((result) => textOf(result as never), String);
    };
    const failedCall = async (name: string) => {
      const engine = require("@cedar-policy/cedar-wasm/nodejs") as {
        statefulIsAuthorized: (...args: unknown[]) => unknown;
      };
      const decide = engine.statefulIsAuthorized;
      const failing = t.mock.method(engine, "statefulIsAuthorized", (...args: unknown[]) => {
        if (JSON.stringify(args).includes(`a:${name}`)) throw new Error("memory access out of bounds");
        return decide(...args);
      });
      const answer = await call(name);
      failing.mock.restore();
      return answer;
    };
    assert.match(await failedCall("echo"), /"a__echo" was not called: the policy engine failed/);
    assert.equal(await call("echo"), "echo", "a new engine decides");
    assert.match(await failedCall("env"), /Unknown tool: "a__env"/);
    await test.stop();
    assert.deepEqual(
      dataOf(test.audit(), "call.denied").map(({ code }) => code),
      ["POLICY_UNAVAILABLE", "POLICY_UNAVAILABLE"],
    );
  });

  it("apply to composites as to their callers", async () => {
    await using a = await startEchoHttpServer({ builtin: ["echo"] });
    await using b = await startEchoHttpServer({ builtin: ["echo"] });
    const inner = `${policies}
@id("programs") permit(principal, action in Action::"use", resource == Tool::"toolcrib:eval_starlark");
@id("inner") forbid(principal, action == Action::"call", resource in ToolServer::"a") when { context.depth > 1 };`;
    await using test = await startTestGateway(documentFor(a.url, b.url), {
      clients: ["ci"],
      files: { "policies/main.cedar": inner },
    });
    const ci = await test.connect({ as: "ci" });
    const run = async (code: string) =>
      textOf((await ci.callTool({ name: "eval_starlark", arguments: { code } })) as never);
    assert.match(await run('return a.echo(text="hello")'), /hello/);
    assert.match(await run('return a.echo(text="bye")'), /short-texts|may not use|not allow/);
    assert.match(await run('return b.echo(text="hello")'), /b/);
  });

  it("are replaced at once when they change, and kept when the change is invalid", slowTest, async () => {
    await using a = await startEchoHttpServer({ builtin: ["echo", "env"] });
    await using b = await startEchoHttpServer({ builtin: ["echo"] });
    await using test = await startTestGateway(documentFor(a.url, b.url), {
      clients: ["ci"],
      files: { "policies/main.cedar": policies },
    });
    const file = join(test.home, "..", "policies", "main.cedar");
    const ci = await test.connect({ as: "ci" });
    let changes = 0;
    ci.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      changes += 1;
    });
    assert.deepEqual(await namesOf(ci), ["a__echo", "a__env", ...ownNames]);

    writeFileSync(file, policies.replace('resource.name == "env" ||', ""));
    await waitUntil(() => changes > 0);
    assert.deepEqual(await namesOf(ci), ["a__echo", ...ownNames]);
    await assert.rejects(ci.callTool({ name: "a__env", arguments: {} }), /Unknown tool/);

    writeFileSync(file, 'permit(principal, action, resource) when { resource.nme == "x" };');
    await waitUntil(() => test.gateway.status().policy?.problem !== undefined);
    assert.match(test.gateway.status().policy?.problem ?? "", /main\.cedar:1:53: error CEDAR_INVALID/);
    assert.deepEqual(await namesOf(ci), ["a__echo", ...ownNames]);

    rmSync(file);
    await waitUntil(() => /ENOENT|no such file/.test(test.gateway.status().policy?.problem ?? ""));
    assert.deepEqual(await namesOf(ci), ["a__echo", ...ownNames]);

    writeFileSync(file, policies);
    await waitUntil(async () => (await namesOf(ci)).includes("a__env"));
    assert.equal(test.gateway.status().policy?.problem, undefined);
    await test.stop();
    const types = test
      .audit()
      .map(({ type }) => type)
      .filter((type) => type.startsWith("policy."));
    assert.deepEqual(types, ["policy.changed", "policy.rejected", "policy.rejected", "policy.changed"]);
  });

  it("waive approvals of calls of unverified servers", async () => {
    await using a = await startEchoHttpServer({ builtin: ["echo"] });
    const document = {
      tool_servers: [onHttp("a", a.url, { trust_state: "unverified", first_contact: "pin" })],
      policy: { files: ["main.cedar"] },
    };
    const text = `permit(principal, action in Action::"use", resource);
@approval("waived") permit(principal == Client::"ci", action == Action::"call", resource == Tool::"a:echo");`;
    await using test = await startTestGateway(document, {
      clients: ["ci", "dev"],
      files: { "main.cedar": text },
    });
    const call = async (as: string) =>
      textOf(
        (await (await test.connect({ as })).callTool({ name: "a__echo", arguments: { text: "x" } })) as never,
      );
    assert.equal(await call("ci"), "x");
    assert.match(await call("dev"), /each call needs the operator's approval/);
  });

  it("stop the start of a gateway that did not read them", async () => {
    const config = configOf({ policy: { files: ["main.cedar"] } });
    await using test = await startTestGateway({ tool_servers: [] });
    const deps = {
      home: `${test.home}-other`,
      env: {},
      directory: test.home,
      logger: createTestLogger(),
      version: "1",
      configFiles: [],
    };
    await assert.rejects(startGateway(config, deps), { code: "POLICY_INVALID" });
  });
});
