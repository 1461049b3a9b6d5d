/** A saved tool gives nobody more permissions than its owner has, until the operator approves it. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "@toolcrib/json";
import { makeTemporaryDirectory, slowTest, waitUntil } from "@toolcrib/testing";
import {
  approve,
  dataOf,
  onHttp,
  somebody,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  toolNamed,
} from "./gateway-harness.ts";

type Caller = Pick<Client, "callTool">;

/** Calls a tool and returns its structured result. */
async function call(client: Caller, name: string, given: object = {}): Promise<JsonObject> {
  const result = await client.callTool({ name, arguments: { ...given } });
  return (result.structuredContent ?? { isError: result.isError, content: result.content }) as JsonObject;
}

const save = (client: Caller, name: string, code: string, more: object = {}) =>
  call(client, "save_tool", { name, description: "Helps.", inputSchema: {}, code, ...more });

function errorOf(answer: JsonObject): JsonObject {
  return (answer["error"] ?? {}) as JsonObject;
}

const typeOf = (answer: JsonObject) => errorOf(answer)["type"];

/** Returns the codes of the problems of a refused save. */
function codesOf(answer: JsonObject): readonly unknown[] {
  const { problems } = errorOf(answer)["details"] as { readonly problems: readonly JsonObject[] };
  return problems.map(({ code }) => code);
}

/** Calls a tool as the operator. */
async function byOperator({ gateway }: TestGateway, name: string, given: object = {}): Promise<JsonObject> {
  const outcome = await gateway.call(somebody, name, { ...given });
  if (outcome.kind !== "result") return { kind: outcome.kind };
  return outcome.result.structuredContent as JsonObject;
}

const operatorSaves = (test: TestGateway, name: string, code: string) =>
  byOperator(test, "save_tool", { name, description: "Helps.", inputSchema: {}, code });

/** A gateway with a server, a client that may not delete on it, and a client that may. */
interface Setting extends TestGateway {
  /** The tools of the server that were called, in order. */
  readonly calls: string[];
  readonly restricted: Client;
  readonly privileged: Client;
}

async function start(): Promise<Setting> {
  const calls: string[] = [];
  const server = await startScriptedServer({
    tools: () => [toolNamed("get"), toolNamed("put"), toolNamed("delete")],
    call(_request, name) {
      calls.push(name);
      return { content: [], structuredContent: { name } };
    },
  });
  const test = await startTestGateway(
    {
      tool_servers: [onHttp("s", server.url)],
      policy: {
        clients: { restricted: { deny: ["s:delete"] }, other: { deny: ["s:put"] } },
      },
    },
    { clients: ["restricted", "privileged", "other"] },
  );
  return {
    ...test,
    calls,
    restricted: await test.connect({ as: "restricted" }),
    privileged: await test.connect({ as: "privileged" }),
    async [Symbol.asyncDispose]() {
      await test[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A program that deletes by a name that no analysis finds. */
const hidden = 'return tools["s__" + "del" + "ete"]().name';

async function assertUnknown(client: Client, name: string): Promise<void> {
  for (const spelling of [name, `saved__${name}`, `saved:${name}`]) {
    await assert.rejects(call(client, spelling), {
      message: `MCP error -32602: Unknown tool: "${spelling}" (see tools/list, or search_tools)`,
    });
    await assert.rejects(call(client, spelling, { dry_run: true }), /Unknown tool/);
    await assert.rejects(
      client.callTool({ name: spelling, arguments: [] as never }),
      /Unknown tool|arguments/,
    );
    const forwarded = await client.callTool({ name: "call_tool", arguments: { name: spelling } });
    assert.match(JSON.stringify(forwarded), /Unknown tool/);
  }
  const { tools } = await client.listTools();
  assert.ok(!tools.some((tool) => tool.name === name));
  assert.deepEqual((await call(client, "search_tools", { query: name }))["tools"], []);
  assert.match(JSON.stringify(await call(client, "describe_tool", { name })), /Unknown tool/);
  assert.deepEqual((await call(client, "list_saved_tools"))["tools"], []);
  for (const core of ["show_saved_tool", "delete_saved_tool", "test_saved_tool"]) {
    const error = errorOf(await call(client, core, { name }));
    assert.equal(error["message"], `No saved tool is named "${name}"`);
  }
  for (const code of [`return saved.${name}()`, `return tools["${name}"]()`, `return ${name}()`]) {
    assert.equal(typeOf(await call(client, "eval_starlark", { code })), "validation_error", code);
  }
  const chosen = `return tools[str("${name}")]()`;
  assert.equal(typeOf(await call(client, "eval_starlark", { code: chosen })), "runtime_error");
  assert.ok(!JSON.stringify(await call(client, "describe_language")).includes(name));
}

describe("a saved tool that the operator did not approve", () => {
  it("cannot be planted by a restricted client for a more privileged one", async () => {
    await using test = await start();
    const { restricted, privileged, calls } = test;
    const saved = await save(restricted, "helper", hidden);
    assert.deepEqual([saved["status"], saved["permissions"]], ["created", "caller and owner"]);
    assert.equal(typeOf(await call(restricted, "helper")), "runtime_error");

    await assertUnknown(privileged, "helper");
    assert.deepEqual(calls, []);

    // The operator knows the tool. It runs with the permissions that its owner has, too.
    assert.equal(typeOf(await byOperator(test, "helper")), "runtime_error");
    assert.deepEqual(calls, []);
  });

  it("runs with the permissions of the owners of all tools around an inner call", slowTest, async () => {
    await using test = await start();
    const { restricted, privileged, calls } = test;
    await save(restricted, "helper", hidden);
    await save(restricted, "names", "return sorted([name for name in tools if name.startswith('s__')])");
    await save(restricted, "gets", "return s.get().name");
    await save(restricted, "chosen", 'return tools[params.get("name", "s__get")]().name');
    // The tools of the operator are for everyone. They name tools that only their owner lists.
    await operatorSaves(test, "outer", "return saved.helper()");
    await operatorSaves(test, "outmost", "return saved.outer()");
    await operatorSaves(test, "lists", "return saved.names()");
    await operatorSaves(test, "reads", "return saved.gets()");
    await operatorSaves(test, "deletes", "return s.delete().name");
    for (const name of ["outer", "outmost"]) {
      assert.equal(typeOf(await call(privileged, name)), "tool_error", name);
      assert.equal(typeOf(await byOperator(test, name)), "tool_error", name);
    }
    assert.deepEqual((await call(privileged, "lists"))["result"], ["s__get", "s__put"]);
    assert.deepEqual(calls, []);
    // What both may use can be used.
    assert.equal((await call(privileged, "reads"))["result"], "get");
    // The permissions of the owner also apply to the tools that approved tools within it call.
    await save(restricted, "around", "return saved.deletes()");
    await operatorSaves(test, "outside", "return saved.around()");
    assert.equal((await call(privileged, "deletes"))["result"], "delete");
    for (const run of [() => call(privileged, "outside"), () => byOperator(test, "outside")]) {
      assert.equal(typeOf(await run()), "policy_error");
    }
    assert.deepEqual(calls, ["get", "delete"]);

    await test.stop();
    const denied = dataOf(test.audit(), "call.denied").filter(({ owners }) => owners !== undefined);
    assert.deepEqual(
      denied.map(({ client, owners, tool }) => [client.name, owners?.map(({ name }) => name), tool]),
      [
        ["privileged", ["restricted"], "s:delete"],
        ["somebody", ["restricted"], "s:delete"],
      ],
    );
    assert.match(String(denied[0]?.rule), /policy\.clients\.restricted\.deny/);
  });

  it("adds the owners of nested tools up", slowTest, async () => {
    await using test = await start();
    const { restricted, privileged, calls } = test;
    const other = await test.connect({ as: "other" });
    const all =
      "found = []\nfor name in ['get', 'put', 'delete']:\n    if 's__' + name in tools:\n        found.append(tools['s__' + name]().name)\nreturn found";
    await save(restricted, "inner", all);
    assert.deepEqual((await call(restricted, "inner"))["result"], ["get", "put"]);
    await approve(test, "inner");
    assert.deepEqual((await call(other, "inner"))["result"], ["get", "delete"]);
    await save(other, "middle", "return saved.inner()");
    await operatorSaves(test, "outer", "return saved.middle()");
    assert.deepEqual((await call(privileged, "outer"))["result"], ["get", "delete"]);
    // From here on, it lacks the approval. The approval of a tool that calls it does not stand in.
    await save(restricted, "inner", `${all}\n`);
    assert.deepEqual((await call(privileged, "outer"))["result"], ["get"]);
    await approve(test, "middle");
    assert.deepEqual((await call(privileged, "outer"))["result"], ["get", "put"]);
    await approve(test, "inner");
    assert.deepEqual((await call(privileged, "outer"))["result"], ["get", "put", "delete"]);
    assert.equal(calls.length, 12);
  });
});

describe("the approval of a saved tool by the operator", () => {
  it("gives it the permissions of its caller alone, and shows it to all clients", async () => {
    await using test = await start();
    const { restricted, privileged } = test;
    await save(restricted, "helper", hidden);
    await approve(test, "helper");
    assert.equal((await call(privileged, "helper"))["result"], "delete");
    assert.equal(typeOf(await call(restricted, "helper")), "runtime_error");
    const shown = await call(privileged, "show_saved_tool", { name: "helper" });
    assert.deepEqual([shown["code"], shown["permissions"]], [hidden, "caller"]);
    const { tools } = await privileged.listTools();
    assert.ok(tools.some(({ name }) => name === "helper"));
  });

  it("shows neither its code nor its reach to clients that do not see its tools", async () => {
    await using test = await start();
    const { restricted, privileged } = test;
    const other = await test.connect({ as: "other" });
    const saved = await save(privileged, "cleanup", "s.get()\nreturn s.delete()");
    assert.deepEqual(saved["error"], undefined, JSON.stringify(saved));
    await approve(test, "cleanup");
    const parts = async (client: Client) => {
      const { code, reach } = await call(client, "show_saved_tool", { name: "cleanup" });
      return [code, reach];
    };
    const whole = ["s.get()\nreturn s.delete()", ["s:delete", "s:get"]];
    assert.deepEqual(await parts(privileged), whole);
    await waitUntil(async () => (await parts(other))[0] !== undefined, { what: "the approval is known" });
    assert.deepEqual(await parts(other), whole);
    const [code, reach] = await parts(restricted);
    assert.match(String(code), /^# not shown/);
    assert.deepEqual(reach, ["s:get"]);
  });

  it("ends with the next save, whatever it changes", slowTest, async () => {
    await using test = await start();
    const { restricted, privileged, calls } = test;
    const definition = { description: "Helps.", inputSchema: {} };
    const changes: readonly (readonly [string, object])[] = [
      [`${hidden} + ""`, {}],
      [hidden, { description: "Helps more." }],
      [hidden, { inputSchema: { type: "object", properties: { a: { type: "string" } } } }],
      [hidden, {}],
    ];
    for (const [code, more] of changes) {
      await save(restricted, "helper", hidden, definition);
      await approve(test, "helper");
      assert.equal((await call(privileged, "helper"))["result"], "delete");
      const saved = await save(restricted, "helper", code, { ...definition, ...more });
      assert.deepEqual([saved["status"], saved["permissions"]], ["updated", "caller and owner"]);
      await assertUnknown(privileged, "helper");
      assert.equal(typeOf(await byOperator(test, "helper")), "runtime_error");
    }
    assert.equal(calls.length, changes.length);
  });

  it("does not cover a file that was changed after it", slowTest, async () => {
    await using test = await start();
    const { restricted, privileged } = test;
    await save(restricted, "helper", hidden);
    await approve(test, "helper");
    const path = join(test.home, "tools", "helper.json");
    const text = readFileSync(path, "utf8");
    const listed = async () => (await privileged.listTools()).tools.some(({ name }) => name === "helper");
    await waitUntil(listed);
    writeFileSync(path, text.replace("Helps.", "Helps everyone."));
    await waitUntil(async () => !(await listed()));
    await assertUnknown(privileged, "helper");
    writeFileSync(path, text);
    await waitUntil(listed);
  });

  it("is not given by the human at a client, and neither is that of a wider reach", async () => {
    await using test = await start();
    const human = await test.connect({ as: "restricted", capabilities: { elicitation: {} } });
    let asked = 0;
    human.setRequestHandler(ElicitRequestSchema, () => {
      asked += 1;
      return { action: "accept", content: { approve: true } };
    });
    await save(human, "job", "return s.get().name");
    const grown = await save(human, "job", "s.get()\nreturn s.put().name");
    assert.deepEqual([grown["needsApproval"], grown["permissions"]], [true, "caller and owner"]);
    assert.equal(typeOf(await call(human, "job")), "policy_error");
    await assertUnknown(test.privileged, "job");
    assert.equal((await save(human, "job", hidden))["needsApproval"], true);
    assert.equal(typeOf(await call(human, "job")), "policy_error");
    assert.equal(asked, 0);
  });
});

describe("the saved tool of another client", () => {
  it("cannot be replaced, tested with new cases, or deleted, except by the operator", async () => {
    await using test = await start();
    const { restricted, privileged } = test;
    await save(restricted, "helper", "return s.get().name");

    // Before the approval, a client learns nothing else than that the name is taken.
    const refused = await save(privileged, "helper", "return s.delete()");
    assert.deepEqual(codesOf(refused), ["METATOOL_NOT_OWNER"]);
    assert.ok(!JSON.stringify(refused).includes("restricted"));
    const confusable = await save(privileged, "He1per", "return s.delete()");
    assert.deepEqual(codesOf(confusable), ["METATOOL_NAME_TAKEN"]);
    assert.ok(!JSON.stringify(confusable).includes("helper"));
    await assertUnknown(privileged, "helper");

    await approve(test, "helper");
    assert.equal((await call(privileged, "helper"))["result"], "get");
    assert.deepEqual(codesOf(await save(privileged, "helper", "return 1")), ["METATOOL_NOT_OWNER"]);
    const changes: readonly (readonly [string, object])[] = [
      ["delete_saved_tool", {}],
      ["test_saved_tool", { record: true }],
      ["test_saved_tool", { cases: [] }],
    ];
    for (const [core, more] of changes) {
      const error = errorOf(await call(privileged, core, { name: "helper", ...more }));
      assert.equal(error["type"], "policy_error");
      assert.equal((error["details"] as JsonObject)["code"], "METATOOL_NOT_OWNER");
    }
    assert.equal((await call(privileged, "test_saved_tool", { name: "helper" }))["failed"], 0);
    assert.equal((await call(privileged, "helper"))["result"], "get");

    assert.equal((await operatorSaves(test, "helper", "return s.put().name"))["status"], "updated");
    assert.equal((await byOperator(test, "helper"))["kind"], undefined);
    assert.deepEqual(codesOf(await save(restricted, "helper", "return 1")), ["METATOOL_NOT_OWNER"]);
    const kept = await call(restricted, "delete_saved_tool", { name: "helper" });
    assert.equal(typeOf(kept), "policy_error");
    assert.equal((await byOperator(test, "delete_saved_tool", { name: "helper" }))["deleted"], true);
    assert.equal((await save(restricted, "helper", "return 1"))["status"], "created");
    assert.equal((await call(restricted, "delete_saved_tool", { name: "helper" }))["deleted"], true);
  });

  it("is one of the operator if its file names no owner", async () => {
    await using test = await start();
    const { restricted, privileged, calls } = test;
    const times = { created: "2026-01-01T00:00:00.000Z", modified: "2026-01-01T00:00:00.000Z" };
    const metadata = { ...times, executionCount: 0 };
    const tool = {
      version: "1.0",
      name: "old",
      description: "Old.",
      inputSchema: {},
      code: hidden,
      metadata,
    };
    writeFileSync(join(test.home, "tools", "old.json"), JSON.stringify(tool));
    await waitUntil(() => test.gateway.listTools(somebody).some(({ id }) => id === "saved:old"));
    assert.equal((await call(privileged, "old"))["result"], "delete");
    assert.equal(typeOf(await call(restricted, "old")), "runtime_error");
    for (const client of [restricted, privileged]) {
      assert.deepEqual(codesOf(await save(client, "old", "return 1")), ["METATOOL_NOT_OWNER"]);
      assert.equal(typeOf(await call(client, "delete_saved_tool", { name: "old" })), "policy_error");
    }
    assert.deepEqual(calls, ["delete"]);
  });

  it("is the tool of one client if two save it at the same time in two gateways of a home", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = directory.join("home");
    await using one = await startTestGateway({}, { home, clients: ["one"] });
    await using two = await startTestGateway({}, { home, clients: ["two"] });
    const clients = [await one.connect({ as: "one" }), await two.connect({ as: "two" })];
    for (let count = 0; count < 5; count += 1) {
      const name = `tool_${count}`;
      const answers = await Promise.all(clients.map((client, at) => save(client, name, `return ${at}`)));
      const winner = answers.findIndex((answer) => answer["status"] === "created");
      const lost = answers[1 - winner] as JsonObject;
      const [code] = codesOf(lost);
      assert.ok(code === "METATOOL_CHANGED_MEANWHILE" || code === "METATOOL_NOT_OWNER", JSON.stringify(lost));
      assert.match(JSON.stringify(lost), /try again|save again|use another name/);
      assert.equal((await call(clients[winner] as Client, name))["result"], winner);
      assert.deepEqual(codesOf(await save(clients[1 - winner] as Client, name, "return 2")), [
        "METATOOL_NOT_OWNER",
      ]);
    }
  });

  it("does not come from a field of a request", async () => {
    await using test = await start();
    const owner = { issuer: "toolcrib:cli", subject: "cli", name: "cli" };
    for (const more of [{ owner }, { toolcrib: { owner } }, { metadata: { owner } }]) {
      assert.deepEqual(codesOf(await save(test.restricted, "helper", hidden, more)), [
        "METATOOL_FIELD_INVALID",
      ]);
    }
  });
});
