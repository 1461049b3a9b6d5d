/**
 * A server of revision 2026-07-28 with the extension `io.modelcontextprotocol/tasks`, which no SDK serves. Its tool
 * `greet` runs as a task for clients that take one, asks for a name, and greets it; for others it answers at once.
 */

import { createServer } from "node:http";
import { closeHttpServer, listenOnLoopback, readBody } from "../loopback-http.ts";

const extension = "io.modelcontextprotocol/tasks";
const meta = "io.modelcontextprotocol/";
/** Longest line on stdio, in UTF-16 units. */
const bufferMaxLength = 1024 * 1024;

interface Message {
  readonly [name: string]: unknown;
}

interface ModernTask {
  name?: string;
  isCancelled?: boolean;
}

/** A request as the server received it. */
export interface SeenRequest {
  readonly method: string;
  /** Value of `Mcp-Name`; undefined on stdio. */
  readonly header: string | undefined;
}

const question = {
  method: "elicitation/create",
  params: {
    message: "Your name?",
    requestedSchema: { type: "object", properties: { name: { type: "string" } } },
  },
};

const isObject = (value: unknown): value is Message => typeof value === "object" && value !== null;
const textResult = (text: string) => ({ content: [{ type: "text", text }] });

/** The tasks of one program. */
export class ModernTasks {
  readonly tasks = new Map<string, ModernTask>();
  readonly seen: SeenRequest[] = [];
  /** Number of `tasks/update` over HTTP whose connections end before an answer. */
  lostUpdates = 0;

  /** Answers a message; returns undefined for a notification. */
  answer(message: Message, header?: string): { readonly status: number; readonly body: Message } | undefined {
    const { id, method } = message;
    const params = isObject(message["params"]) ? message["params"] : {};
    if (id === undefined && typeof method === "string") return undefined;
    const failed = (code: number, text: string, status: number) => ({
      status,
      body: { jsonrpc: "2.0", id: id ?? null, error: { code, message: text } },
    });
    const own = isObject(params["_meta"]) ? params["_meta"] : {};
    if (own[`${meta}protocolVersion`] !== "2026-07-28" || typeof method !== "string")
      return failed(-32022, "Unsupported protocol version", 400);
    this.seen.push({ method, header });
    try {
      const result = { resultType: "complete", ...this.#resultOf(method, params, own) };
      return { status: 200, body: { jsonrpc: "2.0", id, result } };
    } catch (error) {
      return failed(-32602, (error as Error).message, 200);
    }
  }

  #resultOf(method: string, params: Message, own: Message): Message {
    if (method === "server/discover") {
      const capabilities = { tools: {}, extensions: { [extension]: {} } };
      return { supportedVersions: ["2026-07-28"], capabilities };
    }
    if (method === "tools/list")
      return { tools: [{ name: "greet", inputSchema: { type: "object" } }], ttlMs: 0, cacheScope: "private" };
    if (method === "tools/call") {
      const capabilities = own[`${meta}clientCapabilities`] as { readonly extensions?: Message };
      if (capabilities.extensions?.[extension] === undefined) return textResult("Hello!");
      const taskId = `t${this.tasks.size + 1}`;
      this.tasks.set(taskId, {});
      return { resultType: "task", ...stateOf(taskId, "working") };
    }
    const id = String(params["taskId"]);
    const task = this.tasks.get(id);
    if (task === undefined) throw new Error("Task not found");
    if (method === "tasks/get") {
      if (task.isCancelled === true) return stateOf(id, "cancelled");
      if (task.name === undefined)
        return { ...stateOf(id, "input_required"), inputRequests: { who: question } };
      const result = { resultType: "complete", ...textResult(`Hello, ${task.name}!`) };
      return { ...stateOf(id, "completed"), result };
    }
    if (method === "tasks/update") {
      const { who } = params["inputResponses"] as { readonly who: { readonly content: ModernTask } };
      task.name = String(who.content.name);
    } else task.isCancelled = true;
    return {};
  }
}

function stateOf(taskId: string, status: string): Message {
  const at = "2026-01-01T00:00:00Z";
  return { taskId, status, createdAt: at, lastUpdatedAt: at, ttlMs: null, pollIntervalMs: 100 };
}

/** Serves the tasks over streamable HTTP, on loopback. */
export async function serveModernTasks(): Promise<ModernTasks & AsyncDisposable & { readonly url: string }> {
  const program = new ModernTasks();
  const server = createServer((request, response) => {
    const respond = async () => {
      const message = JSON.parse((await readBody(request)) || "{}") as Message;
      if (message["method"] === "tasks/update" && program.lostUpdates > 0) {
        program.lostUpdates -= 1;
        program.seen.push({
          method: "tasks/update",
          header: request.headers["mcp-name"] as string | undefined,
        });
        response.destroy();
        return;
      }
      const answer = program.answer(message, request.headers["mcp-name"] as string | undefined);
      if (answer === undefined) response.writeHead(202).end();
      else
        response
          .writeHead(answer.status, { "content-type": "application/json" })
          .end(JSON.stringify(answer.body));
    };
    respond().catch(() => response.destroy());
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(server, 0)}/mcp`;
  return Object.assign(program, { url, [Symbol.asyncDispose]: () => closeHttpServer(server) });
}

/** Serves the tasks on the streams of a process: one message a line. */
export async function serveModernTasksOnStdio(
  input: AsyncIterable<Buffer | string>,
  write: (line: string) => void,
): Promise<void> {
  const program = new ModernTasks();
  let rest = "";
  for await (const part of input) {
    const lines = `${rest}${String(part)}`.split("\n");
    rest = (lines.pop() ?? "").slice(0, bufferMaxLength);
    for (const line of lines.filter((one) => one.trim() !== "")) {
      const answer = program.answer(JSON.parse(line) as Message);
      if (answer !== undefined) write(`${JSON.stringify(answer.body)}\n`);
    }
  }
}
