/**
 * A server with tasks of revision 2025-11-25, on the first generation of the SDK. Its tasks belong to the program and not
 * to a session, so that they survive the connection.
 *
 *     slow    (optional) answers after `ms`, with `text`; `fail` makes it a failed tool
 *     ask     (required) asks its client for a name, and greets it
 *     report  (optional) reports progress and a status message, then waits for `release`, and answers with `text`
 *     plain   (forbidden) answers at once
 *     release ends every `report`
 */

import {
  InMemoryTaskMessageQueue,
  InMemoryTaskStore,
} from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ElicitResultSchema,
  ListToolsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";

/** The state of the program that its sessions share. */
export interface TaskProgram {
  readonly store: InMemoryTaskStore;
  readonly queue: InMemoryTaskMessageQueue;
  readonly waiting: Set<() => void>;
  /** The text of `report` about its state. */
  readonly status: string;
  /** Names of tools whose work ran, in order. */
  readonly ran: string[];
}

/** The store of the SDK, whose tasks otherwise end with the session that created them. */
class SharedTaskStore extends InMemoryTaskStore {
  override createTask(...[options, id, request]: Parameters<InMemoryTaskStore["createTask"]>) {
    return super.createTask(options, id, request);
  }

  override getTask(id: string) {
    return super.getTask(id);
  }

  override storeTaskResult(...[id, status, result]: Parameters<InMemoryTaskStore["storeTaskResult"]>) {
    return super.storeTaskResult(id, status, result);
  }

  override getTaskResult(id: string) {
    return super.getTaskResult(id);
  }

  override updateTaskStatus(...[id, status, message]: Parameters<InMemoryTaskStore["updateTaskStatus"]>) {
    return super.updateTaskStatus(id, status, message);
  }
}

/** Creates the state. Disposing of it ends its timers. */
export function createTaskProgram(status = "half way"): TaskProgram & Disposable {
  const store = new SharedTaskStore();
  return {
    store,
    queue: new InMemoryTaskMessageQueue(),
    waiting: new Set(),
    status,
    ran: [],
    [Symbol.dispose]: () => store.cleanup(),
  };
}

const pollInterval = 100;
const object = (properties: object) => ({ type: "object" as const, properties });
const tools = [
  {
    name: "slow",
    inputSchema: object({ ms: { type: "number" }, text: { type: "string" }, fail: { type: "boolean" } }),
    execution: { taskSupport: "optional" as const },
  },
  { name: "ask", inputSchema: object({}), execution: { taskSupport: "required" as const } },
  {
    name: "report",
    inputSchema: object({ text: { type: "string" } }),
    execution: { taskSupport: "optional" as const },
  },
  { name: "plain", inputSchema: object({}) },
  { name: "release", inputSchema: object({}) },
];

const text = (value: string, isError = false): CallToolResult => ({
  content: [{ type: "text", text: value }],
  ...(isError ? { isError } : {}),
});

/** Creates the server of one session. */
export function createTasksV1Server(program: TaskProgram): Server {
  const { store: taskStore, queue: taskMessageQueue, waiting, ran } = program;
  const server = new Server(
    { name: "tasks-v1", version: "1.0.0" },
    {
      capabilities: {
        tools: {},
        tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
        extensions: { "example.com/clock": { zones: ["UTC"] } },
        experimental: { trial: { level: 1 } },
      },
      taskStore,
      taskMessageQueue,
    },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const { name, arguments: args = {} } = params;
    ran.push(name);
    if (name === "release") {
      for (const release of waiting) release();
      return text(`released ${waiting.size}`);
    }
    if (params.task === undefined || extra.taskStore === undefined) {
      if (name === "ask") throw new Error("This tool runs only as a task");
      return name === "plain" ? text("plain") : await work(name, args);
    }
    const { ttl = null } = params.task;
    const task = await extra.taskStore.createTask({ ttl, pollInterval });
    const { taskId } = task;
    const store = extra.taskStore;
    const end = async () => {
      if (name === "report") await store.updateTaskStatus(taskId, "working", program.status);
      if (name !== "ask") return await work(name, args);
      const schema = object({ name: { type: "string" } });
      const params = { message: "Your name?", requestedSchema: schema as never };
      // The SDK passes all options of requests on; its type names those of tasks only.
      const related: object = { relatedTask: { taskId } };
      const asked = extra.sendRequest({ method: "elicitation/create", params }, ElicitResultSchema, related);
      const { content, action } = await asked;
      await store.updateTaskStatus(taskId, "working");
      return text(action === "accept" ? `Hello, ${String(content?.["name"])}!` : `It was ${action}.`);
    };
    end()
      .then(
        (result) => store.storeTaskResult(taskId, result.isError === true ? "failed" : "completed", result),
        (error: unknown) => store.storeTaskResult(taskId, "failed", text(String(error), true)),
      )
      .catch(() => {});
    return { task };
  });
  const work = async (name: string, args: { readonly [name: string]: unknown }) => {
    if (name === "report") {
      await new Promise<void>((resolve) => waiting.add(resolve));
      return text(String(args["text"] ?? "reported"));
    }
    await new Promise((resolve) => setTimeout(resolve, Number(args["ms"] ?? 0)).unref());
    return text(String(args["text"] ?? "done"), args["fail"] === true);
  };
  return server;
}
