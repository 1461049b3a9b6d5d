/**
 * Completes the records of runs that were killed: each call that has an intent and no
 * completion gets one with the outcome `unknown`, because nobody knows whether the
 * tool was executed. The process that starts next does this for all writers of the
 * home that no process holds.
 *
 * A marker is removed only after the completions are written. A process that is
 * killed meanwhile leaves the rest to the next one, and no call is completed twice.
 */

import type { AuditRecord, CallCompleted } from "./audit-event.ts";
import type { HomeLayout } from "./home-layout.ts";
import { listRunMarkers, type RunMarker, unmarkRun } from "./run-markers.ts";
import { lockWriter } from "./writer-lane.ts";

/** Intents without a completion, of one writer and of a range of its records. */
export interface UnfinishedQuery {
  readonly writer: number;
  /** Only records after this sequence number. */
  readonly after: number;
  /** Only records up to this sequence number. */
  readonly through: number;
}

/** Maximum number of intents in one answer to an `UnfinishedQuery`. */
export const unfinishedMax = 1000;

/** Dependencies of the completion of killed runs. */
export interface KilledRunDeps {
  readonly layout: HomeLayout;
  /** The run of this process, and the last record before it. */
  readonly own: RunMarker;
  /** Returns the first unfinished intents of the query, at most `unfinishedMax`. */
  readonly unfinished: (query: UnfinishedQuery) => Promise<readonly AuditRecord<"call.intent">[]>;
  /** Ids of calls that go on, and get their completions when they end. @default none */
  readonly openCalls?: ReadonlySet<string> | undefined;
  /** Resolves when the record is written. */
  readonly record: (data: CallCompleted) => Promise<void>;
}

/** Completes all killed runs of the home. @throws the error of the index, the record or the file system. */
export async function closeKilledRuns(deps: KilledRunDeps): Promise<void> {
  const { layout, own } = deps;
  for (const marker of listRunMarkers(layout)) {
    if (marker.name === own.name) continue;
    // This process holds the lock of its own writer.
    using lock = marker.writer === own.writer ? undefined : lockWriter(layout, marker.writer);
    if (marker.writer !== own.writer && lock === undefined) continue;
    await closeCalls(deps, marker);
    unmarkRun(layout, marker);
  }
}

async function closeCalls(
  { own, unfinished, openCalls, record }: KilledRunDeps,
  marker: RunMarker,
): Promise<void> {
  const { writer } = marker;
  const through = writer === own.writer ? own.after : Number.MAX_SAFE_INTEGER;
  for (let { after } = marker; ; ) {
    const intents = await unfinished({ writer, after, through });
    const ended = intents.filter(({ data }) => openCalls?.has(data.callId) !== true);
    await Promise.all(ended.map(({ data }) => record(toUnknown(data))));
    const last = intents.at(-1);
    if (last === undefined || intents.length < unfinishedMax) return;
    after = Number(last.sequence);
  }
}

/** The completion of a call that was in flight when its process was killed. */
function toUnknown(intent: AuditRecord<"call.intent">["data"]): CallCompleted {
  const { callId, parentId, continues, depth, client, owners, tool, origin, server } = intent;
  return {
    callId,
    ...(parentId === undefined ? {} : { parentId }),
    ...(continues === undefined ? {} : { continues }),
    depth,
    client,
    ...(owners === undefined ? {} : { owners }),
    tool,
    origin,
    ...(server === undefined ? {} : { server }),
    outcome: "unknown",
  };
}
