/** The tasks extension of 2026-07-28, at both edges, and tasks across eras. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  createTaskSessionFromClient,
  resultFromTaskOutcome,
  toolDeclarationFromMcpTool,
} from "@modelcontextprotocol/ext-tasks/client";
import {
  CallToolResultSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { readToken } from "@toolcrib/auth";
import type { JsonObject } from "@toolcrib/json";
import { loadTasksV1, serveModernTasks, serveV1, waitUntil } from "@toolcrib/testing";
import { callsIn, onHttp, startTestGateway, type TestGateway, textOf } from "./gateway-harness.ts";

const { createTaskProgram, createTasksV1Server } = await loadTasksV1();

const extension = "io.modelcontextprotocol/tasks";
const meta = "io.modelcontextprotocol/";

/** One raw modern request of `as`. */
async function ask(gateway: TestGateway, as: string, method: string, params: JsonObject, hasTasks = true) {
  const capabilities = {
    elicitation: { form: {} },
    ...(hasTasks ? { extensions: { [extension]: {} } } : {}),
  };
  const response = await fetch(await gateway.endpoint(), {
    method: "POST",
    headers: {
      authorization: `Bearer ${readToken(gateway.home, as)}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      "mcp-name": String(params["name"] ?? params["taskId"]),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: {
        ...params,
        _meta: { [`${meta}protocolVersion`]: "2026-07-28", [`${meta}clientCapabilities`]: capabilities },
      },
    }),
  });
  const { result = {}, error = {} } = (await response.json()) as { result?: JsonObject; error?: JsonObject };
  return { status: response.status, result, error };
}

/** Opens a raw change stream of `as`, and collects its messages. */
async function listen(gateway: TestGateway, as: string, taskIds: readonly string[], hasTasks = true) {
  const closing = new AbortController();
  const capabilities = hasTasks ? { extensions: { [extension]: {} } } : {};
  const _meta = { [`${meta}protocolVersion`]: "2026-07-28", [`${meta}clientCapabilities`]: capabilities };
  const response = await fetch(await gateway.endpoint(), {
    method: "POST",
    signal: closing.signal,
    headers: {
      authorization: `Bearer ${readToken(gateway.home, as)}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "subscriptions/listen",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: "s1",
      method: "subscriptions/listen",
      params: { notifications: { taskIds }, _meta },
    }),
  });
  const messages: { method?: string; params?: JsonObject; error?: JsonObject }[] = [];
  const reading = (async () => {
    let text = "";
    for await (const part of response.body ?? []) {
      text += Buffer.from(part).toString();
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("data: {")) messages.push(JSON.parse(line.slice(6)));
    }
    if (text.startsWith("{")) messages.push(JSON.parse(text));
  })().catch(() => {});
  return {
    status: response.status,
    messages,
    reading,
    async [Symbol.asyncDispose]() {
      closing.abort();
      await reading;
    },
  };
}

/** Waits until a task of `as` has a status, and returns it. */
async function untilStatus(
  gateway: TestGateway,
  as: string,
  taskId: string,
  status: string,
): Promise<JsonObject> {
  let task: JsonObject = {};
  await waitUntil(async () => {
    task = (await ask(gateway, as, "tasks/get", { taskId })).result;
    return task["status"] === status;
  });
  return task;
}

const clients = ["ada", "bob"];

describe("a server of 2026-07-28 with the tasks extension", () => {
  test("runs tasks for clients of both eras", async () => {
    await using server = await serveModernTasks();
    await using gateway = await startTestGateway(
      { tool_servers: [onHttp("hi", server.url, { interactive: true })] },
      { clients },
    );
    const call = { name: "hi__greet", arguments: {} };
    // Modern: the server decides, the questions are in the task.
    const { result: handle } = await ask(gateway, "ada", "tools/call", call);
    assert.equal(handle["resultType"], "task");
    const taskId = String(handle["taskId"]);
    assert.match(taskId, /^[A-Za-z0-9_-]{43}$/);
    const asked = await untilStatus(gateway, "ada", taskId, "input_required");
    assert.equal(asked["resultType"], "complete");
    const requests = asked["inputRequests"] as JsonObject;
    const [key = ""] = Object.keys(requests);
    for (const method of ["tasks/get", "tasks/cancel"]) {
      assert.equal((await ask(gateway, "bob", method, { taskId })).error["code"], -32602);
    }
    const refused = await ask(gateway, "ada", "tasks/get", { taskId }, false);
    assert.deepEqual([refused.status, refused.error["code"]], [400, -32021]);
    const inputResponses = { [key]: { action: "accept", content: { name: "Ada" } }, other: {} };
    assert.deepEqual(
      (await ask(gateway, "bob", "tasks/update", { taskId, inputResponses })).error["code"],
      -32602,
    );
    // The answer reaches the server although its connection is lost, and the next one too.
    server.lostUpdates = 2;
    await ask(gateway, "ada", "tasks/update", { taskId, inputResponses });
    const ended = await untilStatus(gateway, "ada", taskId, "completed");
    assert.equal(textOf(ended["result"]), "Hello, Ada!");
    assert.equal(server.seen.filter(({ method }) => method === "tasks/update").length, 3);
    assert.deepEqual(server.seen.find(({ method }) => method === "tasks/update")?.header, "t1");
    // Cancelled, at the server too.
    const other = String((await ask(gateway, "ada", "tools/call", call)).result["taskId"]);
    await ask(gateway, "ada", "tasks/cancel", { taskId: other });
    await untilStatus(gateway, "ada", other, "cancelled");
    await waitUntil(() => server.tasks.get("t2")?.isCancelled === true);
    // Without the extension, the server answers itself.
    assert.equal(textOf((await ask(gateway, "ada", "tools/call", call, false)).result), "Hello!");
    // Legacy: the tool is listed with its support, and the questions are requests.
    const legacy = await gateway.connect({ as: "bob", capabilities: { elicitation: { form: {} } } });
    legacy.setRequestHandler(ElicitRequestSchema, async () => ({
      action: "accept",
      content: { name: "Bob" },
    }));
    const { tools } = await legacy.listTools();
    assert.equal(tools.find(({ name }) => name === "hi__greet")?.execution?.taskSupport, "optional");
    const { task } = await legacy.request(
      { method: "tools/call", params: { ...call, task: {} } },
      CreateTaskResultSchema,
    );
    const result = await legacy.experimental.tasks.getTaskResult(task.taskId, CallToolResultSchema);
    assert.equal(textOf(result), "Hello, Bob!");
    await gateway.stop();
    assert.deepEqual(
      callsIn(gateway.audit()).filter((line) => line.startsWith("hi:")),
      [
        "hi:greet intent, completed ok",
        "hi:greet intent, completed cancelled CALL_CANCELLED",
        "hi:greet intent, completed ok",
        "hi:greet intent, completed ok",
      ],
    );
  });
});

describe("subscriptions/listen", () => {
  test("reports the tasks of its client, as tasks/get returns them", async () => {
    await using server = await serveModernTasks();
    const hi = onHttp("hi", server.url, { interactive: true });
    await using gateway = await startTestGateway({ tool_servers: [hi] }, { clients });
    const call = { name: "hi__greet", arguments: {} };
    const taskId = String((await ask(gateway, "ada", "tools/call", call)).result["taskId"]);
    const { inputRequests } = await untilStatus(gateway, "ada", taskId, "input_required");
    // A client that did not declare the extension gets the error that the extension names.
    await using undeclared = await listen(gateway, "ada", [taskId], false);
    await undeclared.reading;
    const { code, data } = undeclared.messages[0]?.error ?? {};
    assert.deepEqual([undeclared.status, code], [400, -32021]);
    assert.deepEqual((data as JsonObject)["requiredCapabilities"], { extensions: { [extension]: {} } });
    // Tasks of others, and ids that nobody has, are not acknowledged.
    await using other = await listen(gateway, "bob", [taskId]);
    await using own = await listen(gateway, "ada", [taskId, "unknown"]);
    await waitUntil(() => own.messages.length === 1 && other.messages.length === 1);
    const acknowledged = (one: typeof own) => one.messages[0]?.params?.["notifications"];
    assert.deepEqual([acknowledged(own), acknowledged(other)], [{ taskIds: [taskId] }, {}]);
    const [key = ""] = Object.keys(inputRequests as JsonObject);
    const inputResponses = { [key]: { action: "accept", content: { name: "Ada" } } };
    await ask(gateway, "ada", "tasks/update", { taskId, inputResponses });
    await waitUntil(() => own.messages.at(-1)?.params?.["status"] === "completed");
    const { method, params = {} } = own.messages.at(-1) ?? {};
    assert.equal(method, "notifications/tasks");
    assert.equal((params["_meta"] as JsonObject)[`${meta}subscriptionId`], "s1");
    const { _meta: _own, ...notified } = params;
    const { _meta: _got, resultType, ...got } = (await ask(gateway, "ada", "tasks/get", { taskId })).result;
    assert.deepEqual(notified, got);
    assert.equal(resultType, "complete");
    assert.equal(other.messages.length, 1);
  });
});

describe("the client of the extension's project, on SDK v2", () => {
  test("runs tasks of both revisions, resumes one, and answers questions", async () => {
    await using server = await serveModernTasks();
    using program = createTaskProgram();
    await using served = await serveV1(() => createTasksV1Server(program));
    const servers = [
      onHttp("hi", server.url, { interactive: true }),
      onHttp("jobs", served.url, { interactive: true }),
    ];
    await using gateway = await startTestGateway({ tool_servers: servers }, { clients });
    const elicitation = { form: {} };
    const onInputRequest = async () => ({ action: "accept", content: { name: "Ada" } }) as never;
    const textOfOutcome = (outcome: Parameters<typeof resultFromTaskOutcome>[0]) =>
      textOf(resultFromTaskOutcome(outcome));
    for (const era of ["legacy", "modern"] as const) {
      let id = 0;
      const raw = {
        v2RequestFraming: {
          protocolVersion: "2026-07-28",
          clientInfo: { name: "ext", version: "1" },
          clientCapabilities: { elicitation },
        },
        rawDispatch: async (request: unknown) => {
          id += 1;
          const { method, params } = request as { readonly method: string; readonly params: JsonObject };
          const { result, error } = await ask(gateway, "ada", method, params);
          return Object.keys(error).length > 0
            ? ({ kind: "error", error } as never)
            : { kind: "result" as const, result: result as never };
        },
      };
      const open = async () => {
        const client = await gateway.connectModern({
          as: "ada",
          capabilities: { elicitation },
          versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } },
        });
        const { tools } = await client.listTools();
        const declarations = new Map(tools.map((tool) => [tool.name, toolDeclarationFromMcpTool(tool)]));
        const session = createTaskSessionFromClient(client, {
          endpointId: "gateway",
          tools: { currentTool: (name) => declarations.get(name) },
          onInputRequest,
          ...((era === "legacy" ? {} : raw) as typeof raw),
        });
        return { client, session };
      };
      const { session } = await open();
      const run = async (name: string, args: Record<string, never> | { readonly text: string } = {}) => {
        const execution = await session.callTool(name, args, { task: { preference: "require" } });
        assert.equal(execution.kind, "task", `${era} ${name}`);
        const { outcome } = await execution.settle();
        assert.equal(outcome.status, "completed", `${era} ${name}: ${JSON.stringify(outcome)}`);
        return textOfOutcome(outcome);
      };
      assert.equal(await run("jobs__slow", { text: "slept" }), "slept");
      // On 2025-11-25, this client does not wait for questions where servers send them: with tasks/result.
      if (era === "modern") {
        assert.equal(await run("jobs__ask"), "Hello, Ada!");
        assert.equal(await run("hi__greet"), "Hello, Ada!");
      }
      // A task that another client of the same identity continues.
      const execution = await session.callTool("jobs__report", {}, { task: { preference: "require" } });
      assert.ok(execution.kind === "task");
      const reference = execution.serializeReference();
      await execution.handoff(() => {});
      const later = await open();
      const resumed = await later.session.resumeTask(reference);
      await later.client.callTool({ name: "jobs__release", arguments: {} });
      assert.equal(textOfOutcome((await resumed.settle()).outcome), "reported");
      await later.session.close();
      await session.close();
      assert.equal(id > 0, era === "modern");
    }
  });
});

describe("a server of 2025-11-25 for a client of 2026-07-28", () => {
  test("runs tasks with questions, and explains what is missing", async () => {
    using program = createTaskProgram();
    await using served = await serveV1(() => createTasksV1Server(program));
    await using gateway = await startTestGateway({ tool_servers: [onHttp("jobs", served.url)] }, { clients });
    const call = { name: "jobs__ask", arguments: {} };
    const refused = await ask(gateway, "ada", "tools/call", call, false);
    assert.deepEqual([refused.status, refused.error["code"]], [400, -32021]);
    assert.match(JSON.stringify(refused.error), /requiredCapabilities.*io\.modelcontextprotocol\/tasks/);
    const taskId = String((await ask(gateway, "ada", "tools/call", call)).result["taskId"]);
    const { inputRequests } = await untilStatus(gateway, "ada", taskId, "input_required");
    const [[key = "", question] = []] = Object.entries(inputRequests as JsonObject);
    assert.doesNotMatch(JSON.stringify(question), /related-task/);
    const inputResponses = { [key]: { action: "accept", content: { name: "Ada" } } };
    await ask(gateway, "ada", "tasks/update", { taskId, inputResponses });
    const ended = await untilStatus(gateway, "ada", taskId, "completed");
    assert.equal(textOf(ended["result"]), "Hello, Ada!");
    const plain = await ask(gateway, "ada", "tools/call", { name: "jobs__plain", arguments: {} });
    assert.equal(textOf(plain.result), "plain");
  });
});
