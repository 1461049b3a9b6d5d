/** Feeds the calls of the audit trail into a window: those of the last seconds, and new ones as they are recorded. */

import type { AuditRecord } from "@toolcrib/store";
import type { TrailReader } from "../audit/find-call.ts";
import type { CallWindow } from "./call-window.ts";

/** Pages of records that are read for the beginning of a window, of 1,000 each. */
const pagesMaxCount = 200;
const pageLength = 1000;

/** Adds the records from `since` to before `until`. */
export async function readCalls(
  reader: Pick<TrailReader, "list">,
  window: CallWindow,
  { since, until }: { readonly since: number; readonly until: number },
): Promise<void> {
  const records: AuditRecord[] = [];
  for (let page = 0; page < pagesMaxCount; page += 1) {
    const before = records.at(-1);
    const next = await reader.list({
      since,
      until,
      type: ["call.intent", "call.completed", "call.denied"],
      limit: pageLength,
      ...(before === undefined ? {} : { before }),
    });
    records.push(...next);
    if (next.length < pageLength) break;
  }
  for (const record of records.toReversed()) window.add(record);
}

/**
 * Follows the trail until `signal` aborts. The records from before `from` were read by `readCalls`: of those, only
 * ends of calls are taken.
 */
export async function followCalls(
  reader: Pick<TrailReader, "tail">,
  window: CallWindow,
  { from, signal }: { readonly from: number; readonly signal: AbortSignal },
): Promise<void> {
  try {
    for await (const record of reader.tail({ limit: 0, follow: true, signal })) {
      if (Date.parse(record.time) >= from) window.add(record);
      else if (record.type === "call.completed") window.end(record.data.callId);
    }
  } catch (error) {
    // The view normally ends by a key or a signal.
    if (!signal.aborted) throw error;
  }
}
