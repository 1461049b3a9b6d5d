/**
 * Reads a segment before retention deletes it. What is signed about its end stands for its records from then on, so that
 * end is not simply its last line: it is the record that the next segment goes on from. What is
 * not as it was written is named in the record of the deletion, which outlives the segment.
 */

import type { Tombstone } from "./audit-heads.ts";
import { chainStart, hashLine } from "./hash-chain.ts";
import { parseRecord } from "./parse-record.ts";
import { openSegment } from "./segment-file.ts";
import { segmentLines } from "./segment-lines.ts";

/** A record as the one after it knows it. */
interface ChainLink {
  readonly sequence: number;
  /** Hash of its line; undefined where the record after it has none, as those of earlier versions. */
  readonly hash: string | undefined;
}

/** What is known about the records before and after a segment. */
export interface SegmentNeighbours {
  /** What retention deleted of the writer before; `unknown` where nothing signs that. */
  readonly deleted: Tombstone | "unknown" | undefined;
  /** The record that the next segment goes on from; undefined where its first line is no record. */
  readonly next: ChainLink | undefined;
}

/** The records of a segment. */
export interface DeletedChain {
  /** Sequence number of the first record, as it is written; undefined without one. */
  readonly firstSequence: string | undefined;
  /** The record up to which the trail is deleted with the segment; undefined where nothing connects its records to those before and after it. */
  readonly end: { readonly sequence: string; readonly hash: string } | undefined;
  /** What is not as it was written, for people. At most 10. */
  readonly findings: readonly string[];
}

const findingsMaxCount = 10;

/**
 * Follows the chain of `writer` in the segment at `path`.
 *
 * @param writer three digits
 * @throws {NotRegularError}; the file system's error
 */
export async function followDeletedChain(
  path: string,
  writer: string,
  { deleted, next }: SegmentNeighbours,
): Promise<DeletedChain> {
  using segment = openSegment(path);
  const signed = deleted === "unknown" ? undefined : deleted;
  const breaks: string[] = [];
  let foreign = 0;
  let firstSequence: string | undefined;
  /** The first record, where nothing proves yet what it begins with. */
  let unproved: number | undefined;
  let before: ChainLink | undefined;
  /** The last record before the first break. */
  let unbroken: DeletedChain["end"];
  let followed: DeletedChain["end"];
  for await (const { line } of segmentLines(segment.descriptor)) {
    const record = parseRecord(line.toString("utf8"));
    // A line that is none is what a crash left, or was changed: then the record after it does not follow.
    if (record === undefined) continue;
    if (record.writer !== writer) {
      foreign += 1;
      continue;
    }
    const { previous } = record;
    const sequence = Number(record.sequence);
    const hash = hashLine(line);
    if (before === undefined) {
      firstSequence = record.sequence;
      if (deleted !== "unknown" && !isStart({ sequence, hash: previous }, deleted)) unproved = sequence;
    } else if (sequence !== before.sequence + 1 || (previous !== undefined && previous !== before.hash)) {
      if (breaks.length < findingsMaxCount)
        breaks.push(`record ${sequence} does not follow record ${before.sequence}`);
    }
    // It was about to be deleted once before, and its end was signed.
    if (signed?.lastSequence === sequence && signed.lastHash === hash) unproved = undefined;
    const here = { sequence: record.sequence, hash };
    if (breaks.length === 0) unbroken = here;
    if (next?.sequence === sequence && (next.hash === undefined || next.hash === hash)) followed = here;
    before = { sequence, hash };
  }
  const found = [
    ...(unproved === undefined ? [] : [`the records before ${unproved} are missing`]),
    ...(foreign === 0 ? [] : [`${foreign} of its records are those of another writer`]),
    ...breaks,
  ];
  return {
    firstSequence,
    end: followed ?? (unproved === undefined ? unbroken : undefined),
    findings: found.slice(0, findingsMaxCount),
  };
}

/** Whether a first record is the first of the trail, or follows what retention deleted. */
function isStart({ sequence, hash }: ChainLink, deleted: Tombstone | undefined): boolean {
  if (sequence === 1) return hash === undefined || hash === chainStart;
  return deleted?.lastSequence === sequence - 1 && (hash === undefined || hash === deleted.lastHash);
}
