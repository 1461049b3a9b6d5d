/** Composite tools in a gateway: listed to every client at once, run as their caller, and recorded with all inner calls. */

import assert from "node:assert/strict";
import { basename } from "node:path";
import { describe, it } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "@toolcrib/json";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import {
  approve,
  compositeTools,
  dataOf,
  echoStdio,
  onHttp,
  type ScriptedServer,
  somebody,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  toolNamed,
  untilListed,
} from "./gateway-harness.ts";

/** A server whose tools return their name and arguments; `break` fails. */
function startTools(...names: readonly string[]): Promise<ScriptedServer> {
  const readOnly = { readOnlyHint: true, openWorldHint: false };
  return startScriptedServer({
    tools: () =>
      names.map((name) => toolNamed(name, name.startsWith("get") ? { annotations: readOnly } : {})),
    call(_request, name, args) {
      if (name === "break") return { content: [{ type: "text", text: "It broke" }], isError: true };
      return { content: [], structuredContent: { name, ...args } };
    },
  });
}

/** Calls a tool and returns its structured result. */
async function call(client: Pick<Client, "callTool">, name: string, given: object = {}): Promise<JsonObject> {
  const result = await client.callTool({ name, arguments: { ...given } });
  return (result.structuredContent ?? { isError: result.isError, content: result.content }) as JsonObject;
}

const save = (client: Pick<Client, "callTool">, name: string, code: string, more: object = {}) =>
  call(client, "save_tool", { name, description: `The composite ${name}`, inputSchema: {}, code, ...more });

function typeOf(answer: JsonObject): unknown {
  return (answer["error"] as JsonObject | undefined)?.["type"];
}

async function namesIn(client: Pick<Client, "listTools">): Promise<readonly string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

describe("a saved tool", () => {
  it("is listed, found and called by every client of every generation, at once and by either name", async () => {
    await using server = await startTools("get");
    await using test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
    const first = await test.connect();
    const second = await test.connect();
    const modern = await test.connectModern();
    let heard = 0;
    second.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      heard += 1;
    });
    const changes: unknown[] = [];
    const subscription = await modern.listen({ toolsListChanged: true });
    modern.setNotificationHandler("notifications/tools/list_changed", (change) => void changes.push(change));
    await save(first, "greet", 's.get(word="hi")["word"]\nreturn s.get(word="hi").word');
    await waitUntil(() => heard > 0 && changes.length > 0);
    for (const client of [first, second, modern as unknown as Client]) {
      assert.deepEqual(await namesIn(client), ["search_tools", ...compositeTools, "s__get", "greet"]);
      for (const name of ["greet", "saved__greet", "saved:greet"]) {
        assert.equal((await call(client, name))["result"], "hi");
      }
      const found = await client.callTool({ name: "search_tools", arguments: { query: "composite greet" } });
      assert.match(JSON.stringify(found.structuredContent), /^\{"tools":\[\{"name":"greet"/);
    }
    assert.deepEqual(
      (await (await test.connect({ server: "s" })).listTools()).tools.map(({ name }) => name),
      ["get"],
    );
    await subscription.close();
  });

  it("calls hidden tools, other saved tools and tools by any of their names", async () => {
    await using server = await startTools("get", "list-all", "break");
    await using test = await startTestGateway({
      tool_servers: [onHttp("my-server", server.url)],
      serve: { tools: { hidden: ["my-server:get"] } },
    });
    const client = await test.connect();
    await save(client, "inner", 'return my_server.get({"n": params.n}).n + 1', {
      inputSchema: { properties: { n: { type: "integer", default: 1 } } },
    });
    const check = async (code: string, expected: unknown) => {
      const answer = await call(client, "eval_starlark", { code });
      assert.deepEqual(answer["result"], expected, JSON.stringify(answer));
    };
    await check("return saved.inner(n=2)", 3);
    await check("return saved.inner()", 2);
    for (const name of ["my-server__list-all", "my-server:list-all", "my-server.list-all"]) {
      await check(`return tools["${name}"](a=[1]).a`, [1]);
    }
    await check('try:\n    my_server["break"]\nexcept Error as e:\n    return "no"', "no");
    await check(
      'try:\n    tools["my-server__break"]()\nexcept ToolError as e:\n    return e.message',
      "It broke",
    );
  });

  it("has the annotations that follow from its tools", async () => {
    await using server = await startTools("get", "getMore", "change");
    await using test = await startTestGateway({
      tool_servers: [onHttp("s", server.url, { labels: { team: "platform" } })],
    });
    const client = await test.connect();
    const check = async (code: string, expected: object) => {
      const answer = await save(client, `tool_${Math.random().toString(36).slice(2)}`, code);
      const { reach, dynamic, annotations, labels, egressHosts } = answer;
      const { readOnlyHint, destructiveHint } = annotations as JsonObject;
      assert.deepEqual(
        { reach, dynamic, readOnlyHint, destructiveHint, labels, egressHosts },
        expected,
        code,
      );
    };
    const labels = { team: ["platform"] };
    const egressHosts = ["127.0.0.1"];
    const around = { labels, egressHosts };
    await check("return 1", {
      reach: [],
      dynamic: false,
      readOnlyHint: true,
      destructiveHint: false,
      labels: {},
      egressHosts: [],
    });
    const reading = { dynamic: false, readOnlyHint: true, destructiveHint: false, ...around };
    await check("return [s.get(), s.getMore()]", { reach: ["s:get", "s:getMore"], ...reading });
    const writing = { dynamic: false, readOnlyHint: false, destructiveHint: true, ...around };
    await check("return [s.get(), s.change()]", { reach: ["s:change", "s:get"], ...writing });
    await check("return tools[params.name]()", { reach: [], ...writing, dynamic: true });
  });

  it("is recorded with its inner calls, and so are its changes", async () => {
    await using server = await startTools("get");
    await using test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
    const client = await test.connect();
    await save(client, "twice", "s.get()\nreturn s.get(a=1)");
    await call(client, "twice");
    await call(client, "delete_saved_tool", { name: "twice" });
    await test.stop();
    const records = test.audit();
    const intents = dataOf(records, "call.intent");
    const outer = intents.find(({ tool }) => tool === "saved:twice");
    assert.deepEqual([outer?.origin, outer?.depth], ["saved", 0]);
    assert.deepEqual(
      intents.filter(({ parentId }) => parentId === outer?.callId).map(({ tool, depth }) => [tool, depth]),
      [
        ["s:get", 1],
        ["s:get", 1],
      ],
    );
    const [saved] = dataOf(records, "tool.saved");
    assert.deepEqual(
      [saved?.tool, saved?.reach, saved?.client?.name],
      ["saved:twice", ["s:get"], "anonymous"],
    );
    assert.equal(saved?.byCall, intents.find(({ tool }) => tool === "toolcrib:save_tool")?.callId);
    assert.equal(dataOf(records, "tool.deleted")[0]?.codeDigest, saved?.codeDigest);
  });

  it("waits for a server that is not connected yet, and reports this", async () => {
    let names = ["get"];
    await using server = await startScriptedServer({
      tools: () => names.map((name) => toolNamed(name)),
      call: () => ({ content: [], structuredContent: { ok: true } }),
    });
    await using test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
    const client = await test.connect();
    await save(client, "uses", "return s.get().ok");
    names = [];
    server.notify("notifications/tools/list_changed");
    await waitUntil(async () => !(await namesIn(client)).includes("s__get"));
    const answer = await call(client, "uses");
    assert.equal(typeOf(answer), "tool_error", JSON.stringify(answer));
    names = ["get"];
    server.notify("notifications/tools/list_changed");
    await untilListed(test.gateway, "s__get");
    assert.equal((await call(client, "uses"))["result"], true);
  });

  it("runs in a separate process when the configuration requires it", async () => {
    await using server = await startTools("get");
    await using test = await startTestGateway({
      tool_servers: [onHttp("s", server.url)],
      execution: { isolation: "process", maxMemory: "32MB" },
    });
    const client = await test.connect();
    await save(client, "apart", "print('there')\nreturn s.get(n=1).n");
    const { result, logs } = await call(client, "apart");
    assert.deepEqual([result, logs], [1, ["there"]]);
  });

  it("runs in a process that the sandbox of the gateway wraps, as the servers do", async () => {
    const programs: string[] = [];
    await using test = await startTestGateway(
      { tool_servers: [echoStdio("s")], execution: { isolation: "process", maxMemory: "32MB" } },
      {
        wrap(request) {
          programs.push(request.args.map((argument) => basename(argument)).join(" "));
          // A program of its own that becomes the requested one, as a sandbox does.
          return {
            ...request,
            program: "/bin/sh",
            args: ["-c", 'exec "$0" "$@"', request.program, ...request.args],
          };
        },
      },
    );
    const client = await test.connect();
    assert.deepEqual(
      await call(client, "eval_starlark", { code: 's.echo(text="x")\nreturn 1' }).then(
        ({ result }) => result,
      ),
      1,
    );
    const seen = (pattern: RegExp) => programs.filter((program) => pattern.test(program)).length;
    assert.equal(seen(/echo-stdio/), 1, programs.join("\n"));
    assert.ok(seen(/child-process\.[jt]s$/) >= 1, programs.join("\n"));
    assert.equal(programs.length, seen(/echo-stdio|child-process\.[jt]s$/));
  });

  it("is not run if the sandbox cannot wrap its process", async () => {
    let isBroken = false;
    await using test = await startTestGateway(
      { execution: { isolation: "process", maxMemory: "32MB" } },
      {
        wrap(request) {
          if (isBroken) throw new Error("no sandbox");
          return request;
        },
      },
    );
    const client = await test.connect();
    const run = () => call(client, "eval_starlark", { code: "return 1" });
    assert.equal((await run())["result"], 1);
    isBroken = true;
    // The first one uses the process that was started before.
    await run();
    const refused = await run();
    assert.equal(typeOf(refused), "resource_error");
    assert.match(JSON.stringify(refused), /No process could be started: no sandbox/);
    isBroken = false;
    assert.equal((await run())["result"], 1);
  });
});

describe("a saved tool that calls more tools after a change", () => {
  const grown = "s.get()\nreturn s.change()";

  async function startGrown(): Promise<TestGateway & { readonly server: ScriptedServer }> {
    const server = await startTools("get", "change");
    const test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
    const dispose = async () => {
      await test[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    };
    return { ...test, server, [Symbol.asyncDispose]: dispose };
  }

  it("is not callable before the operator approves it, by any route that a client has", async () => {
    await using test = await startGrown();
    const client = await test.connect();
    assert.equal((await save(client, "job", "return s.get()"))["needsApproval"], false);
    assert.equal((await save(client, "job", grown))["needsApproval"], true);
    const check = async () => {
      for (const name of ["job", "saved__job"]) {
        const answer = await call(client, name);
        assert.equal(typeOf(answer), "policy_error", JSON.stringify(answer));
        assert.match(JSON.stringify(answer), /s:change.*toolcrib saved approve job/);
      }
      const inner = await call(client, "eval_starlark", { code: "return saved.job()" });
      assert.equal(typeOf(inner), "policy_error");
    };
    await check();
    // A client cannot avoid the approval by saving the tool again, or by deleting it first.
    assert.equal((await save(client, "job", grown))["needsApproval"], true);
    await call(client, "delete_saved_tool", { name: "job" });
    assert.equal((await save(client, "job", grown))["needsApproval"], true);
    await check();
    const { tools } = await client.listTools();
    assert.equal(tools.find(({ name }) => name === "job")?._meta?.["toolcrib/needsApproval"], true);
    // A smaller reach needs no approval.
    assert.equal((await save(client, "job", "return 1"))["needsApproval"], false);
    assert.equal((await call(client, "job"))["result"], 1);
    assert.equal(
      (await save(client, "job", 'return tools[params.get("x", "s__get")]()'))["needsApproval"],
      true,
    );
    await test.stop();
    const requested = dataOf(test.audit(), "approval.requested");
    assert.deepEqual(requested[0]?.reach, ["s:change"]);
    assert.deepEqual(requested.at(-1)?.reach, ["*"]);
    assert.equal(dataOf(test.audit(), "approval.granted").length, 0);
  });

  it("keeps its narrower approval when it is deleted, and over two starts of the gateway", async () => {
    await using directory = await makeTemporaryDirectory();
    await using server = await startTools("get", "change");
    const home = directory.join("home");
    const start = () => startTestGateway({ tool_servers: [onHttp("s", server.url)] }, { home });
    {
      await using test = await start();
      const client = await test.connect();
      await save(client, "job", "return s.get()");
      assert.equal((await save(client, "job", grown))["needsApproval"], true);
      await approve(test, "job");
      assert.deepEqual((await call(client, "job"))["result"], { name: "change" });
      // From here on, only the narrower reach is approved.
      assert.equal((await save(client, "job", "return s.get()"))["needsApproval"], false);
      await call(client, "delete_saved_tool", { name: "job" });
    }
    for (let count = 0; count < 2; count += 1) {
      await using test = await start();
      const client = await test.connect();
      assert.ok(!(await namesIn(client)).includes("job"));
      assert.equal((await save(client, "job", grown))["needsApproval"], true);
      assert.equal(typeOf(await call(client, "job")), "policy_error");
      await call(client, "delete_saved_tool", { name: "job" });
    }
    await using test = await start();
    const client = await test.connect();
    assert.equal((await save(client, "job", "return s.get()"))["needsApproval"], false);
    assert.deepEqual((await call(client, "job"))["result"], { name: "get" });
  });

  it("cannot be approved through elicitation, also not by a client that may approve its calls so", async () => {
    await using server = await startTools("get", "change");
    await using test = await startTestGateway(
      {
        tool_servers: [onHttp("s", server.url)],
        policy: { clients: { agent: { allow: ["*"], approvals: { elicitation: true } } } },
      },
      { clients: ["agent", "other"] },
    );
    const asked: string[] = [];
    for (const as of ["agent", "other"]) {
      const client = await test.connect({ as, capabilities: { elicitation: {} } });
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        asked.push(params.message);
        return { action: "accept", content: { approve: true } };
      });
      const name = `job_of_${as}`;
      await save(client, name, "return s.get()");
      assert.equal((await save(client, name, grown))["needsApproval"], true);
      assert.equal(typeOf(await call(client, name)), "policy_error");
      assert.equal(
        typeOf(await call(client, "test_saved_tool", { name, record: true, params: {} })),
        "policy_error",
      );
      await approve(test, name);
      assert.deepEqual((await call(client, name))["result"], { name: "change" });
    }
    assert.deepEqual(asked, []);
  });
});

describe("the core tools", () => {
  it("are listed in every mode where execution is enabled, unless the policy denies them", async () => {
    await using server = await startTools("get");
    const tool_servers = [onHttp("s", server.url)];
    await using search = await startTestGateway({
      tool_servers,
      serve: { mode: "search" },
      execution: { enabled: true },
    });
    const client = await search.connect();
    for (const name of compositeTools) assert.ok((await namesIn(client)).includes(name), name);
    await using without = await startTestGateway({ tool_servers, policy: { deny: ["toolcrib:*_tool"] } });
    const denied = await without.connect();
    const names = await namesIn(denied);
    assert.equal(names.includes("save_tool"), false);
    assert.equal(names.includes("eval_starlark"), true);
    await assert.rejects(save(denied, "x", "return 1"), /Unknown tool/);
    assert.equal(
      without.gateway.listTools(somebody).some(({ id }) => id === "saved:x"),
      false,
    );
  });
});
