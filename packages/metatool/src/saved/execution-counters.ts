/**
 * How often saved tools were executed. Executions are counted in memory and
 * written now and then, all of them at once, to `.counters.json` beside the
 * tools, so that a call never rewrites a tool's file. The numbers there are
 * totals, not differences, and the larger of two totals counts: writing the
 * same one twice, or into a tool's file as well, adds nothing.
 *
 * A total belongs to one life of a tool, told by its time of creation. That of
 * a tool which was deleted and made anew does not count.
 */

import { isJsonObject, type JsonObject, parseJson } from "@toolcrib/json";
import type { SavedToolMetadata } from "./saved-tool.ts";

/** The file of the counters. Its first character keeps it apart from tools. */
export const countersFileName = ".counters.json";
/** Longest file of counters in bytes; a thousand tools take a fifth of it. */
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

/** The totals of a file's text; `undefined` when it is damaged. */
export function parseCounters(text: string): ExecutionTotals | undefined {
  let document: unknown;
  try {
    document = parseJson(text);
  } catch {
    // Whatever is wrong with it: it is written by nobody but the store, and is replaced.
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

/** The text of the file that holds `totals`. */
export function formatCounters(totals: ExecutionTotals): string {
  return `${JSON.stringify({ version: "1.0", tools: Object.fromEntries(totals) }, undefined, 2)}\n`;
}

/**
 * The metadata of a tool with all that is known of its executions: its file's
 * own, the total beside it, and what waits in memory.
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

function latest(times: readonly (string | undefined)[]): string | undefined {
  return times.reduce((best, one) => {
    if (best === undefined || one === undefined) return best ?? one;
    return Date.parse(one) > Date.parse(best) ? one : best;
  });
}
