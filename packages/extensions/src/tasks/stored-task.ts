/**
 * A task as it is kept in the home: what is needed to find it for its owner, to follow the task of the server after a
 * restart, and to record how its call ends. Pure.
 */

import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import type { AuditCallSubject } from "@toolcrib/store";
import type { Era, Identity } from "@toolcrib/tool";

/** The outcome of the request of a task: its result, or its JSON-RPC error. */
export type TaskOutcome =
  | { readonly result: JsonObject }
  | { readonly error: JsonObject; readonly isCancelled: boolean };

/** The task of a server. */
export interface RemoteTask {
  readonly id: string;
  readonly era: Era;
}

/** The governed call that a task is. */
export interface TaskCall {
  readonly subject: AuditCallSubject;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Its arguments as hooks see them; absent where no hook is asked. */
  readonly shownArguments?: JsonObject | undefined;
  /** Its arguments as the policy saw them; absent where they are too large to be kept. */
  readonly arguments?: JsonObject | undefined;
}

/** One task in the home. */
export interface StoredTask {
  readonly id: string;
  readonly owner: Identity;
  /** The era of the client that created it. */
  readonly era: Era;
  /** Id of the tool. */
  readonly tool: string;
  /** Id of the server. */
  readonly server: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly ttlMs: number;
  readonly clientCapabilities: JsonObject;
  readonly pollIntervalMs?: number | undefined;
  readonly statusMessage?: string | undefined;
  readonly remote?: RemoteTask | undefined;
  readonly call?: TaskCall | undefined;
  readonly outcome?: TaskOutcome | undefined;
}

/** Version of the form of the files. */
const version = 1;

/** Returns the text of the file of a task. */
export function formatTask(task: StoredTask): string {
  return `${JSON.stringify({ version, ...task })}\n`;
}

/** Returns the task of a file; undefined for one of another form. */
export function parseTask(text: string): StoredTask | undefined {
  const value = jsonOf(text);
  if (!isJsonObject(value) || value["version"] !== version) return undefined;
  const { version: _version, ...task } = value;
  return isStoredTask(task) ? (task as unknown as StoredTask) : undefined;
}

function jsonOf(text: string): JsonValue | undefined {
  try {
    return parseJson(text, { maxLength: textMaxLength });
  } catch {
    return undefined;
  }
}

/** Longest text of a file, in UTF-16 units. */
const textMaxLength = 40 * 1024 * 1024;

/** The last time of a `Date`, in milliseconds since the epoch. */
const timeMax = 8.64e15;

function isStoredTask(task: JsonObject): boolean {
  const { id, owner, era, tool, server, clientCapabilities, remote, call, outcome } = task;
  const texts = [id, tool, server];
  const times = [task["createdAt"], task["updatedAt"], task["ttlMs"]];
  return (
    texts.every((text) => typeof text === "string") &&
    times.every((time) => Number.isSafeInteger(time) && Math.abs(time as number) <= timeMax) &&
    (era === "legacy" || era === "modern") &&
    isJsonObject(clientCapabilities) &&
    isIdentity(owner) &&
    (remote === undefined || (isJsonObject(remote) && typeof remote["id"] === "string")) &&
    (call === undefined || isCall(call)) &&
    (outcome === undefined ||
      (isJsonObject(outcome) && (isJsonObject(outcome["result"]) || isJsonObject(outcome["error"]))))
  );
}

function isCall(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { subject, arguments: args, startedAt } = value;
  const isSubject =
    isJsonObject(subject) && typeof subject["callId"] === "string" && isJsonObject(subject["client"]);
  return isSubject && Number.isSafeInteger(startedAt) && (args === undefined || isJsonObject(args));
}

function isIdentity(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { issuer, subject, name, roles, credential = "" } = value;
  return (
    [issuer, subject, name, credential].every((text) => typeof text === "string") && Array.isArray(roles)
  );
}
