/** Tasks through the command line: a gateway that is killed with SIGKILL, and the extension of 2026-07-28 on stdio. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, it } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, CreateTaskResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { type AuditEvents, openAuditReader } from "@toolcrib/store";
import {
  fixtureCommand,
  loadTasksV1,
  makeTemporaryDirectory,
  serveV1,
  tasksModernStdioPath,
  waitUntil,
} from "@toolcrib/testing";
import { commandLine } from "../transcript.ts";
import { type ServedGateway, serveGateway } from "./gateway-process.ts";

const { createTaskProgram, createTasksV1Server } = await loadTasksV1();

async function connect({ baseUrl, token }: ServedGateway): Promise<Client> {
  const client = new Client({ name: "tasks", version: "1" });
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp`), { requestInit: { headers } }),
  );
  return client;
}

describe("a gateway that is killed with SIGKILL while tasks run", () => {
  it("follows them after its start, and completes each call once, with its id", async () => {
    await using folder = await makeTemporaryDirectory();
    const home = join(folder.path, "home");
    const config = join(folder.path, "toolcrib.json");
    using program = createTaskProgram();
    await using served = await serveV1(() => createTasksV1Server(program));
    const transport = { kind: "streamable_http", url: served.url };
    const jobs = { id: "jobs", transport, trust_state: "certified" };
    writeFileSync(config, JSON.stringify({ tool_servers: [jobs] }));
    const start = async () => {
      const gateway = await serveGateway(config, home);
      await waitUntil(async () => (await fetch(`${gateway.baseUrl}/readyz`)).ok);
      return gateway;
    };
    const ids: string[] = [];
    {
      await using gateway = await start();
      const client = await connect(gateway);
      for (const text of ["first", "second"]) {
        const params = { name: "jobs__report", arguments: { text }, task: { ttl: 60_000 } };
        const created = await client.request({ method: "tools/call", params }, CreateTaskResultSchema);
        ids.push(created.task.taskId);
      }
      process.kill(gateway.process.pid, "SIGKILL");
      await client.close().catch(() => {});
    }
    {
      await using gateway = await start();
      const client = await connect(gateway);
      const results = ids.map((id) => client.experimental.tasks.getTaskResult(id, CallToolResultSchema));
      for (const id of ids)
        assert.equal((await client.experimental.tasks.getTask(id)).status, "working", `task ${id}`);
      await client.callTool({ name: "jobs__release", arguments: {} });
      const texts = (await Promise.all(results)).map(({ content }) => (content[0] as { text: string }).text);
      assert.deepEqual(texts, ["first", "second"]);
      await client.close();
    }
    assert.deepEqual(program.ran, ["report", "report", "release"]);
    const steps = new Map<string, string[]>();
    await using reader = await openAuditReader({ home });
    const records = await reader.list({ tool: "jobs:report", limit: 100 });
    for (const { type, data } of records.toReversed()) {
      const { callId, tool, outcome = "" } = data as Partial<AuditEvents["call.completed"]>;
      if (callId === undefined || tool !== "jobs:report") continue;
      steps.set(callId, [...(steps.get(callId) ?? []), `${type} ${outcome}`.trim()]);
    }
    assert.deepEqual([...steps.values()], Array(2).fill(["call.intent", "call.completed ok"]));
  });
});

describe("the tasks extension of 2026-07-28 on stdio", () => {
  it("runs a task of a server on stdio for a client on stdio", async () => {
    await using folder = await makeTemporaryDirectory();
    const config = join(folder.path, "toolcrib.json");
    const transport = { kind: "stdio", ...fixtureCommand(tasksModernStdioPath) };
    const hi = { id: "hi", transport, trust_state: "certified", interactive: true };
    writeFileSync(config, JSON.stringify({ tool_servers: [hi] }));
    const args = [
      ...commandLine,
      "serve",
      "--stdio",
      "--config",
      config,
      "--home",
      join(folder.path, "home"),
    ];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"] });
    const answers = new Map<unknown, { result?: Record<string, unknown>; error?: { code: number } }>();
    const notified: { method?: string; params?: Record<string, unknown> }[] = [];
    createInterface({ input: child.stdout }).on("line", (line) => {
      const message = JSON.parse(line);
      if (message.method === undefined) answers.set(message.id, message);
      else notified.push(message);
    });
    const extensions = { "io.modelcontextprotocol/tasks": {} };
    let lastId = 0;
    const send = (method: string, params: object, declared: object = extensions) => {
      lastId += 1;
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} }, extensions: declared },
      };
      const message = { jsonrpc: "2.0", id: lastId, method, params: { ...params, _meta } };
      child.stdin.write(`${JSON.stringify(message)}\n`);
      return lastId;
    };
    const ask = async (...request: Parameters<typeof send>) => {
      const id = send(...request);
      await waitUntil(() => answers.has(id), { what: `an answer to ${request[0]}` });
      return answers.get(id) ?? assert.fail();
    };
    try {
      const { result: handle = {} } = await ask("tools/call", { name: "hi__greet", arguments: {} });
      assert.equal(handle["resultType"], "task", JSON.stringify(handle));
      const { taskId } = handle;
      const undeclared = { notifications: { taskIds: [taskId] } };
      assert.equal((await ask("subscriptions/listen", undeclared, {})).error?.code, -32021);
      assert.equal((await ask("tasks/get", { taskId }, {})).error?.code, -32021);
      send("subscriptions/listen", { notifications: { taskIds: [taskId] } });
      let task: Record<string, unknown> = {};
      await waitUntil(async () => {
        task = (await ask("tasks/get", { taskId })).result ?? {};
        return task["status"] === "input_required";
      });
      const [key = ""] = Object.keys(task["inputRequests"] as object);
      const inputResponses = { [key]: { action: "accept", content: { name: "Ada" } } };
      await ask("tasks/update", { taskId, inputResponses });
      const isEnd = ({ method, params }: (typeof notified)[number]) =>
        method === "notifications/tasks" && params?.["status"] === "completed";
      await waitUntil(() => notified.some(isEnd), { what: "the notification of the end" });
      assert.match(JSON.stringify(notified.find(isEnd)?.params?.["result"]), /Hello, Ada!/);
    } finally {
      const exited = once(child, "exit");
      child.stdin.end();
      await exited;
    }
  });
});
