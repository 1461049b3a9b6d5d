/**
 * Follows the chain of one writer, record by record, and collects what is not as it was written. No I/O.
 *
 * It is one piece, because each finding depends on the state that the records before it left.
 */

import type { AuditDamaged, AuditKeyNamed, AuditPruned, AuditRecord, AuditRecovered } from "./audit-event.ts";
import type { SignedHead, StoredHead, Tombstone } from "./audit-heads.ts";
import { chainStart, hashLine } from "./hash-chain.ts";
import { parseRecord } from "./parse-record.ts";
import type { SegmentLine } from "./segment-lines.ts";
import { type TrailFinding, toFinding } from "./trail-findings.ts";
import { isOfStart, UnsignedTail } from "./unsigned-tail.ts";
import type { WriterAnchors } from "./verify-anchors.ts";

/** Findings of one report. */
export const findingsMaxCount = 1000;
/** Characters of what a record says that a start found. */
const foundMaxLength = 2000;
/** Characters of a key that a record names: a digest has fewer. */
const keyMaxLength = 100;

/** The records of one writer. */
export interface VerifiedWriter {
  /** Three digits. */
  readonly writer: string;
  readonly segments: number;
  readonly records: number;
  /** Sequence numbers of the first and of the last record; 0 without records. */
  readonly firstSequence: number;
  readonly lastSequence: number;
  /** Records at the beginning without a hash: earlier versions wrote none. */
  readonly unchainedRecords: number;
  /** Hash of the last line: kept in another place, it proves later that nothing before it was changed. */
  readonly lastHash: string;
  /** Sequence number of the record that a signed head proves; absent without a valid head. */
  readonly provedSequence?: number;
  /** Sequence number of the last record that an anchor proves; absent without anchors, 0 when none matches. */
  readonly anchoredSequence?: number;
}

/** A part of a record after the last record of a writer: its process was killed in the middle of a write, or is writing it. */
export interface UnfinishedLine {
  readonly segment: string;
  /** From 1. */
  readonly line: number;
  readonly bytes: number;
}

/** The statements of the whole home about one writer, read after its records. */
export interface WriterContext {
  /** The head that was read before the records. */
  readonly head: StoredHead;
  /** The head that is stored now: later than `head` where a gateway is running. */
  readonly headNow: StoredHead;
  readonly isListed: boolean;
  /** Whether the list of writers counts at all: it is missing or invalid otherwise, which is a finding of its own. */
  readonly hasList: boolean;
  /** Absent where nothing was deleted. */
  readonly tombstone: Tombstone | undefined;
  /** Digest of the key; absent where it is missing or cannot be read, which is a finding of its own. */
  readonly keyDigest: string | undefined;
  /** Whether retention deleted a segment after its records were read. @default no segment */
  readonly isGone?: (segment: string) => boolean;
  /** Whether nothing says up to where retention deleted records: an export without its proof. @default false */
  readonly isStartUnknown?: boolean;
}

interface Place {
  readonly segment: string;
  readonly line: number;
}

/** A line that is not a record. */
interface Unreadable extends Place {
  readonly position: number;
  readonly bytes: number;
  readonly hash: string;
}

/** Whole records of another writer in one segment: no process writes them there. */
interface Foreign extends Place {
  /** Of the first one. */
  readonly writer: string;
  readonly count: number;
  /** Depends on all of them. */
  readonly hash: string;
}

/** The first record of a run of records that follow each other. */
interface RunStart extends Place {
  readonly sequence: number;
  readonly previous: string | undefined;
}

/** A record that does not follow the one before it: it starts another run. */
interface Break extends RunStart {
  readonly expected: number;
  /** Segment of the record before it. */
  readonly segmentBefore: string;
  /** Hash of the line before it. */
  readonly before: string;
}

/** The chain of one writer. */
export class WriterVerification {
  readonly #writer: string;
  readonly #head: SignedHead | undefined;
  readonly #anchors: WriterAnchors | undefined;
  /** `segment position bytes` of unfinished lines that a crash left, of all writers; absent where there are none. */
  readonly #torn: Set<string> | undefined;
  readonly #unreadable: Unreadable[] = [];
  readonly #breaks: Break[] = [];
  readonly #found: TrailFinding[] = [];
  readonly #unsigned: UnsignedTail;
  /** Records of other writers, by segment. */
  readonly #foreign = new Map<string, Foreign>();
  #headChange: TrailFinding | undefined;
  #tombstoneHash: { readonly sequence: number; readonly hash: string } | undefined;
  #segments = 0;
  #segment = "";
  #line = 0;
  #records = 0;
  #unchainedCount = 0;
  #isChained = false;
  #hasOrdinary = false;
  /** Whether there are records before the first one that names a key. */
  #hasUnnamed = false;
  #key: string | undefined;
  /** Lines after the last record that are none. */
  #unfinished: Unreadable[] = [];
  #first: RunStart | undefined;
  /** Runs with the last record that retention deleted, as it was signed: its hash proves those before it. By their numbers, from 0. */
  readonly #provedRuns = new Set<number>();
  #lastSequence = 0;
  #lastSegment = "";
  #lastHash = chainStart;
  /** The last records of segments that others follow, by number. */
  readonly #segmentEnds = new Map<number, { readonly hash: string; readonly run: number }>();
  readonly #tombstone: Tombstone | undefined;

  constructor(
    writer: string,
    state: {
      readonly head: StoredHead;
      readonly tombstone: Tombstone | undefined;
      readonly torn: Set<string> | undefined;
      readonly anchors: WriterAnchors | undefined;
    },
  ) {
    this.#writer = writer;
    this.#head = state.head.kind === "signed" ? state.head.head : undefined;
    this.#unsigned = new UnsignedTail(this.#head);
    this.#tombstone = state.tombstone;
    this.#torn = state.torn;
    this.#anchors = state.anchors;
  }

  get writer(): string {
    return this.#writer;
  }

  get anchors(): WriterAnchors | undefined {
    return this.#anchors;
  }

  get unfinished(): readonly UnfinishedLine[] {
    return this.#unfinished.map(({ segment, line, bytes }) => ({ segment, line, bytes }));
  }

  /** Whether it has records that are only written after its head and its entry in the list of writers. */
  get hasOrdinaryRecords(): boolean {
    return this.#hasOrdinary;
  }

  startSegment(segment: string): void {
    this.#segments += 1;
    if (this.#records > 0)
      this.#segmentEnds.set(this.#lastSequence, { hash: this.#lastHash, run: this.#breaks.length });
    this.#segment = segment;
    this.#line = 0;
  }

  /** The segment is no regular file. */
  skipSegment(what: string): void {
    const message = `it is ${what}, not a regular file, and was not read`;
    this.#find("unreadable", { segment: this.#segment, line: 0 }, message, { segment: this.#segment, what });
  }

  /** @param lineNumber from 1. @default the next one of the segment */
  takeLine(
    { line, position, length, longHash }: SegmentLine,
    lineNumber = this.#line + 1,
  ): AuditRecord | undefined {
    this.#line = lineNumber;
    const place = { segment: this.#segment, line: this.#line };
    const record = parseRecord(line.toString("utf8"));
    if (record !== undefined && record.writer === this.#writer) {
      this.#takeRecord(record, line);
      return record;
    }
    if (record !== undefined) {
      this.#takeForeign(record.writer, line);
      return undefined;
    }
    // Starts that were killed leave several of them, until one succeeds and records them.
    if (this.#unfinished.length < findingsMaxCount)
      this.#unfinished.push({ ...place, position, bytes: length, hash: longHash ?? hashLine(line) });
    return undefined;
  }

  summary(): VerifiedWriter {
    return {
      writer: this.#writer,
      segments: this.#segments,
      records: this.#records,
      firstSequence: this.#first?.sequence ?? 0,
      lastSequence: this.#lastSequence,
      unchainedRecords: this.#unchainedCount,
      lastHash: this.#lastHash,
      ...(this.#head === undefined ? {} : { provedSequence: this.#head.sequence }),
      ...(this.#anchors === undefined ? {} : { anchoredSequence: this.#anchors.summary().provedSequence }),
    };
  }

  /** All findings, when every segment of the home was read. */
  findings(context: WriterContext): readonly TrailFinding[] {
    const unreadable = this.#unreadable
      .filter(({ segment, position, bytes }) => this.#torn?.has(`${segment} ${position} ${bytes}`) !== true)
      .map((one) =>
        toFinding("unreadable", one, "the line is not a record, and no record says that a crash left it", {
          segment: one.segment,
          position: one.position,
          hash: one.hash,
        }),
      );
    // Record 1 shows itself whether it is the first one.
    const isStartUnknown = context.isStartUnknown === true && this.#first?.sequence !== 1;
    const found = [
      ...(isStartUnknown ? [] : this.#startFindings(context)),
      ...unreadable,
      ...this.#foreignFindings(),
      ...this.#breaks.flatMap((one, at) => this.#breakFindings(one, at + 1, context)),
      ...this.#found,
      ...this.#headFindings(context),
      ...this.#keyFindings(context),
    ];
    return found.sort((a, b) => (a.segment < b.segment ? -1 : a.segment > b.segment ? 1 : a.line - b.line));
  }

  #takeForeign(writer: string, line: Buffer): void {
    const known = this.#foreign.get(this.#segment);
    const before = known ?? { segment: this.#segment, line: this.#line, writer, count: 0, hash: "" };
    const hash = hashLine(Buffer.from(`${before.hash}${hashLine(line)}`));
    this.#foreign.set(this.#segment, { ...before, count: before.count + 1, hash });
  }

  #foreignFindings(): readonly TrailFinding[] {
    return [...this.#foreign.values()].map(({ writer, count, hash, ...place }) => {
      const what = count === 1 ? "1 whole record" : `${count} whole records`;
      const message = `${what} of writer ${writer} or others are in a segment of writer ${this.#writer}: they were copied or moved there`;
      return toFinding("moved", place, message, { segment: place.segment, count, hash });
    });
  }

  #takeRecord(record: AuditRecord, line: Buffer): void {
    const { previous } = record;
    const sequence = Number(record.sequence);
    const place = { segment: this.#segment, line: this.#line };
    const lineHash = hashLine(line);
    this.#records += 1;
    if (this.#unfinished.length > 0) {
      this.#unreadable.push(...this.#unfinished.slice(0, findingsMaxCount - this.#unreadable.length));
      this.#unfinished = [];
    }
    if (this.#first === undefined) this.#first = { ...place, sequence, previous };
    else this.#compare(sequence, previous);
    if (previous !== undefined) this.#isChained = true;
    else if (this.#isChained) {
      const message = `record ${sequence} has no hash of the line before it, although earlier records have one`;
      this.#find("unchained", place, message, { writer: this.#writer, sequence, hash: lineHash });
    } else this.#unchainedCount += 1;
    this.#note(record, lineHash);
    this.#lastSequence = sequence;
    this.#lastSegment = this.#segment;
    this.#lastHash = lineHash;
    this.#anchors?.take(sequence, lineHash);
    if (sequence > Math.max(this.#head?.sequence ?? 0, this.#tombstone?.lastSequence ?? 0))
      this.#unsigned.take(record);
    if (this.#tombstone?.lastSequence === sequence) {
      this.#tombstoneHash = { sequence, hash: lineHash };
      if (lineHash === this.#tombstone.lastHash) this.#provedRuns.add(this.#breaks.length);
    }
    const head = this.#head;
    if (head?.sequence !== sequence || head.hash === lineHash) return;
    const message = `record ${sequence} is not the one that was signed at ${head.time}: it or an earlier one was changed`;
    const facts = { writer: this.#writer, sequence, signed: head.hash, hash: lineHash };
    this.#headChange = toFinding("changed", place, message, facts);
  }

  #compare(sequence: number, previous: string | undefined): void {
    const expected = this.#lastSequence + 1;
    // An unchained record says nothing about the line before it but its number.
    const isHashRight = previous === undefined || previous === this.#lastHash;
    if ((sequence === expected && isHashRight) || this.#breaks.length >= findingsMaxCount) return;
    const place = { segment: this.#segment, line: this.#line };
    const segmentBefore = this.#lastSegment;
    this.#breaks.push({ ...place, expected, sequence, previous, segmentBefore, before: this.#lastHash });
  }

  #note({ type, data, sequence }: AuditRecord, lineHash: string): void {
    const place = { segment: this.#segment, line: this.#line };
    const facts = { writer: this.#writer, sequence, hash: lineHash };
    if (!isOfStart(type) || this.#first?.sequence !== 1) this.#hasOrdinary = true;
    if (type === "audit.recovered") {
      const { others } = data as Partial<AuditRecovered>;
      for (const one of [data, ...(Array.isArray(others) ? others : [])]) this.#noteTorn(one);
    } else if (type === "audit.damaged") {
      const { findings } = data as Partial<AuditDamaged>;
      const messages = (Array.isArray(findings) ? findings : []).map(
        (one: unknown) => ((one ?? {}) as { readonly message?: unknown }).message,
      );
      const message = `a start found that the trail was not what was signed before: ${shownTexts(messages)}`;
      this.#find("damaged", place, message, facts);
    } else if (type === "audit.pruned" && "findings" in data) {
      const { findings, segment } = data as Partial<AuditPruned>;
      const shown = shownTexts(Array.isArray(findings) ? findings : []);
      const message = `retention deleted a segment that was not as it was written (${shownTexts([segment])}): ${shown}`;
      this.#find("damaged", place, message, facts);
    } else if (type === "audit.key") {
      const { digest } = data as Partial<AuditKeyNamed>;
      const named = typeof digest === "string" ? digest.slice(0, keyMaxLength) : "none";
      if (this.#key !== undefined && this.#key !== named)
        this.#find(
          "key",
          place,
          `record ${Number(sequence)} names another key than the one before: the key was replaced`,
          facts,
        );
      else if (this.#key === undefined && this.#first?.sequence === 1 && this.#hasUnnamed)
        this.#find(
          "key",
          place,
          `the records before ${Number(sequence)} were written before a key was named that signs them`,
          facts,
        );
      this.#key = named;
    }
    // A start that was killed while it wrote the first record leaves a part of it, which the next one names first.
    if (type !== "audit.recovered" && this.#key === undefined) this.#hasUnnamed = true;
  }

  /** @param unfinished from a record, which somebody else can have written. */
  #noteTorn(unfinished: unknown): void {
    const { segment, position, bytes } = (unfinished ?? {}) as Partial<AuditRecovered>;
    if (typeof segment === "string" && typeof position === "number" && typeof bytes === "number")
      this.#torn?.add(`${segment} ${position} ${bytes}`);
  }

  #find(
    kind: TrailFinding["kind"],
    place: Place,
    message: string,
    facts: Parameters<typeof toFinding>[3],
  ): void {
    if (this.#found.length < findingsMaxCount) this.#found.push(toFinding(kind, place, message, facts));
  }

  /** The end of the trail, as a place. */
  get #end(): Place {
    return { segment: this.#segment, line: this.#line };
  }

  #headFindings(context: WriterContext): readonly TrailFinding[] {
    const { head, headNow, isListed, hasList, tombstone } = context;
    if (context.keyDigest === undefined) return [];
    const writer = this.#writer;
    const found: TrailFinding[] = this.#headChange === undefined ? [] : [this.#headChange];
    // A gateway that started meanwhile has signed its first head.
    const current = head.kind === "absent" ? headNow : head;
    if (current.kind === "absent" && (isListed || this.#hasOrdinary)) {
      const message =
        this.#records === 0
          ? `writer ${writer} is in the signed list of writers, and its records and its signed head are missing`
          : `the signed head of writer ${writer} is missing`;
      found.push(
        toFinding("head", this.#end, message, { writer, state: "absent", records: this.#records === 0 }),
      );
    }
    if (current.kind === "invalid") {
      const message = `the signed head of writer ${writer} proves nothing: ${current.reason}`;
      found.push(
        toFinding("head", this.#end, message, { writer, reason: current.reason, digest: current.digest }),
      );
    }
    if (hasList && !isListed && this.#hasOrdinary) {
      const message = `writer ${writer} is missing in the signed list of writers`;
      found.push(toFinding("writers", this.#end, message, { writer }));
    }
    const signed = this.#head;
    const deleted = tombstone?.lastSequence ?? 0;
    if (signed !== undefined && signed.sequence > Math.max(this.#lastSequence, deleted)) {
      const message = `the records up to ${signed.sequence} were signed at ${signed.time}, and the last one here is ${this.#lastSequence}`;
      const facts = {
        writer,
        sequence: signed.sequence,
        signed: signed.hash,
        last: this.#lastSequence,
        hash: this.#lastHash,
      };
      found.push(toFinding("cut_off", this.#end, message, facts));
    }
    // A start opens a closed head before it writes.
    const isClosed =
      signed?.closed === true && headNow.kind === "signed" && headNow.head.signature === signed.signature;
    if (signed !== undefined && isClosed && this.#lastSequence > Math.max(signed.sequence, deleted)) {
      const from = Math.max(signed.sequence, deleted) + 1;
      const message = `records ${from} to ${this.#lastSequence} follow the end that a shutdown signed at ${signed.time}: no start wrote them`;
      const facts = { writer, from, last: this.#lastSequence, hash: this.#lastHash };
      return [...found, toFinding("unsigned", this.#end, message, facts)];
    }
    // A start signs an end that is signed already as its own.
    const isSignedMeanwhile =
      headNow.kind === "signed" &&
      signed !== undefined &&
      (headNow.head.sequence > signed.sequence ||
        (headNow.head.sequence === signed.sequence && headNow.head.signature !== signed.signature));
    const { objection } = this.#unsigned;
    if (objection !== undefined && signed !== undefined && !isSignedMeanwhile) {
      const from = Math.max(signed.sequence, deleted) + 1;
      const message = `records ${from} to ${this.#lastSequence} were never signed, although ${objection}`;
      const facts = { writer, from, last: this.#lastSequence, hash: this.#lastHash };
      found.push(toFinding("unsigned", this.#end, message, facts));
    }
    return found;
  }

  #keyFindings({ keyDigest }: WriterContext): readonly TrailFinding[] {
    if (keyDigest === undefined) return [];
    const writer = this.#writer;
    if (this.#key === undefined) {
      // After retention, the first record is gone, and the signed deletion stands for it.
      if (this.#first?.sequence !== 1 || !this.#hasUnnamed) return [];
      const message = `no record of writer ${writer} names the key that signs them`;
      return [
        toFinding("key", this.#first, message, { writer, state: "unnamed", first: this.#first.sequence }),
      ];
    }
    if (this.#key === keyDigest) return [];
    const message = `the records of writer ${writer} name another key (${this.#key}) than the one that signs the trail (${keyDigest}): it was replaced`;
    return [toFinding("key", this.#end, message, { writer, named: this.#key, key: keyDigest })];
  }

  #breakFindings(
    { expected, sequence, previous, segmentBefore, before, ...place }: Break,
    run: number,
    context: WriterContext,
  ): readonly TrailFinding[] {
    const facts = { writer: this.#writer, expected, sequence, previous: previous ?? "", before };
    if (sequence === expected) {
      const message = `record ${sequence} does not follow the line before it: that line or this one was changed`;
      return [toFinding("changed", place, message, facts)];
    }
    if (sequence > expected) {
      // Segments that retention deleted while they were read: the oldest first, so that those before it are gone, too.
      const isWhileRead = context.isGone?.(segmentBefore) === true;
      if (isWhileRead && this.#isProvedStart({ ...place, sequence, previous }, run, context)) return [];
      const last = sequence - 1;
      const what = expected === last ? `record ${expected} is` : `records ${expected} to ${last} are`;
      return [toFinding("missing", place, `${what} missing before record ${sequence}`, facts)];
    }
    const detail =
      previous === undefined || previous === before ? "" : ", and it does not follow the line before it";
    const message = `record ${sequence} is in the place of record ${expected}${detail}`;
    return [toFinding("moved", place, message, facts)];
  }

  /** A trail begins with record 1, or after what retention deleted. */
  #startFindings(context: WriterContext): readonly TrailFinding[] {
    const found: TrailFinding[] = [];
    if (this.#tombstoneHash !== undefined && this.#tombstoneHash.hash !== this.#tombstone?.lastHash) {
      const { sequence, hash } = this.#tombstoneHash;
      const message = `record ${sequence} is not the one that was signed when retention was about to delete it`;
      found.push(
        toFinding("changed", { segment: this.#segment, line: 0 }, message, {
          writer: this.#writer,
          sequence,
          hash,
        }),
      );
    }
    if (this.#first === undefined) return found;
    const { sequence, previous } = this.#first;
    const isExplained =
      sequence === 1
        ? previous === undefined || previous === chainStart
        : this.#isProvedStart(this.#first, 0, context);
    if (isExplained) return [...found, ...this.#lostEndFindings(context)];
    const message =
      sequence === 1
        ? "record 1 follows another record"
        : `the records before ${sequence} are missing, and retention did not delete them`;
    const facts = { writer: this.#writer, sequence, previous: previous ?? "" };
    return [...found, toFinding("missing", { ...this.#first, line: 1 }, message, facts)];
  }

  /**
   * Whether the records before a run were deleted by retention, and something signed proves what the run begins with: it
   * follows the last deleted record, or goes on to that record, of which retention had no time to delete the segment.
   */
  #isProvedStart({ segment, sequence, previous }: RunStart, run: number, context: WriterContext): boolean {
    const { tombstone, isGone } = context;
    const follows = [this.#tombstone, tombstone].some(
      (one) =>
        one !== undefined &&
        one.lastSequence === sequence - 1 &&
        (previous === undefined || previous === one.lastHash),
    );
    if (follows) return true;
    if (tombstone === undefined || sequence > tombstone.lastSequence) return false;
    // Retention signs the end of a segment before it deletes it, also of one that was read whole.
    const end = this.#segmentEnds.get(tombstone.lastSequence);
    const isSignedMeanwhile = end?.run === run && end.hash === tombstone.lastHash;
    return this.#provedRuns.has(run) || isSignedMeanwhile || isGone?.(segment) === true;
  }

  /** Retention deletes the oldest segments first, and never the newest: no record can be older than all that is left. */
  #lostEndFindings({ tombstone, isGone }: WriterContext): readonly TrailFinding[] {
    const last = this.#lastSequence;
    if (tombstone === undefined || last >= tombstone.lastSequence) return [];
    if (isGone?.(this.#lastSegment) === true) return [];
    const message = `the records after ${last} are missing: retention deleted those up to ${tombstone.lastSequence}, the oldest first`;
    const facts = { writer: this.#writer, last, deleted: tombstone.lastSequence, hash: this.#lastHash };
    return [toFinding("missing", this.#end, message, facts)];
  }
}

/** Joins the texts of a record, which somebody else can have written. */
function shownTexts(texts: readonly unknown[]): string {
  const shown = texts.filter((one) => typeof one === "string").join("; ");
  return shown.length <= foundMaxLength ? shown : `${shown.slice(0, foundMaxLength).toWellFormed()}…`;
}
