/**
 * Reads a segment before retention deletes it. What is signed about its end stands for its records from then on: it is the
 * record from which the next segment goes on, and not simply the last line, which anybody who can write to the home can add.
 * What is not as it was written is named in the record of the deletion, which outlives the segment.
 */

import { basename } from "node:path";
import type { AuditRecord, AuditRecovered } from "./audit-event.ts";
import type { Tombstone } from "./audit-heads.ts";
import { chainStart, hashLine } from "./hash-chain.ts";
import { parseRecord } from "./parse-record.ts";
import { openSegment } from "./segment-file.ts";
import { type SegmentLine, segmentLines } from "./segment-lines.ts";

/** A record as the one after it knows it. */
interface ChainLink {
  readonly sequence: number;
  /** Hash of its line; undefined where the record after it has none, as those of earlier versions. */
  readonly hash: string | undefined;
}

/** A record of the segment. */
interface Link extends ChainLink {
  readonly hash: string;
  /** Its number, as it is written. */
  readonly written: string;
}

/** What is known about the records before and after a segment. */
export interface SegmentNeighbours {
  /** What retention deleted of the writer before; `unknown` where nothing signs that. */
  readonly deleted: Tombstone | "unknown" | undefined;
  /** Path of the next segment with a record; undefined where there is none. */
  readonly nextPath: string | undefined;
}

/** The records of a segment. */
export interface DeletedChain {
  /** Sequence number of the first record, as it is written; undefined without one. */
  readonly firstSequence: string | undefined;
  /** The record up to which the trail is deleted with the segment; undefined where none was, or none is known. */
  readonly end: { readonly sequence: string; readonly hash: string } | undefined;
  /** What is not as it was written, for people. At most 10. */
  readonly findings: readonly string[];
}

const findingsMaxCount = 10;
/** Lines that are no records, of which it is looked for an explanation: a start names 100. */
const tornMaxCount = 1000;
/** Lines at the beginning of the next segment that can say what a crash left at the end of this one. */
const startLines = 100;

/**
 * Follows the chain of `writer` in the segment at `path`.
 *
 * @param writer three digits
 * @throws {NotRegularError}; the file system's error
 */
export async function followDeletedChain(
  path: string,
  writer: string,
  { deleted, nextPath }: SegmentNeighbours,
): Promise<DeletedChain> {
  const torn = new Set<string>();
  const next = nextPath === undefined ? undefined : await readStart(nextPath, writer, torn);
  const chain = new SegmentChain(writer, { deleted, next, torn });
  using segment = openSegment(path);
  for await (const line of segmentLines(segment.descriptor)) chain.take(line);
  return { firstSequence: chain.firstSequence, end: chain.end, findings: chain.findings(basename(path)) };
}

/**
 * Reads the beginning of the next segment.
 *
 * @param torn gets the unfinished lines that it names
 * @returns the record that it goes on from; undefined where its first line is no record of `writer`
 */
async function readStart(path: string, writer: string, torn: Set<string>): Promise<ChainLink | undefined> {
  using segment = openSegment(path);
  let link: ChainLink | undefined;
  let at = 0;
  for await (const { line } of segmentLines(segment.descriptor)) {
    const record = parseRecord(line.toString("utf8"));
    if (at === 0 && record?.writer === writer)
      link = { sequence: Number(record.sequence) - 1, hash: record.previous };
    if (record?.type === "audit.recovered") addTorn(torn, record.data);
    at += 1;
    if (at === startLines) break;
  }
  return link;
}

/** Adds the unfinished lines that a start found, each as `segment position bytes`. @param data from a record, which somebody else can have written */
function addTorn(torn: Set<string>, data: unknown): void {
  const { others } = data as Partial<AuditRecovered>;
  for (const one of [data, ...(Array.isArray(others) ? others : [])]) {
    const { segment, position, bytes } = (one ?? {}) as Partial<AuditRecovered>;
    torn.add(`${segment} ${position} ${bytes}`);
  }
}

/** The records of one segment, line by line. */
class SegmentChain {
  readonly #writer: string;
  readonly #deleted: SegmentNeighbours["deleted"];
  readonly #next: ChainLink | undefined;
  /** Unfinished lines that a start found. */
  readonly #torn: Set<string>;
  readonly #breaks: string[] = [];
  /** `position bytes` of lines that are no records, as far as they can be explained. */
  readonly #unreadable: string[] = [];
  #unreadableCount = 0;
  #foreignCount = 0;
  #isChained = false;
  #first: { readonly sequence: number; readonly written: string; isProved: boolean } | undefined;
  #last: Link | undefined;
  /** The record that the next segment goes on from. */
  #followed: Link | undefined;

  constructor(
    writer: string,
    {
      deleted,
      next,
      torn,
    }: Pick<SegmentNeighbours, "deleted"> & {
      readonly next: ChainLink | undefined;
      readonly torn: Set<string>;
    },
  ) {
    this.#writer = writer;
    this.#deleted = deleted;
    this.#next = next;
    this.#torn = torn;
  }

  get firstSequence(): string | undefined {
    return this.#first?.written;
  }

  take({ line, position, length }: SegmentLine): void {
    const record = parseRecord(line.toString("utf8"));
    if (record === undefined) {
      this.#unreadableCount += 1;
      if (this.#unreadable.length < tornMaxCount) this.#unreadable.push(`${position} ${length}`);
      return;
    }
    if (record.writer !== this.#writer) {
      this.#foreignCount += 1;
      return;
    }
    if (record.type === "audit.recovered") addTorn(this.#torn, record.data);
    this.#takeRecord(
      { sequence: Number(record.sequence), written: record.sequence, hash: hashLine(line) },
      record,
    );
  }

  #takeRecord(link: Link, { previous }: Pick<AuditRecord, "previous">): void {
    const { sequence, written, hash } = link;
    const last = this.#last;
    if (last === undefined)
      this.#first = { sequence, written, isProved: this.#isStart({ sequence, hash: previous }) };
    else if (sequence !== last.sequence + 1 || (previous !== undefined && previous !== last.hash))
      this.#break(`record ${sequence} does not follow record ${last.sequence}`);
    if (previous !== undefined) this.#isChained = true;
    else if (this.#isChained) this.#break(`record ${sequence} has no hash of the line before it`);
    const deleted = this.#deleted === "unknown" ? undefined : this.#deleted;
    // It was about to be deleted once before, and its end was signed.
    if (this.#first !== undefined && deleted?.lastSequence === sequence && deleted.lastHash === hash)
      this.#first.isProved = true;
    const next = this.#next;
    if (next?.sequence === sequence && (next.hash === undefined || next.hash === hash)) this.#followed = link;
    this.#last = link;
  }

  #break(finding: string): void {
    if (this.#breaks.length < findingsMaxCount) this.#breaks.push(finding);
  }

  /** Whether a first record is the first of the trail, or follows what retention deleted. */
  #isStart({ sequence, hash }: ChainLink): boolean {
    const deleted = this.#deleted;
    if (deleted === "unknown") return true;
    if (sequence === 1) return hash === undefined || hash === chainStart;
    return deleted?.lastSequence === sequence - 1 && (hash === undefined || hash === deleted.lastHash);
  }

  /** The record for `DeletedChain`. What the next segment states counts, also where that record is not here any more. */
  get end(): DeletedChain["end"] {
    const next = this.#next;
    const isWhole = next === undefined && this.#breaks.length === 0 && this.#first?.isProved === true;
    const found = this.#followed ?? (isWhole ? this.#last : undefined);
    if (found !== undefined) return { sequence: found.written, hash: found.hash };
    if (next?.hash === undefined || next.sequence === 0) return undefined;
    return { sequence: String(next.sequence).padStart(16, "0"), hash: next.hash };
  }

  /** @param segment file name of the segment */
  findings(segment: string): readonly string[] {
    const explained = this.#unreadable.filter((place) => this.#torn.has(`${segment} ${place}`)).length;
    const unexplained = this.#unreadableCount - explained;
    const found = [
      ...(this.#first?.isProved === false ? [`the records before ${this.#first.sequence} are missing`] : []),
      ...(unexplained === 0 ? [] : [`${unexplained} of its lines are no records, and no crash left them`]),
      ...(this.#foreignCount === 0
        ? []
        : [`${this.#foreignCount} of its records are those of another writer`]),
      ...this.#breaks.slice(0, findingsMaxCount - 4),
      ...this.#endFindings(),
    ];
    return found;
  }

  #endFindings(): readonly string[] {
    const next = this.#next;
    const last = this.#last;
    if (next === undefined || this.#followed !== undefined) return [];
    // A process that was killed leaves a segment without a record.
    if (last === undefined && this.#isStart({ sequence: next.sequence + 1, hash: next.hash })) return [];
    const known = last?.sequence ?? (typeof this.#deleted === "object" ? this.#deleted.lastSequence : 0);
    if (known < next.sequence) {
      const [from, to] = [known + 1, next.sequence];
      return [from === to ? `record ${to} is missing` : `the records from ${from} to ${to} are missing`];
    }
    return [
      `its last record is not the one that the next segment goes on from: it or an earlier one was changed`,
    ];
  }
}
