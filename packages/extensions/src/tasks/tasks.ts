/**
 * The tasks of a gateway: calls whose clients collect the results later. Each is one governed call, which the gateway
 * makes in the background; this file gives the client a handle, and keeps the state and the outcome.
 *
 * Ids are issued here, are unguessable, and mean something to the identity that created the task alone. The number of
 * tasks, their time and the bytes of their results are limited, of one identity and of all. Tasks that a server runs
 * survive a restart: they are stored in the home before their clients learn of them.
 */

import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { type JsonObject, jsonSize } from "@toolcrib/json";
import { FairShare } from "@toolcrib/lifecycle";
import { type ServiceRequest, toRpcError } from "@toolcrib/mcp";
import { type CallContext, type Identity, identityKey } from "@toolcrib/tool";
import { ExtensionsError } from "../extensions-error.ts";
import type { StoredTask, TaskCall, TaskOutcome } from "./stored-task.ts";
import { Task } from "./task.ts";
import { missingCapability, progressTokenOf } from "./task-client.ts";
import type { TaskFiles } from "./task-files.ts";
import { toLegacyTask, toModernTask, withRelated } from "./task-wire.ts";

/** Limits of tasks. */
export interface TaskLimits {
  /** Tasks that are kept at a time, of all clients; one client gets at most half of them. @default 1000 */
  readonly maxTasks?: number;
  /** Bytes of the results that are kept, of all clients; one client gets at most half of them. @default 67,108,864 */
  readonly taskResultsMaxBytes?: number;
  /** Seconds for which a task is kept where its client names no time. @default 3600 */
  readonly taskTtlSeconds?: number;
  /** Most seconds for which a task is kept. @default 86,400 */
  readonly taskTtlMaxSeconds?: number;
  /** Milliseconds after which a client that asked for a task gets its handle, if the server has not answered. @default 2000 */
  readonly handleAfterMs?: number;
}

/** Counts of tasks. */
export interface TaskUsage {
  /** Tasks that have not ended. */
  readonly running: number;
  /** Those of them that wait for an answer of their client. */
  readonly asking: number;
  /** Tasks that have ended, and whose results are kept. */
  readonly ended: number;
  /** Bytes of the results, in steps of a kibibyte. */
  readonly resultBytes: number;
  /** Calls that were refused since the start because tasks were used up. */
  readonly refused: number;
}

/** Dependencies of `Tasks`. */
export interface TasksDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
  readonly logger: Logger;
  /** The tasks in the home. @default tasks end with the process */
  readonly taskFiles?: TaskFiles | undefined;
}

/** Additions of a task to the origin of its call. */
export interface TaskOrigin {
  readonly signal: AbortSignal;
  readonly task: NonNullable<CallContext["task"]>;
  readonly clientChannel: Pick<CallContext, "progress" | "notify" | "ask">;
  /** Called when the call is on record. */
  readonly onBegun: (call: TaskCall) => void;
  /** Called when the call is executed. @param extend gives it `ms` milliseconds from now */
  readonly onDeadline: (extend: (ms: number) => void) => void;
}

/** Makes the call of a task, or a plain call without `origin`. Rejects with the error that its client gets. */
export type PerformTask = (origin: TaskOrigin | undefined) => Promise<JsonObject>;

/** A call that can be a task. */
export interface TaskRequest {
  /** `asked`: the client wants a handle. `offered`: it takes a handle where the server makes a task. */
  readonly kind: "asked" | "offered";
  /** Id of the tool. */
  readonly tool: string;
  /** Id of the server. */
  readonly server: string;
  /** Milliseconds for which the client wants it; undefined where it does not say. */
  readonly ttlMs: number | undefined;
}

const ttlMinMs = 1000;
const sweepMs = 1000;
/** Bytes from which on the size of a result is not measured exactly. */
const sizeLimit = 64 * 1024 * 1024;
const bytesPerPlace = 1024;

/** A task and its shares of the limits. */
interface Kept {
  readonly task: Task;
  readonly holder: string;
  places: number;
}

/** The tasks of a gateway. */
export class Tasks implements AsyncDisposable {
  readonly #deps: TasksDeps;
  readonly #limits: Required<TaskLimits>;
  readonly #kept = new Map<string, Kept>();
  readonly #counts: FairShare;
  readonly #results: FairShare;
  readonly #running = new Set<Promise<unknown>>();
  #sweeping: NodeJS.Timeout | undefined;
  #isRevoked: (owner: Identity) => boolean = () => false;
  #isLeft = false;
  #refused = 0;

  constructor(deps: TasksDeps, limits: TaskLimits = {}) {
    this.#deps = deps;
    const { maxTasks = 1000, taskResultsMaxBytes = 64 * 1024 * 1024, taskTtlSeconds = 3600 } = limits;
    const { taskTtlMaxSeconds = 86_400, handleAfterMs = 2000 } = limits;
    this.#limits = { maxTasks, taskResultsMaxBytes, taskTtlSeconds, taskTtlMaxSeconds, handleAfterMs };
    this.#counts = new FairShare(maxTasks);
    this.#results = new FairShare(Math.ceil(taskResultsMaxBytes / bytesPerPlace));
  }

  /** The tasks that are kept: those that run, those that wait for their client, and the bytes of results. */
  usage(): TaskUsage {
    const tasks = [...this.#kept.values()].map(({ task }) => task);
    return {
      running: tasks.filter(({ outcome }) => outcome === undefined).length,
      asking: tasks.filter(({ isAsking }) => isAsking).length,
      ended: tasks.filter(({ outcome }) => outcome !== undefined).length,
      resultBytes: this.#results.count * bytesPerPlace,
      refused: this.#refused,
    };
  }

  /** Returns a task of `identity`; undefined for one that it does not have. */
  find(identity: Identity, id: string): Task | undefined {
    const task = this.#kept.get(id)?.task;
    return task?.isOwnedBy(identity) && task.expiresAt > this.#deps.now() ? task : undefined;
  }

  /** Returns the tasks of `identity`, oldest first. */
  listOf(identity: Identity): readonly Task[] {
    const now = this.#deps.now();
    const tasks = [...this.#kept.values()].map(({ task }) => task);
    return tasks.filter((task) => task.isOwnedBy(identity) && task.expiresAt > now);
  }

  /**
   * Makes a call that can be a task.
   *
   * @returns the handle of the task, or the result of a call that is none.
   * @throws {ExtensionsError} `TASKS_FULL` where the client asked for a task; the error of a call that did not become one
   */
  async run(request: ServiceRequest, asked: TaskRequest, perform: PerformTask): Promise<JsonObject> {
    const { identity, era, signal } = request;
    const { kind } = asked;
    // A client that takes tasks does not need one: where none can be kept, the server answers the call itself.
    if (kind === "offered" && this.#counts.refusalFor(identityKey(identity)) !== undefined) {
      this.#refused += 1;
      return await perform(undefined);
    }
    const task = this.#create(request, asked);
    const issued = Promise.withResolvers<void>();
    let isIssued = false;
    let extend: ((ms: number) => void) | undefined;
    const issue = () => {
      isIssued = true;
      // The end of its time ends a task before this deadline does.
      extend?.(task.facts.ttlMs + sweepMs * 5);
      issued.resolve();
    };
    const { controller } = task;
    // Until the client has a handle, its request is the call.
    const cancel = () => controller.abort(signal.reason);
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
    let timer: NodeJS.Timeout | undefined;
    const origin: TaskOrigin = {
      ...this.#originOf(task, request, () => isIssued, issue),
      onBegun: (call) => {
        task.begun(call);
        if (kind === "asked") timer = setTimeout(issue, this.#limits.handleAfterMs);
      },
      onDeadline(given) {
        extend = given;
        if (isIssued) issue();
      },
    };
    const ended = this.#track(task, perform(origin), era);
    const first = await Promise.race([ended, issued.promise.then(() => undefined)]);
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
    if (first !== undefined && (kind === "offered" || "thrown" in first)) {
      this.#drop(task.id);
      if ("thrown" in first) throw first.thrown;
      return first.result;
    }
    this.#deps.logger.debug(
      { server: asked.server, tool: asked.tool, client: identity.name },
      "a call is a task",
    );
    if (era === "legacy") this.#notifySession(task, request);
    return era === "legacy" ? { task: toLegacyTask(task) } : { resultType: "task", ...toModernTask(task) };
  }

  /** Follows the tasks of earlier runs. @param perform makes the rest of the call of a task */
  resume(
    perform: (stored: StoredTask & { readonly call: TaskCall }, origin: TaskOrigin) => Promise<JsonObject>,
  ): void {
    const { taskFiles: files, now } = this.#deps;
    for (const stored of files?.take() ?? []) {
      const { call, outcome, createdAt, ttlMs } = stored;
      const isOver = outcome !== undefined && createdAt + ttlMs <= now();
      if (isOver || call === undefined) {
        void files?.remove(stored.id);
        continue;
      }
      const task = new Task(stored, now);
      task.isUnheard = true;
      const kept = this.#keep(task);
      if (outcome !== undefined) {
        this.#holdResult(kept, outcome);
        continue;
      }
      const origin = this.#originOf(
        task,
        undefined,
        () => true,
        () => {},
      );
      const leftMs = Math.max(1, task.expiresAt - now());
      const onDeadline = (extend: (ms: number) => void) => extend(leftMs + sweepMs * 5);
      const made = perform({ ...stored, call }, { ...origin, onBegun: () => {}, onDeadline });
      void this.#track(task, made, stored.era);
    }
  }

  /** Cancels a task. @throws {ExtensionsError} `TASK_ENDED` */
  cancel(task: Task): void {
    const { outcome } = task;
    if (outcome !== undefined) {
      throw new ExtensionsError("TASK_ENDED", "Cannot cancel task: it has ended", { rpcCode: -32602 });
    }
    const reason = new ExtensionsError("TASK_CANCELLED", "The client cancelled the task");
    task.end(
      { error: toRpcError(reason) as unknown as JsonObject, isCancelled: true },
      "The task was cancelled by request",
    );
    task.controller.abort(reason);
    void this.#deps.taskFiles?.save(task.stored());
  }

  /**
   * Ends the tasks of revoked tokens from now on, those of earlier runs too: they are cancelled at their servers.
   *
   * @param isRevoked whether the token that authenticated an identity is not accepted any more
   */
  endRevoked(isRevoked: (owner: Identity) => boolean): void {
    this.#isRevoked = isRevoked;
  }

  /** Leaves the tasks that servers run to the next start. Those calls end here without a record. */
  leave(): void {
    this.#isLeft = true;
    for (const { task } of this.#kept.values()) {
      if (task.outcome !== undefined || task.remote === undefined || this.#deps.taskFiles === undefined)
        continue;
      task.isLeft = true;
      task.controller.abort(new ExtensionsError("TASK_LEFT", "The gateway is being stopped"));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweeping);
    this.leave();
    for (const { task } of this.#kept.values()) {
      if (task.outcome === undefined)
        task.controller.abort(new ExtensionsError("TASK_LEFT", "The gateway is being stopped"));
    }
    await Promise.allSettled([...this.#running]);
    this.#kept.clear();
  }

  #create({ identity, era, clientCapabilities }: ServiceRequest, { tool, server, ttlMs }: TaskRequest): Task {
    if (this.#isLeft) throw new ExtensionsError("TASK_LEFT", "The gateway is being stopped");
    const refusal = this.#counts.refusalFor(identityKey(identity));
    if (refusal !== undefined) {
      this.#refused += 1;
      const { maxTasks } = this.#limits;
      const whose = refusal === "share" ? "This client's share of the tasks" : `All ${maxTasks} tasks`;
      throw new ExtensionsError("TASKS_FULL", `${whose} that are kept at a time are in use`, {
        hint: "wait until tasks of yours expire, or ask for a shorter ttl",
      });
    }
    const { taskTtlSeconds, taskTtlMaxSeconds } = this.#limits;
    const givenMs = ttlMs ?? taskTtlSeconds * 1000;
    const task = new Task(
      {
        id: Buffer.from(this.#deps.randomBytes(32)).toString("base64url"),
        owner: identity,
        era,
        tool,
        server,
        createdAt: this.#deps.now(),
        ttlMs: Math.min(Math.max(Math.ceil(givenMs), ttlMinMs), taskTtlMaxSeconds * 1000),
        clientCapabilities,
      },
      this.#deps.now,
    );
    this.#keep(task);
    return task;
  }

  #keep(task: Task): Kept {
    const kept = { task, holder: identityKey(task.facts.owner), places: 0 };
    this.#kept.set(task.id, kept);
    this.#counts.take(kept.holder);
    this.#sweeping ??= setInterval(() => this.#sweep(), sweepMs).unref();
    return kept;
  }

  #drop(id: string): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    this.#kept.delete(id);
    this.#counts.giveBack(kept.holder);
    this.#results.giveBack(kept.holder, kept.places);
    void this.#removeFile(kept.task);
  }

  /** The file of a task that its server still has to cancel stays while the gateway ends: the next run cancels it. */
  async #removeFile(task: Task): Promise<void> {
    await task.tracked;
    if ((await task.cancelling) !== false) await this.#deps.taskFiles?.remove(task.id);
  }

  /** Ends and removes the tasks whose time is over, and those of revoked tokens. */
  #sweep(): void {
    const now = this.#deps.now();
    for (const { task } of this.#kept.values()) {
      const isLate = task.expiresAt <= now;
      if (!isLate && !this.#isRevoked(task.facts.owner)) continue;
      // A server that is not there yet cannot cancel it: the task stays, in the home too, until it can or the time is over.
      if (!isLate && task.isUnheard && task.outcome === undefined) continue;
      task.controller.abort(
        isLate
          ? new ExtensionsError("TASK_EXPIRED", `The task did not end within ${task.facts.ttlMs / 1000} s`)
          : new ExtensionsError("TASK_CANCELLED", "The token of the client was revoked"),
      );
      this.#drop(task.id);
    }
    if (this.#kept.size > 0) return;
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }

  #originOf(
    task: Task,
    request: ServiceRequest | undefined,
    isIssued: () => boolean,
    issue: () => void,
  ): Omit<TaskOrigin, "onBegun" | "onDeadline"> {
    const { taskFiles: files } = this.#deps;
    const session = request?.session;
    const token = session === undefined ? undefined : progressTokenOf(request);
    const { ttlMs } = task.facts;
    const stored = task.remote;
    return {
      signal: task.controller.signal,
      task: {
        ttlMs,
        remote: stored,
        get isLeft() {
          return task.isLeft;
        },
        async accepted(remote) {
          task.accepted(remote);
          await files?.save(task.stored());
          issue();
        },
        changed(state) {
          task.isUnheard = false;
          task.changed(state);
        },
        lost: () => task.lost(),
        cancelling: (delivered) => task.cancels(delivered),
      },
      clientChannel: {
        progress(params) {
          if (!isIssued()) request?.progress(params);
          else if (token !== undefined)
            session?.notify(
              "notifications/progress",
              withRelated({ ...params, progressToken: token }, task.id),
            );
        },
        notify(method, params) {
          if (!isIssued()) request?.notify(method, params);
          else session?.notify(method, withRelated(params, task.id));
        },
        ask(method, params, signal) {
          const isLegacy = task.facts.era === "legacy";
          if (!isIssued() && isLegacy && request !== undefined) return request.ask(method, params, signal);
          const missing = missingCapability(task, method, params);
          if (missing !== undefined) return Promise.reject(missing);
          issue();
          return task.ask(method, withRelated(params, task.id), signal);
        },
      },
    };
  }

  /** Notes how the call of a task ends. */
  #track(
    task: Task,
    call: Promise<JsonObject>,
    era: ServiceRequest["era"],
  ): Promise<{ readonly result: JsonObject } | { readonly thrown: unknown }> {
    const ended = call.then(
      (result) => ({ result }),
      (thrown: unknown) => ({ thrown }),
    );
    const settled = ended.then((end) => {
      if (task.isLeft) return end;
      const kept = this.#kept.get(task.id);
      task.end("thrown" in end ? failureOf(end.thrown) : end, statusOf(end));
      if (kept !== undefined && task.outcome !== undefined) this.#holdResult(kept, task.outcome);
      if (kept !== undefined && task.call !== undefined) void this.#deps.taskFiles?.save(task.stored());
      return end;
    });
    const running = settled.catch((error: unknown) => {
      this.#deps.logger.error({ reason: messageOf(error), era }, "the end of a task could not be noted");
    });
    task.tracked = running;
    this.#running.add(running);
    void running.finally(() => this.#running.delete(running));
    return settled;
  }

  /** Keeps a result within the limits: the oldest results of its client make room. */
  #holdResult(kept: Kept, outcome: TaskOutcome): void {
    const { holder, task } = kept;
    const places = Math.ceil(jsonSize(outcome as unknown as JsonObject, sizeLimit) / bytesPerPlace);
    const fits = () => places <= this.#freePlaces(holder);
    for (const other of this.#kept.values()) {
      if (fits()) break;
      if (other === kept || other.holder !== holder || other.places === 0) continue;
      this.#forget(other);
    }
    if (!fits()) {
      const text = "The result of the task is too large to be kept";
      task.forget(failureOf(new ExtensionsError("TASK_RESULT_TOO_LARGE", text)));
      return;
    }
    this.#results.take(holder, places);
    kept.places = places;
  }

  /** Places that a holder can still take: of all together, and of its half. */
  #freePlaces(holder: string): number {
    const all = Math.ceil(this.#limits.taskResultsMaxBytes / bytesPerPlace);
    return Math.min(all - this.#results.count, Math.floor(all / 2) - this.#results.countOf(holder));
  }

  #forget(other: Kept): void {
    this.#results.giveBack(other.holder, other.places);
    other.places = 0;
    const text = "The result of the task is not kept any more: newer results needed the room";
    other.task.forget(failureOf(new ExtensionsError("TASK_RESULT_TOO_LARGE", text)));
    void this.#deps.taskFiles?.save(other.task.stored());
  }

  /** Reports changes of a task to the session that created it. */
  #notifySession(task: Task, { session }: ServiceRequest): void {
    if (session === undefined) return;
    let last = "";
    const remove = task.onChange(() => {
      const state = toLegacyTask(task);
      const { status, statusMessage } = state;
      const current = JSON.stringify([status, statusMessage]);
      if (current !== last) session.notify("notifications/tasks/status", state);
      last = current;
      if (task.outcome !== undefined) remove();
    });
    session.closed.addEventListener("abort", remove, { once: true });
  }
}

function failureOf(thrown: unknown): TaskOutcome {
  const code = (thrown as { readonly code?: unknown }).code;
  return {
    error: toRpcError(thrown) as unknown as JsonObject,
    isCancelled: code === "UPSTREAM_TASK_CANCELLED",
  };
}

/** Text about the end of a task that failed. */
function statusOf(end: { readonly result: JsonObject } | { readonly thrown: unknown }): string | undefined {
  return "thrown" in end ? messageOf(end.thrown) : undefined;
}
