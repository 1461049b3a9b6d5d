/**
 * Tasks on the wire: in the form of revision 2025-11-25, and in that of the extension `io.modelcontextprotocol/tasks`
 * of revision 2026-07-28. Pure.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { McpError, metaOf, rpcCodes, toRpcError } from "@toolcrib/mcp";
import { failedResult } from "@toolcrib/tool";
import type { ExtensionsError } from "../extensions-error.ts";
import type { Task } from "./task.ts";

/** Id of the extension of 2026-07-28. */
export const tasksExtension = "io.modelcontextprotocol/tasks";

/** The member of `_meta` that relates a message to a task (2025-11-25). */
export const relatedTask = "io.modelcontextprotocol/related-task";

/** Returns the state of a task as 2025-11-25 spells it. A failed tool is a failed task. */
export function toLegacyTask(task: Task, withheld?: ExtensionsError): JsonObject {
  const { id, facts, updatedAt, pollIntervalMs, outcome, isAsking } = task;
  const statusMessage = withheld?.message ?? task.statusMessage;
  const isFailed = outcome !== undefined && "result" in outcome && outcome.result["isError"] === true;
  return {
    taskId: id,
    status:
      outcome === undefined
        ? isAsking
          ? "input_required"
          : "working"
        : isFailed
          ? "failed"
          : endOf(outcome),
    ...(statusMessage === undefined ? {} : { statusMessage }),
    createdAt: new Date(facts.createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttl: facts.ttlMs,
    pollInterval: pollIntervalMs,
  };
}

/** Returns the state of a task as the extension spells it, without its result, error and questions. */
export function toModernTask(task: Task, withheld?: ExtensionsError): JsonObject {
  const { id, facts, updatedAt, pollIntervalMs, outcome, isAsking } = task;
  const statusMessage = withheld?.message ?? task.statusMessage;
  const working = isAsking && withheld === undefined ? "input_required" : "working";
  return {
    taskId: id,
    status: outcome === undefined ? working : endOf(outcome),
    ...(statusMessage === undefined ? {} : { statusMessage }),
    createdAt: new Date(facts.createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs: facts.ttlMs,
    pollIntervalMs,
  };
}

/**
 * Returns everything about a task that the extension shows: its state, and its result, error or questions.
 *
 * @param withheld why its client gets none of these
 */
export function toDetailedTask(task: Task, withheld?: ExtensionsError): JsonObject {
  const { outcome, isAsking } = task;
  const state = toModernTask(task, withheld);
  if (withheld !== undefined) {
    if (outcome === undefined || state["status"] === "cancelled") return state;
    if ("result" in outcome) return { ...state, result: complete(toWithheldResult(task, withheld)) };
    return { ...state, error: toRpcError(withheld) as unknown as JsonObject };
  }
  if (isAsking) return { ...state, inputRequests: withoutRelated(task.questions()) };
  if (outcome === undefined) return state;
  if ("result" in outcome) return { ...state, result: complete(outcome.result) };
  return outcome.isCancelled ? state : { ...state, error: outcome.error };
}

/** Clients check the result of a task as that of its call, which has this member in its revision. */
function complete(result: JsonObject): JsonObject {
  return { resultType: "complete", ...result };
}

function endOf(outcome: NonNullable<Task["outcome"]>): "completed" | "failed" | "cancelled" {
  if ("result" in outcome) return "completed";
  return outcome.isCancelled ? "cancelled" : "failed";
}

/** Returns the result that a client gets in place of one that is withheld: that of a call that was not allowed. */
export function toWithheldResult({ call }: Task, withheld: ExtensionsError): JsonObject {
  return failedResult(withheld, call?.subject.callId ?? "") as unknown as JsonObject;
}

/** Returns the result of the request that a task stands for. @throws {McpError} its error */
export function toResult(task: Task): JsonObject {
  const { outcome } = task;
  if (outcome === undefined) throw new TypeError("The task has not ended");
  if ("result" in outcome) return withRelated(outcome.result, task.id);
  const { code, message, data } = outcome.error;
  throw new McpError("MCP_REMOTE_ERROR", typeof message === "string" ? message : "The task failed", {
    rpcCode: typeof code === "number" ? code : rpcCodes.internalError,
    rpcData: data,
  });
}

/** Adds the id of its task to the `_meta` of a message. */
export function withRelated(message: JsonObject, id: string): JsonObject {
  return { ...message, _meta: { ...metaOf(message), [relatedTask]: { taskId: id } } };
}

/** The questions of a task without the member that only revision 2025-11-25 knows. */
function withoutRelated(questions: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(questions).map(([key, question]) => {
      const { method, params } = question as { readonly method: string; readonly params: JsonObject };
      const { elicitationId: _id, _meta: meta, ...rest } = params;
      if (!isJsonObject(meta)) return [key, { method, params: rest }];
      const { [relatedTask]: _related, ...kept } = meta;
      return [key, { method, params: Object.keys(kept).length === 0 ? rest : { ...rest, _meta: kept } }];
    }),
  );
}
