/**
 * The writer numbers of a home. Each process that writes holds one of 256 numbers
 * by a lock that is released when it exits. It continues the segments and the
 * sequence of the last holder, so the sequence of a writer has no gap across
 * restarts, and a home has only as many writers as ever wrote at the same time.
 */

import { join } from "node:path";
import { NotRegularError, reasonOf } from "@toolcrib/files";
import { chainStart, hashLine } from "./hash-chain.ts";
import { type HomeLayout, listSegments, type SegmentName, toWriterId, writerMax } from "./home-layout.ts";
import { homeHint, lockHome } from "./home-lock.ts";
import { parseRecord } from "./parse-record.ts";
import { markRun, type RunMarker } from "./run-markers.ts";
import { type LineFragment, readFirstRecord, readSegmentEnd } from "./segment-end.ts";
import { StoreError } from "./store-error.ts";

/** The state that the last holder of a writer number left. */
export interface LaneState {
  /** Sequence number of the last record, 0 when there is none. */
  readonly lastSequence: number;
  /** Hash of the line of the last record (hash-chain.ts). */
  readonly lastHash: string;
  /** The newest segment of the writer, if any. */
  readonly segment: SegmentName | undefined;
  /** Milliseconds since the epoch of the newest segment's first record, if it is known. */
  readonly segmentStartedAt: number | undefined;
  /** The end of the newest segment. */
  readonly ending: LaneEnding;
  /** Lines after the last record that are none: what processes left that were killed while they started. */
  readonly fragments: readonly (LineFragment & { readonly segment: string })[];
}

/** A claimed writer number. */
export interface WriterLane extends LaneState {
  readonly writer: number;
  readonly lock: Disposable;
  /** Marks the run of this process. The holder removes it after the last record. */
  readonly run: RunMarker;
}

/** `whole`: with a line feed. `unended`: a complete record without its line feed. `torn`: an unfinished line. */
export type LaneEnding =
  | { readonly kind: "whole" | "unended" }
  | { readonly kind: "torn"; readonly position: number; readonly bytes: number };

/**
 * Claims the lowest free writer number of the home and reads the state of its segments.
 *
 * @param wanted claims this number; the result is `undefined` while another process holds it. @default any
 * @throws {StoreError} `STORE_WRITERS_EXHAUSTED`, `STORE_HOME_UNUSABLE`.
 */
export function claimWriterLane(layout: HomeLayout): WriterLane;
export function claimWriterLane(layout: HomeLayout, wanted: number | undefined): WriterLane | undefined;
export function claimWriterLane(layout: HomeLayout, wanted?: number): WriterLane | undefined {
  for (let writer = wanted ?? 1; writer <= (wanted ?? writerMax); writer += 1) {
    const lock = lockWriter(layout, writer);
    if (lock === undefined) continue;
    try {
      const state = readState(layout, writer);
      return { writer, lock, run: markRun(layout, writer, state.lastSequence), ...state };
    } catch (cause) {
      lock[Symbol.dispose]();
      if (cause instanceof StoreError) throw cause;
      throw new StoreError(
        "STORE_HOME_UNUSABLE",
        `Cannot use the audit segments in "${layout.auditDirectory}": ${reasonOf(cause)}`,
        { cause, hint: homeHint },
      );
    }
  }
  if (wanted !== undefined) return undefined;
  throw new StoreError(
    "STORE_WRITERS_EXHAUSTED",
    `${writerMax} processes write to "${layout.home}" already; that is the maximum`,
  );
}

/** Takes the lock of a writer number; `undefined` while a process writes under it. @throws {StoreError} `STORE_HOME_UNUSABLE` */
export function lockWriter(layout: HomeLayout, writer: number): Disposable | undefined {
  return lockHome(layout, `audit-writer-${toWriterId(writer)}`, "exclusive");
}

function readState(layout: HomeLayout, writer: number): LaneState {
  const segments = listSegments(layout.auditDirectory).filter((segment) => segment.writer === writer);
  const newest = segments.at(-1);
  if (newest === undefined) {
    return {
      lastSequence: 0,
      lastHash: chainStart,
      segment: undefined,
      segmentStartedAt: undefined,
      ending: { kind: "whole" },
      fragments: [],
    };
  }
  const path = join(layout.auditDirectory, newest.name);
  const end = namedErrors(path, () => readSegmentEnd(path, 1));
  let lastSequence = Number(end.records[0]?.sequence ?? 0);
  let { lastHash = chainStart } = end;
  const fragments = end.fragments.map((fragment) => ({ ...fragment, segment: newest.name }));
  // A crash between creating a segment and writing its first record leaves an empty segment.
  for (let at = segments.length - 2; lastSequence === 0 && at >= 0; at -= 1) {
    const { name } = segments[at]!;
    const earlierPath = join(layout.auditDirectory, name);
    const earlier = namedErrors(earlierPath, () => readSegmentEnd(earlierPath, 1));
    lastSequence = Number(earlier.records[0]?.sequence ?? 0);
    lastHash = earlier.lastHash ?? chainStart;
    const last = parseRecord(earlier.unfinished.toString("utf8"));
    if (last !== undefined && Number(last.sequence) === lastSequence + 1) {
      lastSequence += 1;
      lastHash = hashLine(earlier.unfinished);
    } else {
      fragments.push(...earlier.fragments.map((fragment) => ({ ...fragment, segment: name })));
      if (earlier.unfinished.length > 0)
        fragments.push({ segment: name, position: earlier.completeBytes, bytes: earlier.unfinished.length });
    }
  }
  let ending: LaneEnding = { kind: "whole" };
  if (end.unfinished.length > 0) {
    const record = parseRecord(end.unfinished.toString("utf8"));
    if (record !== undefined && Number(record.sequence) === lastSequence + 1) {
      ending = { kind: "unended" };
      lastSequence += 1;
      lastHash = hashLine(end.unfinished);
    } else {
      ending = { kind: "torn", position: end.completeBytes, bytes: end.unfinished.length };
    }
  }
  const first = readFirstRecord(path);
  const segmentStartedAt = first === undefined ? undefined : Date.parse(first.time);
  return { lastSequence, lastHash, segment: newest, segmentStartedAt, ending, fragments };
}

/** Says which path has the name of a segment and is none. @throws {StoreError} `STORE_HOME_UNUSABLE` */
function namedErrors<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof NotRegularError)) throw cause;
    throw new StoreError(
      "STORE_HOME_UNUSABLE",
      `Cannot use "${path}" as an audit segment: ${cause.message}`,
      {
        cause,
        hint: `move it out of the folder: mv "${path}" ELSEWHERE`,
      },
    );
  }
}
