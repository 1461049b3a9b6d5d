/**
 * The requests about tasks: `tasks/get`, `tasks/result`, `tasks/list` and `tasks/cancel` of revision 2025-11-25, and
 * `tasks/get`, `tasks/update` and `tasks/cancel` of the extension of 2026-07-28. A task of one era can be read in the
 * other.
 */

import type { SourceRoster } from "@toolcrib/inventory";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import {
  type Listener,
  McpError,
  methodNotFound,
  pageOf,
  rpcCodes,
  type ServiceRequest,
} from "@toolcrib/mcp";
import { type Identity, issuerName } from "@toolcrib/tool";
import { ExtensionsError } from "../extensions-error.ts";
import type { Task } from "./task.ts";
import { isHidden, type TaskReadingDeps, whyWithheld } from "./task-reading.ts";
import {
  tasksExtension,
  toDetailedTask,
  toLegacyTask,
  toResult,
  toWithheldResult,
  withRelated,
} from "./task-wire.ts";
import type { TaskRequest, Tasks } from "./tasks.ts";

/** The prefix of the methods about tasks. */
export const taskMethodPrefix = "tasks/";

/** Items on one page of `tasks/list`. */
const pageSize = 100;
/** Tasks that one change stream can report. @limit client */
const maxListened = 1000;

/** The facts about a tool when it is called. */
export interface CalledTool {
  readonly id: string;
  readonly server: string;
  /** `execution.taskSupport` of its definition. */
  readonly taskSupport: string | undefined;
  /** The declaration of its server. */
  readonly capabilities: JsonObject;
}

/** Whether the server declares tasks of 2025-11-25 for calls of tools. */
export function hasLegacyTasks(capabilities: JsonObject): boolean {
  const { tasks } = capabilities;
  const requests = isJsonObject(tasks) ? tasks["requests"] : undefined;
  const tools = isJsonObject(requests) ? requests["tools"] : undefined;
  return isJsonObject(tools) && tools["call"] !== undefined;
}

/** Whether one side declares the extension of 2026-07-28. */
export function hasModernTasks(capabilities: JsonObject): boolean {
  const { extensions } = capabilities;
  return isJsonObject(extensions) && extensions[tasksExtension] !== undefined;
}

/**
 * Returns how a call is made as a task; undefined for a plain call.
 *
 * @param toolOf returns undefined for a tool that does not exist for the client.
 * @throws {ExtensionsError} `TASK_NOT_SUPPORTED`, {McpError} -32021 for a tool that runs only as a task
 */
export function toTaskRequest(
  { era, params, clientCapabilities }: ServiceRequest,
  taskSupport: string | undefined,
  toolOf: () => Omit<CalledTool, "taskSupport"> | undefined,
): TaskRequest | undefined {
  const takesTasks = era === "legacy" ? params["task"] !== undefined : hasModernTasks(clientCapabilities);
  if (!takesTasks && (era === "legacy" || taskSupport !== "required")) return undefined;
  const known = toolOf();
  if (known === undefined) return undefined;
  const tool = { ...known, taskSupport };
  if (era === "legacy") return askedTask(params["task"], tool);
  const isLegacyTask = hasLegacyTasks(tool.capabilities) && isTaskTool(tool);
  if (takesTasks) {
    if (!isLegacyTask && !hasModernTasks(tool.capabilities)) return undefined;
    return { kind: "offered", tool: tool.id, server: tool.server, ttlMs: undefined };
  }
  if (isLegacyTask && !hasModernTasks(tool.capabilities)) throw missingExtension();
  return undefined;
}

function isTaskTool({ taskSupport }: CalledTool): boolean {
  return taskSupport === "optional" || taskSupport === "required";
}

function askedTask(task: unknown, tool: CalledTool): TaskRequest {
  if (!isJsonObject(task)) throw invalidParams('"task" must be an object');
  const { ttl } = task;
  if (ttl !== undefined && ttl !== null && !(typeof ttl === "number" && Number.isFinite(ttl) && ttl >= 0)) {
    throw invalidParams('"task.ttl" must be a number of milliseconds');
  }
  const isOffered =
    (hasLegacyTasks(tool.capabilities) && isTaskTool(tool)) || hasModernTasks(tool.capabilities);
  if (!isOffered) {
    throw new ExtensionsError("TASK_NOT_SUPPORTED", `The tool "${tool.id}" does not run as a task`, {
      rpcCode: rpcCodes.methodNotFound,
      hint: 'call it without "task"',
    });
  }
  const ttlMs = typeof ttl === "number" ? ttl : undefined;
  return { kind: "asked", tool: tool.id, server: tool.server, ttlMs };
}

/** The error for a client that did not declare the extension with its request. */
function missingExtension(): McpError {
  return new McpError("MCP_CLIENT_CAPABILITY_MISSING", "Missing required client capability", {
    rpcCode: rpcCodes.missingClientCapability,
    httpStatus: 400,
    rpcData: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
    hint: `use a client that declares the extension "${tasksExtension}"`,
  });
}

/** Dependencies of `TaskRequests`. */
export interface TaskRequestsDeps extends TaskReadingDeps {
  readonly tasks: Tasks;
  readonly roster: Pick<SourceRoster, "entries" | "featureSources">;
  /** Resolves when the tools of a server are known; undefined where they are. */
  readonly untilListed: (request: ServiceRequest, server: string) => Promise<unknown> | undefined;
}

/**
 * Answers the requests about tasks. A client that may not list a tool any more, or not at this endpoint, gets nothing
 * of its tasks: what it may read is decided when it reads.
 */
export class TaskRequests {
  readonly #deps: TaskRequestsDeps;

  constructor(deps: TaskRequestsDeps) {
    this.#deps = deps;
  }

  /** The facts that decide whether a call of a tool can be a task. */
  calledTool({ id, server = "" }: { readonly id: string; readonly server?: string | undefined }) {
    const source = this.#deps.roster.featureSources.find((one) => one.id === server);
    return { id, server, capabilities: source?.features.capabilities() ?? {} };
  }

  /** Whether clients of `issuer` can list their tasks: those that nothing authenticated are one identity. */
  static mayList(identity: { readonly issuer: string }): boolean {
    return issuerName(identity) !== "anonymous";
  }

  /** Answers a request. @param server the server of the endpoint; undefined for that of all servers */
  async answer(request: ServiceRequest, server: string | undefined): Promise<JsonObject> {
    const { method, era, params } = request;
    if (era === "modern" && !hasModernTasks(request.clientCapabilities)) throw missingExtension();
    await this.#untilKnown(request);
    switch (`${era} ${method}`) {
      case "legacy tasks/get":
        return this.#legacyState(this.#taskOf(request, server), request.identity);
      case "legacy tasks/result":
        return await this.#result(request, this.#taskOf(request, server), server);
      case "legacy tasks/cancel": {
        const task = this.#taskOf(request, server);
        this.#deps.tasks.cancel(task);
        return this.#legacyState(task, request.identity);
      }
      case "legacy tasks/list":
        return this.#list(request, server);
      case "modern tasks/get":
        return this.#detailed(this.#taskOf(request, server), request.identity);
      case "modern tasks/update": {
        const task = this.#taskOf(request, server);
        const { inputResponses } = params;
        if (!isJsonObject(inputResponses)) throw invalidParams('"inputResponses" must be an object');
        for (const [key, response] of Object.entries(inputResponses)) {
          if (!isJsonObject(response))
            throw invalidParams(`"inputResponses.${key.slice(0, 100)}" must be an object`);
          task.answer(key, response);
        }
        return {};
      }
      case "modern tasks/cancel": {
        const task = this.#taskOf(request, server);
        // The work can have ended meanwhile: the request is acknowledged all the same.
        if (task.outcome === undefined) this.#deps.tasks.cancel(task);
        return {};
      }
      default:
        throw methodNotFound(method);
    }
  }

  /**
   * Reports the changes of tasks to the change stream of a modern client.
   *
   * @returns the ids of the tasks that are reported: those of the client.
   */
  listen(listener: Listener, server: string | undefined): readonly string[] {
    const { taskIds = [] } = listener.filter;
    const { identity } = listener;
    const tasks = taskIds
      .slice(0, maxListened)
      .map((id) => this.#deps.tasks.find(identity, id))
      .filter((task) => task !== undefined)
      .filter((task) => this.#isReadable(task, identity, server));
    for (const task of tasks) {
      const remove = task.onChange(() => {
        // The policy can be another one than when it began to listen.
        if (this.#isReadable(task, identity, server)) {
          listener.notify("notifications/tasks", this.#detailed(task, identity));
        }
        if (task.outcome !== undefined) remove();
      });
      listener.closed.addEventListener("abort", remove, { once: true });
    }
    return tasks.map(({ id }) => id);
  }

  /** @throws {McpError} -32021 to a client that asks for tasks and did not declare the extension */
  static assertMayListen({ filter, clientCapabilities }: Listener): void {
    if (filter.taskIds !== undefined && !hasModernTasks(clientCapabilities)) throw missingExtension();
  }

  #withheld(task: Task, reader: Identity) {
    return whyWithheld(this.#deps, task, reader);
  }

  #legacyState(task: Task, reader: Identity): JsonObject {
    return toLegacyTask(task, this.#withheld(task, reader));
  }

  #detailed(task: Task, reader: Identity): JsonObject {
    return toDetailedTask(task, this.#withheld(task, reader));
  }

  #taskOf({ params, identity }: ServiceRequest, server: string | undefined): Task {
    const { taskId } = params;
    if (typeof taskId !== "string") throw invalidParams('"taskId" must be a string');
    const task = this.#deps.tasks.find(identity, taskId);
    if (task !== undefined && this.#isReadable(task, identity, server)) return task;
    throw new ExtensionsError("TASK_NOT_FOUND", "Task not found", {
      rpcCode: rpcCodes.invalidParams,
      hint: "it belongs to another client, is not kept any more, or its tool is not available to this client now",
    });
  }

  #isReadable(task: Task, identity: Identity, server: string | undefined): boolean {
    const isHere = server === undefined || task.facts.server === server;
    return isHere && !isHidden(this.#deps, task, identity);
  }

  /** After a start, the tool of a task can be unknown until its server has listed it. */
  async #untilKnown(request: ServiceRequest): Promise<void> {
    const { identity, params } = request;
    const { taskId } = params;
    const task = typeof taskId === "string" ? this.#deps.tasks.find(identity, taskId) : undefined;
    if (task === undefined || this.#deps.index.find(task.facts.tool) !== undefined) return;
    await this.#deps.untilListed(request, task.facts.server);
  }

  /** Waits for the end of a task, and passes the questions of its server on meanwhile. */
  async #result(request: ServiceRequest, task: Task, server: string | undefined): Promise<JsonObject> {
    const { signal, identity } = request;
    const ask = (method: string, params: JsonObject) => request.ask(method, withPageId(params, task), signal);
    for (;;) {
      // The policy can be another one than when it began to wait.
      this.#taskOf(request, server);
      const withheld = this.#withheld(task, identity);
      if (withheld !== undefined) return withRelated(toWithheldResult(task, withheld), task.id);
      if (task.outcome !== undefined) return toResult(task);
      const next = task.nextChange(signal);
      task.sendQuestions(ask, signal);
      await next;
    }
  }

  #list({ identity, params }: ServiceRequest, server: string | undefined): JsonObject {
    if (!TaskRequests.mayList(identity)) throw methodNotFound("tasks/list");
    const tasks = this.#deps.tasks
      .listOf(identity)
      .filter((task) => this.#isReadable(task, identity, server))
      .map((task) => this.#legacyState(task, identity));
    const { items, nextCursor } = pageOf(tasks, params["cursor"], "tasks", pageSize);
    return nextCursor === undefined ? { tasks: items } : { tasks: items, nextCursor };
  }
}

/** Older clients need an id with each page to visit. */
function withPageId(params: JsonObject, task: Task): JsonObject {
  const related = withRelated(params, task.id);
  const isPage = params["mode"] === "url" && params["elicitationId"] === undefined;
  return isPage ? { ...related, elicitationId: `${task.facts.createdAt}-${task.updatedAt}` } : related;
}

function invalidParams(message: string): McpError {
  return new McpError("MCP_INVALID_MESSAGE", message, { rpcCode: rpcCodes.invalidParams });
}
