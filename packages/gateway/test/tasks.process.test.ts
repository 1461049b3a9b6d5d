/** Tasks of servers of both eras, for clients of both eras. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  CallToolResultSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
  TaskStatusNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "@toolcrib/json";
import {
  fixtureCommand,
  loadTasksV1,
  makeTemporaryDirectory,
  serveV1,
  tasksV1StdioPath,
  waitUntil,
} from "@toolcrib/testing";
import { callsIn, onHttp, readAudit, startTestGateway, textOf } from "./gateway-harness.ts";

const { createTaskProgram, createTasksV1Server } = await loadTasksV1();

/** A legacy client that answers questions. */
const asking = { capabilities: { elicitation: { form: {} } } };

async function endOf(client: Client, name: string, args: JsonObject): Promise<string[]> {
  const steps: string[] = [];
  const stream = client.experimental.tasks.callToolStream({ name, arguments: args }, CallToolResultSchema, {
    task: { ttl: 60_000 },
  });
  for await (const step of stream) {
    if (step.type === "result") steps.push(`result ${textOf(step.result)}`);
    else if (step.type === "error") steps.push(`error ${step.error.message}`);
    else {
      const { status } = step.task;
      if (steps.at(-1) !== status) steps.push(status);
    }
  }
  return steps;
}

for (const transport of ["http", "stdio"] as const) {
  describe(`a server of 2025-11-25 on ${transport}`, () => {
    test("runs tasks for a client of 2025-11-25", async () => {
      using program = createTaskProgram();
      await using served =
        transport === "http" ? await serveV1(() => createTasksV1Server(program)) : undefined;
      const server: JsonObject =
        served === undefined
          ? {
              id: "jobs",
              transport: { kind: "stdio", ...fixtureCommand(tasksV1StdioPath) },
              trust_state: "certified",
              interactive: true,
            }
          : onHttp("jobs", served.url, { interactive: true });
      await using gateway = await startTestGateway({ tool_servers: [server] }, { clients: ["ada", "bob"] });
      const ada = await gateway.connect({ as: "ada", ...asking });
      const bob = await gateway.connect({ as: "bob" });
      const states: string[] = [];
      ada.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => {
        states.push(`${params.status} ${params.statusMessage ?? ""}`.trim());
      });
      ada.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
        const related = params._meta?.["io.modelcontextprotocol/related-task"];
        assert.equal(typeof related?.taskId, "string");
        return { action: "accept", content: { name: "Ada" } };
      });
      assert.deepEqual(ada.getServerCapabilities()?.tasks, {
        list: {},
        cancel: {},
        requests: { tools: { call: {} } },
      });
      const { tools } = await ada.listTools();
      const supports = tools.map(({ name, execution }) => [name, execution?.taskSupport]);
      assert.deepEqual(
        supports.filter(([, support]) => support !== undefined),
        [
          ["jobs__slow", "optional"],
          ["jobs__ask", "required"],
          ["jobs__report", "optional"],
        ],
      );

      const slow = await endOf(ada, "jobs__slow", { ms: 20, text: "slept" });
      assert.deepEqual([slow[0], slow.at(-1)], ["working", "result slept"]);
      const failed = await endOf(ada, "jobs__slow", { ms: 1, fail: true });
      assert.match(String(failed.at(-1)), /^error .*failed/);
      const asked = await endOf(ada, "jobs__ask", {});
      assert.equal(asked.at(-1), "result Hello, Ada!");

      // A task that runs, seen by its owner and by another client.
      const progress: unknown[] = [];
      const created = await ada.request(
        { method: "tools/call", params: { name: "jobs__report", arguments: {}, task: { ttl: 60_000 } } },
        CreateTaskResultSchema,
        { onprogress: (one) => void progress.push(one) },
      );
      const { taskId } = created.task;
      assert.match(taskId, /^[A-Za-z0-9_-]{43}$/);
      await waitUntil(
        async () => (await ada.experimental.tasks.getTask(taskId)).statusMessage === "half way",
      );
      await assert.rejects(bob.experimental.tasks.getTask(taskId), /-32602.*Task not found/);
      await assert.rejects(bob.experimental.tasks.cancelTask(taskId), /-32602/);
      assert.deepEqual((await bob.experimental.tasks.listTasks()).tasks, []);
      assert.equal((await ada.experimental.tasks.listTasks()).tasks.length, 4);
      const waiting = ada.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
      await ada.callTool({ name: "jobs__release", arguments: {} });
      const result = await waiting;
      assert.equal(textOf(result), "reported");
      assert.deepEqual(result._meta?.["io.modelcontextprotocol/related-task"], { taskId });
      await waitUntil(() => states.includes("completed half way"));

      // Cancelled: at the server, too.
      const other = await ada.request(
        { method: "tools/call", params: { name: "jobs__slow", arguments: { ms: 60_000 }, task: {} } },
        CreateTaskResultSchema,
      );
      const cancelled = await ada.experimental.tasks.cancelTask(other.task.taskId);
      assert.equal(cancelled.status, "cancelled");
      await assert.rejects(ada.experimental.tasks.cancelTask(other.task.taskId), /-32602/);
      if (transport === "http") {
        await waitUntil(async () => {
          const { tasks } = await program.store.listTasks();
          return tasks.some(({ status }) => status === "cancelled");
        });
      }

      // Calls that are no tasks.
      const plain = { name: "jobs__plain", arguments: {} };
      assert.equal(textOf(await ada.callTool(plain)), "plain");
      await assert.rejects(
        ada.request({ method: "tools/call", params: { ...plain, task: {} } }, CallToolResultSchema),
        /-32601.*does not run as a task/,
      );
      assert.equal(textOf(await ada.callTool({ name: "jobs__slow", arguments: { ms: 1 } })), "done");
      await gateway.stop();
      const calls = callsIn(gateway.audit());
      assert.deepEqual(
        calls.filter((line) => /slow|ask|report/.test(line)),
        [
          "jobs:slow intent, completed ok",
          "jobs:slow intent, completed tool_error",
          "jobs:ask intent, completed ok",
          "jobs:report intent, completed ok",
          "jobs:slow intent, completed cancelled CALL_CANCELLED",
          "jobs:slow intent, completed ok",
        ],
      );
    });
  });
}

test("the text of a server about its task brings its labels, without hidden characters", async () => {
  using program = createTaskProgram("half\u200b way");
  await using served = await serveV1(() => createTasksV1Server(program));
  const declaration = { data_labels: ["personal"], trust_state: "unverified", first_contact: "pin" };
  const server = onHttp("jobs", served.url, declaration);
  const policy = { waive_approval: ["jobs:*"] };
  await using gateway = await startTestGateway({ tool_servers: [server], policy }, { clients: ["ada"] });
  const ada = await gateway.connect({ as: "ada" });
  const params = { name: "jobs__report", arguments: {}, task: {} };
  const { task } = await ada.request({ method: "tools/call", params }, CreateTaskResultSchema);
  await waitUntil(async () => {
    const { statusMessage } = await ada.experimental.tasks.getTask(task.taskId);
    return statusMessage === "half way";
  });
  // The task goes on, and its client has read what is labelled.
  const path = join(gateway.home, "seen-labels.json");
  await waitUntil(() => existsSync(path) && /personal/.test(readFileSync(path, "utf8")));
  for (const release of program.waiting) release();
});

describe("a restart of the gateway", () => {
  test("goes on with the tasks of servers, and records their ends once", async () => {
    using program = createTaskProgram();
    await using served = await serveV1(() => createTasksV1Server(program));
    await using folder = await makeTemporaryDirectory();
    const home = join(folder.path, "home");
    const document = { tool_servers: [onHttp("jobs", served.url)] };
    const start = () => startTestGateway(document, { clients: ["ada", "bob"], home });
    let taskId = "";
    let ended = "";
    {
      await using gateway = await start();
      const ada = await gateway.connect({ as: "ada" });
      const request = (name: string, args: JsonObject) =>
        ada.request(
          { method: "tools/call", params: { name, arguments: args, task: { ttl: 60_000 } } },
          CreateTaskResultSchema,
        );
      ({ taskId } = (await request("jobs__report", {})).task);
      ended = (await request("jobs__slow", { ms: 1, text: "before" })).task.taskId;
      await waitUntil(async () => (await ada.experimental.tasks.getTask(ended)).status === "completed");
    }
    const files = readdirSync(join(home, "tasks", "001"));
    assert.deepEqual(files.toSorted(), [`${taskId}.json`, `${ended}.json`].toSorted());
    for (const name of files) assert.equal(statSync(join(home, "tasks", "001", name)).mode & 0o777, 0o600);
    const before = callsIn(readAudit(home)).filter((line) => line.startsWith("jobs:"));
    assert.deepEqual(before, ["jobs:report intent", "jobs:slow intent, completed ok"]);
    {
      await using gateway = await start();
      const ada = await gateway.connect({ as: "ada" });
      const bob = await gateway.connect({ as: "bob" });
      const state = await ada.experimental.tasks.getTask(taskId);
      assert.equal(state.status, "working", String(state.statusMessage));
      assert.equal(textOf(await ada.experimental.tasks.getTaskResult(ended, CallToolResultSchema)), "before");
      await assert.rejects(bob.experimental.tasks.getTaskResult(taskId, CallToolResultSchema), /-32602/);
      const result = ada.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
      await ada.callTool({ name: "jobs__release", arguments: {} });
      assert.equal(textOf(await result), "reported");
    }
    const after = callsIn(readAudit(home)).filter((line) => line.startsWith("jobs:"));
    assert.deepEqual(after, [
      "jobs:report intent, completed ok",
      "jobs:slow intent, completed ok",
      "jobs:release intent, completed ok",
    ]);
    assert.deepEqual(program.ran, ["report", "slow", "release"]);
  });

  test("shows a client nothing of tasks whose tools it may not use any more", async () => {
    using program = createTaskProgram();
    await using served = await serveV1(() => createTasksV1Server(program));
    await using folder = await makeTemporaryDirectory();
    const home = join(folder.path, "home");
    const document = { tool_servers: [onHttp("jobs", served.url)], profiles: { other: { tools: ["x:*"] } } };
    const start = (policy: JsonObject) =>
      startTestGateway({ ...document, policy }, { clients: ["ada", "bob"], home });
    const ids: string[] = [];
    const assertHidden = async (ada: Client) => {
      const { experimental } = ada;
      assert.deepEqual((await experimental.tasks.listTasks()).tasks, []);
      for (const id of ids) {
        await assert.rejects(experimental.tasks.getTask(id), /-32602.*Task not found/);
        await assert.rejects(experimental.tasks.getTaskResult(id, CallToolResultSchema), /-32602/);
        await assert.rejects(experimental.tasks.cancelTask(id), /-32602/);
      }
    };
    {
      await using gateway = await start({});
      const ada = await gateway.connect({ as: "ada" });
      for (const [name, args] of [
        ["jobs__slow", { ms: 1, text: "rows" }],
        ["jobs__report", {}],
      ] as const) {
        const params = { name, arguments: args, task: { ttl: 60_000 } };
        const { task } = await ada.request({ method: "tools/call", params }, CreateTaskResultSchema);
        ids.push(task.taskId);
      }
      const [ended = ""] = ids;
      await waitUntil(async () => (await ada.experimental.tasks.getTask(ended)).status === "completed");
      await assertHidden(await gateway.connect({ as: "ada", profile: "other" }));
      assert.equal(textOf(await ada.experimental.tasks.getTaskResult(ended, CallToolResultSchema)), "rows");
    }
    for (const rule of [{ deny: ["jobs:*"] }, { profile: "other" }]) {
      await using gateway = await start({ clients: { ada: rule } });
      await assertHidden(await gateway.connect({ as: "ada" }));
    }
    // Files that somebody changed are no tasks, and spoil no list.
    const place = join(home, "tasks", "001");
    const stored = JSON.parse(readFileSync(join(place, `${ids[0]}.json`), "utf8")) as JsonObject;
    for (const [at, change] of [{ createdAt: 9e15 }, { outcome: {} }, { call: { subject: {} } }].entries()) {
      const id = String(at).repeat(43);
      writeFileSync(join(place, `${id}.json`), JSON.stringify({ ...stored, id, ...change }));
    }
    await using gateway = await start({});
    const { tasks } = (await gateway.connect({ as: "ada" })).experimental;
    assert.equal((await tasks.listTasks()).tasks.length, 2);
    for (const release of program.waiting) release();
  });
});
