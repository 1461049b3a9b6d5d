/** The tasks extension of 2026-07-28, at both edges, and tasks across eras. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import {
  CallToolResultSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { readToken } from "@toolcrib/auth";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { createTaskProgram, createTasksV1Server, serveV1, waitUntil } from "@toolcrib/testing";
import { callsIn, onHttp, startTestGateway, type TestGateway, textOf } from "./gateway-harness.ts";

const extension = "io.modelcontextprotocol/tasks";
const meta = "io.modelcontextprotocol/";

/** A server of 2026-07-28 that runs its tool `greet` as a task where the client takes one, and asks for a name. */
async function startModernTasks() {
  const tasks = new Map<string, { name?: string; isCancelled?: boolean }>();
  const seen: { method: string; header: string | undefined; capabilities: JsonObject }[] = [];
  const connections = { lostUpdates: 0 };
  const state = (taskId: string, status: string) => ({
    taskId,
    status,
    createdAt: "2026-01-01T00:00:00Z",
    lastUpdatedAt: "2026-01-01T00:00:00Z",
    ttlMs: null,
    pollIntervalMs: 100,
  });
  const question = {
    method: "elicitation/create",
    params: {
      message: "Your name?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } } },
    },
  };
  const answer = (method: string, params: JsonObject): JsonObject => {
    const capabilities = (params["_meta"] as JsonObject)[`${meta}clientCapabilities`] as JsonObject;
    const { extensions } = capabilities;
    const takesTasks = isJsonObject(extensions) && extensions[extension] !== undefined;
    const id = String(params["taskId"]);
    const task = tasks.get(id);
    if (method === "server/discover")
      return {
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {}, extensions: { [extension]: {} } },
      };
    if (method === "tools/list")
      return { tools: [{ name: "greet", inputSchema: { type: "object" } }], ttlMs: 0, cacheScope: "private" };
    if (method === "tools/call") {
      if (!takesTasks) return { content: [{ type: "text", text: "Hello!" }] };
      const taskId = `t${tasks.size + 1}`;
      tasks.set(taskId, {});
      return { resultType: "task", ...state(taskId, "working") };
    }
    if (task === undefined) throw new Error("Task not found");
    if (method === "tasks/get") {
      if (task.isCancelled === true) return state(id, "cancelled");
      if (task.name === undefined)
        return { ...state(id, "input_required"), inputRequests: { who: question } } as never;
      return {
        ...state(id, "completed"),
        result: { content: [{ type: "text", text: `Hello, ${task.name}!` }] },
      };
    }
    if (method === "tasks/update") {
      const { who } = params["inputResponses"] as {
        readonly who: { readonly content: { readonly name: string } };
      };
      task.name = who.content.name;
    } else task.isCancelled = true;
    return {};
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const {
        id,
        method,
        params = {},
      } = JSON.parse(Buffer.concat(chunks).toString() || "{}") as {
        readonly id?: number;
        readonly method?: string;
        readonly params?: JsonObject;
      };
      const version = isJsonObject(params["_meta"]) ? params["_meta"][`${meta}protocolVersion`] : undefined;
      response.setHeader("content-type", "application/json");
      const refuse = (code: number, message: string, status: number) =>
        response
          .writeHead(status)
          .end(JSON.stringify({ jsonrpc: "2.0", id: id ?? null, error: { code, message } }));
      if (version !== "2026-07-28" || method === undefined)
        return refuse(-32022, "Unsupported protocol version", 400);
      seen.push({
        method,
        header: request.headers["mcp-name"] as string | undefined,
        capabilities: (params["_meta"] as JsonObject)[`${meta}clientCapabilities`] as JsonObject,
      });
      if (method === "tasks/update" && connections.lostUpdates > 0) {
        connections.lostUpdates -= 1;
        response.destroy();
        return;
      }
      try {
        const result = { resultType: "complete", ...answer(method, params) };
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      } catch (error) {
        refuse(-32602, (error as Error).message, 200);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    tasks,
    connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

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
    await using server = await startModernTasks();
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
    server.connections.lostUpdates = 2;
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
