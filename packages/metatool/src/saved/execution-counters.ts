/**
 * The execution counters of saved tools. Executions are counted in memory and
 * written in batches to `.counters.json` next to the tools, so that a call never
 * rewrites the file of a tool. The file contains totals, not differences, and the
 * larger of two totals wins: writing a total twice, or also into the file of the
 * tool, changes nothing.
 *
 * A total belongs to one creation of a tool, identified by its creation time. The
 * total of a tool that was deleted and created again does not count.
 */

import { isJsonObject, type JsonObject, parseJson } from "@toolcrib/json";
import type { SavedToolMetadata } from "@toolcrib/store";

/** The file of the counters. Names of tools do not start with a full stop. */
export const countersFileName = ".counters.json";
/** Longest file of counters in bytes; a thousand tools need a fifth of it. */
export const countersMaxBytes = 1024 * 1024;

/** The executions of one tool. */
export interface ExecutionTotal {
  /** `metadata.created` of the tool that was executed. */
  readonly created: string;
  readonly executionCount: number;
  readonly lastExecuted?: string;
}

/** By the names of the tools. */
export type ExecutionTotals = ReadonlyMap<string, ExecutionTotal>;

/** Executions that are not written yet. */
export interface PendingExecutions {
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly lastAtMs: number;
}

/** Parses the file of counters; `undefined` when it is damaged. */
export function parseCounters(text: string): ExecutionTotals | undefined {
  let document: unknown;
  try {
    document = parseJson(text);
  } catch {
    // Any error means damage: only the store writes this file, and it replaces it.
    return undefined;
  }
  if (!isJsonObject(document) || document["version"] !== "1.0") return undefined;
  const { tools } = document;
  if (!isJsonObject(tools)) return undefined;
  const totals = new Map<string, ExecutionTotal>();
  for (const [name, total] of Object.entries(tools)) {
    if (!isTotal(total)) return undefined;
    totals.set(name, total);
  }
  return totals;
}

function isTotal(value: unknown): value is JsonObject & ExecutionTotal {
  if (!isJsonObject(value)) return false;
  const { created, executionCount, lastExecuted } = value;
  const isCount = Number.isSafeInteger(executionCount) && Number(executionCount) >= 0;
  const isTime = lastExecuted === undefined || !Number.isNaN(Date.parse(String(lastExecuted)));
  return typeof created === "string" && isCount && isTime;
}

/** Formats the file of counters. */
export function formatCounters(totals: ExecutionTotals): string {
  return `${JSON.stringify({ version: "1.0", tools: Object.fromEntries(totals) }, undefined, 2)}\n`;
}

/**
 * Returns the metadata of a tool with all its executions: those in its file, in the
 * file of counters, and in memory.
 */
export function withExecutions(
  metadata: SavedToolMetadata,
  total: ExecutionTotal | undefined,
  pending: PendingExecutions | undefined,
): SavedToolMetadata {
  const written = total?.created === metadata.created ? total : undefined;
  const count = Math.max(metadata.executionCount, written?.executionCount ?? 0) + (pending?.count ?? 0);
  const lastExecuted = latest([
    metadata.lastExecuted,
    written?.lastExecuted,
    pending === undefined ? undefined : new Date(pending.lastAtMs).toISOString(),
  ]);
  return {
    ...metadata,
    executionCount: count,
    ...(lastExecuted === undefined ? {} : { lastExecuted }),
  };
}

/** Takes the executions of `batch`, which are written, out of `pending`. @returns how many those are */
export function subtractExecutions(
  pending: Map<string, PendingExecutions>,
  batch: ReadonlyMap<string, PendingExecutions>,
): number {
  let written = 0;
  for (const [name, { count }] of batch) {
    written += count;
    const left = pending.get(name);
    if (left === undefined) continue;
    if (left.count <= count) pending.delete(name);
    else pending.set(name, { ...left, count: left.count - count });
  }
  return written;
}

function latest(times: readonly (string | undefined)[]): string | undefined {
  return times.reduce((best, one) => {
    if (best === undefined || one === undefined) return best ?? one;
    return Date.parse(one) > Date.parse(best) ? one : best;
  });
}
