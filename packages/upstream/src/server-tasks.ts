/**
 * Tasks that a server runs for calls of the gateway: of revision 2025-11-25, and of the extension of 2026-07-28. The
 * gateway is their client. It follows each task until it ends, answers its questions through the client channel of the
 * call, and cancels it when the call is cancelled.
 *
 * A connection that is lost, or a gateway that is restarted, ends no task: it is followed again on the next one.
 */

import { setTimeout as delay } from "node:timers/promises";
import { isCodedError } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { McpError } from "@toolcrib/mcp";
import {
  type CallContext,
  type ClientSession,
  type Era,
  isInputRequired,
  type ToolDefinition,
} from "@toolcrib/tool";
import { checkedResult } from "./check-result.ts";
import { receivedQuestions, requestCapabilities } from "./input-required.ts";
import { receivedParams, receivedResult, type Sender } from "./received.ts";
import { UpstreamError } from "./upstream-error.ts";
import type { RequestOptions } from "./upstream-session.ts";

/** Dependencies of `ServerTasks`. */
export interface ServerTasksDeps {
  readonly sender: Sender;
  /** Whether the server may ask clients. */
  readonly isInteractive: boolean;
  /** Makes a call, within the limits of calls that run at the server. */
  readonly call: (params: JsonObject, context: CallContext, options: RequestOptions) => Promise<JsonObject>;
  /** Sends another request, outside those limits: a task that waits is no work of the gateway. */
  readonly send: (method: string, params: JsonObject, context: CallContext) => Promise<JsonObject>;
  readonly toCallerError: (error: unknown) => unknown;
  /** Whether a call of this context is made in the legacy era. Waits for the connection. */
  readonly isLegacy: (context: CallContext) => Promise<boolean>;
  /** MCP `ServerCapabilities` of the server. */
  readonly capabilities: () => JsonObject;
  /** Aborts when the server is not used any more. */
  readonly stopped: AbortSignal;
}

type CallTask = NonNullable<CallContext["task"]>;
type RemoteTask = NonNullable<CallTask["remote"]>;

/** Marks handles, which no answer of a server can be confused with. */
const handleKind = Symbol("task handle");

/** The handle of a task, as the server returned it. */
interface TaskHandle extends RemoteTask {
  readonly kind: typeof handleKind;
  /** The client whose own session it runs on; undefined on a shared one. */
  readonly owner: ClientSession | undefined;
  readonly state: TaskState;
}

/** State of a task, as its server reports it. */
interface TaskState {
  readonly status: string;
  readonly statusMessage: string | undefined;
  readonly pollIntervalMs: number | undefined;
}

/** Bounds of the pause between two requests for a state, in milliseconds. */
const pollMinMs = 100;
const pollMaxMs = 30_000;
const pollDefaultMs = 1000;
/** Longest pause after a connection was lost. */
const retryMaxMs = 30_000;
/** Longest id of a task, in UTF-16 units. @limit server */
const idMaxLength = 4096;
/** Milliseconds for one request that cancels a task of a call that is over. @limit server */
const cancelTimeoutMs = 10_000;
/** Longest time, in milliseconds, for which such a request is repeated where the connection is lost or not there. @limit server */
const cancelMaxMs = 3_600_000;
/** Most tasks whose cancellation is repeated; that of further ones is sent once. @limit server */
const maxCancelling = 1000;

/** Statuses after which a task does not change. */
const ends: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

/** Returns the handle of a task that an answer to `tools/call` is; undefined for a result. */
export function taskHandle(
  answer: JsonObject,
  era: Era,
  { sender, owner }: { readonly sender: Sender; readonly owner: ClientSession | undefined },
): (JsonObject & TaskHandle) | undefined {
  const task = era === "legacy" ? answer["task"] : answer["resultType"] === "task" ? answer : undefined;
  if (!isJsonObject(task)) return undefined;
  const { taskId } = task;
  if (typeof taskId !== "string" || taskId === "" || taskId.length > idMaxLength) {
    throw invalidTask(sender, "its handle has no taskId");
  }
  const handle: TaskHandle = { kind: handleKind, id: taskId, era, owner, state: toState(task, sender) };
  return handle as unknown as JsonObject & TaskHandle;
}

function isHandle(answer: JsonObject): answer is JsonObject & TaskHandle {
  return (answer as unknown as Partial<TaskHandle>).kind === handleKind;
}

function invalidTask({ server }: Sender, reason: string): UpstreamError {
  return new UpstreamError(
    "UPSTREAM_RESULT_INVALID",
    `The server "${server}" answered with an invalid task: ${reason}`,
    {
      hint: "report it to the maintainers of the server",
      data: { server },
    },
  );
}

/** Reads the state of a task in the spelling of either era. */
function toState(task: JsonObject, sender: Sender): TaskState {
  const {
    status,
    statusMessage,
    pollInterval,
    pollIntervalMs = pollInterval,
  } = receivedParams("tasks/get", task, sender);
  if (typeof status !== "string") throw invalidTask(sender, "it has no status");
  return {
    status,
    statusMessage: typeof statusMessage === "string" ? statusMessage : undefined,
    pollIntervalMs: typeof pollIntervalMs === "number" && pollIntervalMs >= 0 ? pollIntervalMs : undefined,
  };
}

/** A task that is followed. */
interface RunningTask {
  readonly id: string;
  readonly context: CallContext;
  readonly owner: ClientSession | undefined;
}

/** The tasks that one server runs. Servers number their tasks for each session: an id says nothing on another one. */
export class ServerTasks {
  readonly #deps: ServerTasksDeps;
  readonly #running = new Set<RunningTask>();
  #cancelling = 0;

  constructor(deps: ServerTasksDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the call that the server runs as the task `id`.
   *
   * @param owner the client whose own session names the task; undefined for a shared one
   */
  contextOf(id: string, owner: ClientSession | undefined): CallContext | undefined {
    const found = [...this.#running].filter((one) => one.id === id);
    const own = found.find((one) => placeOf(one) === owner);
    return (own ?? (found.length === 1 ? found[0] : undefined))?.context;
  }

  /** Makes a call that may become a task of the server, and returns its result. */
  async run(
    { name, inputSchema, execution }: ToolDefinition,
    args: JsonObject,
    context: CallContext & { readonly task: CallTask },
    beforeSend: (() => void) | undefined,
  ): Promise<JsonObject> {
    const { task } = context;
    let { remote } = task;
    let owner: ClientSession | undefined;
    if (remote === undefined) {
      const isLegacy = await this.#deps.isLegacy(context);
      // Questions of a task go to its client while it runs, and not with its result.
      const caller = isLegacy ? { ...context, rounds: undefined } : context;
      const legacyParams = mayBeTask(execution, this.#deps.capabilities())
        ? { task: { ttl: task.ttlMs } }
        : undefined;
      const options = { inputSchema, beforeSend, legacyParams };
      const answer = await this.#deps.call({ name, arguments: args }, caller, options);
      if (isInputRequired(answer) || !isHandle(answer)) return answer;
      remote = { id: answer.id, era: answer.era };
      owner = answer.owner;
      await task.accepted(remote);
      task.changed(answer.state);
    }
    return await this.#follow(name, { ...remote, owner }, context);
  }

  async #follow(
    name: string,
    { id, era, owner }: RemoteTask & Pick<RunningTask, "owner">,
    given: CallContext & { readonly task: CallTask },
  ): Promise<JsonObject> {
    const { session } = given;
    const refuseOther = () => {
      if (this.#isTaken(running)) throw this.#lost("its taskId is that of another task");
    };
    const context: typeof given = {
      ...given,
      era,
      rounds: undefined,
      // A task outlives the session of its client: it is then followed on the one that all clients share.
      get session() {
        if (session?.closed.aborted !== true) return session;
        refuseOther();
        return undefined;
      },
    };
    const running: RunningTask = { id, context, owner };
    // It is not cancelled: that would cancel the other one.
    if (this.#isTaken(running)) throw invalidTask(this.#deps.sender, "its taskId is that of another task");
    this.#running.add(running);
    try {
      const result = await (era === "legacy"
        ? this.#followLegacy(id, context)
        : this.#followModern(id, context));
      return checkedResult(result, this.#deps.sender.server, { tool: name, era });
    } catch (error) {
      if (context.signal.aborted && !given.task.isLeft) {
        const delivered = this.#cancel(id, context);
        given.task.cancelling?.(delivered);
      }
      throw error;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Whether another task with the same id runs where `running` is followed now. */
  #isTaken(running: RunningTask): boolean {
    return [...this.#running].some(
      (one) => one !== running && one.id === running.id && placeOf(one) === placeOf(running),
    );
  }

  /** `tasks/result` answers at the end, and carries the questions of the task meanwhile (2025-11-25). */
  async #followLegacy(id: string, context: CallContext & { readonly task: CallTask }): Promise<JsonObject> {
    const over = new AbortController();
    const signal = AbortSignal.any([context.signal, over.signal]);
    void this.#report(id, withSignal(context, signal));
    try {
      for (;;) {
        try {
          return withoutRelated(await this.#sent("tasks/result", { taskId: id }, context));
        } catch (error) {
          context.signal.throwIfAborted();
          if (!isRemote(error)) throw error;
          // The error of the call, or one of the request: the state says which.
          const { status, pollIntervalMs } = await this.#state(id, context);
          if (status === "cancelled") throw this.#cancelled();
          if (ends.has(status)) throw error;
          await pause(pollIntervalMs, context.signal);
        }
      }
    } finally {
      over.abort();
    }
  }

  /** Reports the state of a task until its signal aborts. Never rejects. */
  async #report(id: string, context: CallContext & { readonly task: CallTask }): Promise<void> {
    let pollMs: number | undefined;
    try {
      for (;;) {
        await pause(pollMs, context.signal);
        const state = await this.#state(id, context).catch(() => undefined);
        if (state === undefined) continue;
        pollMs = state.pollIntervalMs;
        context.task.changed(state);
        if (ends.has(state.status)) return;
      }
    } catch {
      // The call ended.
    }
  }

  /** `tasks/get` says everything; answers go with `tasks/update` (extension of 2026-07-28). */
  async #followModern(id: string, context: CallContext & { readonly task: CallTask }): Promise<JsonObject> {
    const { sender, isInteractive, toCallerError } = this.#deps;
    const asked = new Set<string>();
    const failing = new AbortController();
    // Ends the pause between two requests, too.
    const either = AbortSignal.any([context.signal, failing.signal]);
    const answer = async (key: string, question: JsonObject) => {
      const request = { inputRequests: { [key]: question } };
      const capabilities = requestCapabilities(context, isInteractive);
      const { method, params } = receivedQuestions(request, sender, capabilities).requests[key] as {
        readonly method: string;
        readonly params: JsonObject;
      };
      const response = await context.ask(method, params, context.signal);
      // A server ignores an answer that it has.
      await this.#sent("tasks/update", { taskId: id, inputResponses: { [key]: response } }, context);
    };
    for (;;) {
      const task = await this.#task(id, context);
      const state = toState(task, sender);
      context.task.changed(state);
      const { result, error, inputRequests } = task;
      if (state.status === "completed") {
        if (!isJsonObject(result)) throw invalidTask(sender, "it is completed, and has no result");
        return receivedResult(result, sender, "tools/call");
      }
      if (state.status === "cancelled") throw this.#cancelled();
      if (state.status === "failed") throw toCallerError(toRemoteError(error));
      if (state.status === "input_required" && isJsonObject(inputRequests)) {
        for (const [key, question] of Object.entries(inputRequests)) {
          if (asked.has(key) || !isJsonObject(question)) continue;
          asked.add(key);
          if (asked.size > maxQuestions)
            throw invalidTask(sender, `it asks more than ${maxQuestions} questions`);
          answer(key, question).catch((reason: unknown) => failing.abort(reason));
        }
      }
      await pause(state.pollIntervalMs, either).catch((error: unknown) => {
        failing.signal.throwIfAborted();
        throw error;
      });
    }
  }

  async #state(id: string, context: CallContext): Promise<TaskState> {
    return toState(await this.#task(id, context), this.#deps.sender);
  }

  async #task(id: string, context: CallContext): Promise<JsonObject> {
    try {
      return await this.#sent("tasks/get", { taskId: id }, context);
    } catch (error) {
      context.signal.throwIfAborted();
      throw isRemote(error) ? this.#lost((error as Error).message, error) : error;
    }
  }

  /** Sends a request about a task, and again on the next connection where one is lost before the answer. */
  async #sent(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    for (let failures = 1; ; failures += 1) {
      try {
        return await this.#deps.send(method, params, context);
      } catch (error) {
        context.signal.throwIfAborted();
        if (!isLost(error)) throw error;
        context.task?.lost?.();
        await pause(Math.min(pollDefaultMs * 2 ** failures, retryMaxMs), context.signal);
      }
    }
  }

  /**
   * Cancels the task of a call that is over, also at a server that is connected only later. Never rejects.
   *
   * @returns whether the server answered
   */
  async #cancel(id: string, context: CallContext & { readonly task: CallTask }): Promise<boolean> {
    const { stopped } = this.#deps;
    const maxMs = this.#cancelling < maxCancelling ? Math.min(context.task.ttlMs, cancelMaxMs) : 0;
    const over = AbortSignal.any([stopped, AbortSignal.timeout(Math.max(maxMs, cancelTimeoutMs))]);
    this.#cancelling += 1;
    try {
      for (let failures = 1; ; failures += 1) {
        const signal = AbortSignal.any([over, AbortSignal.timeout(cancelTimeoutMs)]);
        try {
          await this.#deps.send("tasks/cancel", { taskId: id }, withSignal(context, signal));
          return true;
        } catch (error) {
          // Any answer is one: a task that ended, or that the server does not know, needs no cancellation.
          if (!signal.aborted && !isLost(error)) return true;
          if (over.aborted || maxMs === 0) return false;
        }
        await pause(Math.min(pollDefaultMs * 2 ** failures, retryMaxMs), over).catch(() => {});
      }
    } finally {
      this.#cancelling -= 1;
    }
  }

  #cancelled(): UpstreamError {
    const { server } = this.#deps.sender;
    return new UpstreamError(
      "UPSTREAM_TASK_CANCELLED",
      `The server "${server}" cancelled the task of this call`,
      {
        data: { server },
      },
    );
  }

  #lost(reason: string, cause?: unknown): UpstreamError {
    const { server } = this.#deps.sender;
    const text = `The server "${server}" does not know the task of this call any more: ${reason}`;
    return new UpstreamError("UPSTREAM_TASK_LOST", text, {
      cause,
      hint: "the call may have had an effect: check it before you repeat the call",
      data: { server },
    });
  }
}

/** The client on whose own session a task is followed; undefined for a shared one. */
function placeOf({ owner }: RunningTask): ClientSession | undefined {
  return owner?.closed.aborted === true ? undefined : owner;
}

/** Questions of one task. @limit server */
const maxQuestions = 100;

/** Whether a server of the legacy era runs calls of a tool as tasks (2025-11-25, tool-level negotiation). */
function mayBeTask(execution: ToolDefinition["execution"], { tasks }: JsonObject): boolean {
  const support = execution?.taskSupport;
  const requests = isJsonObject(tasks) ? tasks["requests"] : undefined;
  const tools = isJsonObject(requests) ? requests["tools"] : undefined;
  return (
    (support === "optional" || support === "required") && isJsonObject(tools) && tools["call"] !== undefined
  );
}

/** Returns a result without the id that the server gave its task. */
function withoutRelated(result: JsonObject): JsonObject {
  const { _meta: meta } = result;
  if (!isJsonObject(meta) || meta[relatedTask] === undefined) return result;
  const { [relatedTask]: _related, ...kept } = meta;
  const { _meta, ...rest } = result;
  return Object.keys(kept).length === 0 ? rest : { ...rest, _meta: kept };
}

const relatedTask = "io.modelcontextprotocol/related-task";

/** Whether the server itself answered with an error. */
function isRemote(error: unknown): boolean {
  return isCodedError(error) && error.code === "UPSTREAM_ERROR";
}

/** Errors of connections, after which the server can be asked again. */
const lostCodes: ReadonlySet<string> = new Set([
  "UPSTREAM_CLOSED",
  "UPSTREAM_UNAVAILABLE",
  "MCP_CONNECTION_CLOSED",
  "MCP_SESSION_EXPIRED",
  "MCP_UNREACHABLE",
  "MCP_TIMEOUT",
  "MCP_HTTP_ERROR",
]);

function isLost(error: unknown): boolean {
  return isCodedError(error) && lostCodes.has(error.code);
}

/** The JSON-RPC error that a task ended with. */
function toRemoteError(error: unknown): McpError {
  const { code, message, data } = isJsonObject(error) ? error : {};
  return new McpError("MCP_REMOTE_ERROR", typeof message === "string" ? message : "The task failed", {
    ...(typeof code === "number" ? { rpcCode: code } : {}),
    rpcData: data,
  });
}

/** The same call with another signal; its session is asked for when it is needed. */
function withSignal<Context extends CallContext>(context: Context, signal: AbortSignal): Context {
  return Object.create(context, { signal: { value: signal, enumerable: true } }) as Context;
}

function pause(ms: number | undefined, signal: AbortSignal): Promise<void> {
  return delay(Math.min(Math.max(ms ?? pollDefaultMs, pollMinMs), pollMaxMs), undefined, { signal });
}
