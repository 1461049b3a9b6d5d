/**
 * Verifies the audit trail of a home by its hash chains (hash-chain.ts): finds records that were changed,
 * removed, inserted or moved, and names the place of each. It reads the segments and nothing else, so it trusts no
 * index, and it works while gateways write.
 *
 * The signed heads (audit-heads.ts) show what was cut off at the end. What it cannot find: changes of the records after
 * the last head, and a trail that was written and signed anew by somebody who has the key. Anchors of the heads outside
 * the home (verify-anchors.ts) show the latter.
 */

import { createPublicKey } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { type AnchorFile, readAnchors } from "./anchor-file.ts";
import type { AuditPruned, AuditRecord, AuditRecovered } from "./audit-event.ts";
import { readHeads, type StoredHead } from "./audit-heads.ts";
import { chainStart, hashLine } from "./hash-chain.ts";
import { listSegments, type SegmentName, toHomeLayout, toWriterId } from "./home-layout.ts";
import { lineMaxLength, parseRecord } from "./parse-record.ts";
import { lineFeed } from "./segment-end.ts";
import { type AnchorMismatch, WriterAnchors } from "./verify-anchors.ts";

/** A place at which the trail is not as it was written. */
export interface TrailFinding {
  /**
   * `changed`: this line or the one before it. `missing`: records before this line. `moved`: the line is not in its
   * place, or was inserted. `unreadable`: the line is not a record. `unchained`: the line has no hash, although earlier
   * lines have one. `cut_off`: records are missing at the end. `head`: the signed head of a writer is missing or not
   * valid. `anchor`: the trail is not the one of an anchor.
   */
  readonly kind: "changed" | "missing" | "moved" | "unreadable" | "unchained" | "cut_off" | "head" | "anchor";
  /** File name of the segment; empty for a writer without one. For `anchor`, the path of the anchor file. */
  readonly segment: string;
  /** From 1; 0 for the whole file. */
  readonly line: number;
  readonly message: string;
}

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

/** The result of a verification. */
export interface TrailReport {
  readonly writers: readonly VerifiedWriter[];
  /** At most `findingsMaxCount`. */
  readonly findings: readonly TrailFinding[];
  /** The public key of the heads, as PEM; absent when the home has none. */
  readonly publicKey?: string;
  /** With an anchor file: its anchors, and how many of them match. The others are findings, or about records that retention deleted. */
  readonly anchors?: { readonly count: number; readonly matched: number };
}

/** Findings of one report. */
export const findingsMaxCount = 1000;

/** Options of `verifyTrail`. */
export interface VerifyOptions {
  /** Path of a file with signed ends of this trail that were kept outside the home. @default only the home is read */
  readonly anchorFile?: string | undefined;
  /** Ends the verification with its reason. */
  readonly signal?: AbortSignal;
}

/**
 * Verifies the trail of the home directory `home`. A home that does not exist is an empty trail.
 *
 * @throws {StoreError} `AUDIT_ANCHOR_UNREADABLE`; the file system's error, and `signal.reason`.
 */
export async function verifyTrail(
  home: string,
  { anchorFile, signal }: VerifyOptions = {},
): Promise<TrailReport> {
  // Read before the records, like the heads: a gateway that writes meanwhile adds later ones.
  const anchors = anchorFile === undefined ? undefined : await readAnchors(anchorFile, signal);
  const layout = toHomeLayout(home);
  const { auditDirectory } = layout;
  // Read before the records: a gateway that writes meanwhile signs later ones.
  const { heads, tombstones, publicKey } = readHeads(layout);
  const byWriter = Map.groupBy(listSegments(auditDirectory), ({ writer }) => writer);
  const known: KnownDamage = { torn: new Set(), pruned: new Map(), tombstones: new Map() };
  for (const { writer, lastSequence, lastHash } of tombstones)
    known.tombstones.set(`${writer} ${lastSequence}`, { lastHash });
  const verifications: WriterVerification[] = [];
  for (const writer of [...heads.map((head) => head.writer), ...(anchors?.byWriter.keys() ?? [])])
    if (!byWriter.has(Number(writer))) byWriter.set(Number(writer), []);
  for (const [writer, segments] of byWriter) {
    const head = heads.find((one) => Number(one.writer) === writer);
    const verification = new WriterVerification(writer, head, known, anchors);
    for (const segment of segments) {
      try {
        await readLines(auditDirectory, segment, verification, signal);
      } catch (error) {
        // Retention deleted it meanwhile, which a record explains.
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      }
    }
    verifications.push(verification);
  }
  const findings = verifications.flatMap((one) => one.findings());
  const writers = verifications.map((one) => one.summary());
  const key = publicKey === undefined ? {} : { publicKey };
  if (anchorFile === undefined || anchors === undefined)
    return { writers, findings: findings.slice(0, findingsMaxCount), ...key };
  const placed = (line: number, message: string): TrailFinding => {
    return { kind: "anchor", segment: anchorFile, line, message };
  };
  const ofAnchors = [
    ...anchors.unreadable.map((line) => placed(line, "the line is not an anchor")),
    ...verifications.flatMap((one) =>
      one.anchorMismatches(publicKey).map(({ line, message }) => placed(line, message)),
    ),
  ];
  const matched = verifications.reduce((sum, one) => sum + one.anchorsMatched, 0);
  return {
    writers,
    findings: [...findings, ...ofAnchors].slice(0, findingsMaxCount),
    ...key,
    anchors: { count: anchors.count, matched },
  };
}

/** What records of the trail say about damage and deletions. */
interface KnownDamage {
  /** `segment position bytes` of unfinished lines that a crash left. */
  readonly torn: Set<string>;
  /** Deletions by retention, by writer and last sequence number, such as `001 42`. */
  readonly pruned: Map<string, AuditPruned>;
  /** Signed deletions of the beginning of a writer's trail, by the same keys. */
  readonly tombstones: Map<string, Pick<AuditPruned, "lastHash">>;
}

/** A line that is not a record. */
interface UnreadableLine {
  readonly segment: string;
  readonly line: number;
  readonly position: number;
  readonly bytes: number;
}

/** A record that does not follow the one before it. */
interface Break {
  readonly segment: string;
  readonly line: number;
  readonly expected: number;
  readonly sequence: number;
  readonly previous: string | undefined;
  readonly isHashRight: boolean;
}

/** Follows the chain of one writer. */
class WriterVerification {
  readonly #writer: string;
  readonly #known: KnownDamage;
  readonly #head: StoredHead | undefined;
  readonly #anchors: WriterAnchors | undefined;
  #headFinding: TrailFinding | undefined;
  readonly #unreadable: UnreadableLine[] = [];
  readonly #breaks: Break[] = [];
  readonly #unchained: TrailFinding[] = [];
  #segments = 0;
  #segment = "";
  #line = 0;
  #records = 0;
  #unchainedCount = 0;
  #isChained = false;
  #first:
    | { readonly sequence: number; readonly previous: string | undefined; readonly segment: string }
    | undefined;
  #lastSequence = 0;
  #lastHash = chainStart;

  constructor(
    writer: number,
    head: StoredHead | undefined,
    known: KnownDamage,
    anchors: AnchorFile | undefined,
  ) {
    this.#writer = toWriterId(writer);
    this.#anchors = anchors === undefined ? undefined : new WriterAnchors(this.#writer, anchors);
    this.#head = head;
    this.#known = known;
  }

  startSegment({ name }: SegmentName): void {
    this.#segments += 1;
    this.#segment = name;
    this.#line = 0;
  }

  /** @param isFinished false for the rest of a segment after its last line feed, which a writer may be writing */
  takeLine(
    line: Buffer,
    { position, length }: { readonly position: number; readonly length: number },
    isFinished: boolean,
  ): void {
    this.#line += 1;
    const record = parseRecord(line.toString("utf8"));
    if (record !== undefined && record.writer === this.#writer) this.#takeRecord(record, line);
    else if (isFinished && this.#unreadable.length < findingsMaxCount)
      this.#unreadable.push({ segment: this.#segment, line: this.#line, position, bytes: length });
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
      ...(this.#head?.kind === "signed" ? { provedSequence: this.#head.sequence } : {}),
      ...(this.#anchors === undefined ? {} : { anchoredSequence: this.#anchors.summary().provedSequence }),
    };
  }

  get anchorsMatched(): number {
    return this.#anchors?.summary().matched ?? 0;
  }

  /** The anchors that do not match, when every segment of the home was read. @param publicKey PEM */
  anchorMismatches(publicKey: string | undefined): readonly AnchorMismatch[] {
    const kept =
      this.#first === undefined ? undefined : { first: this.#first.sequence, last: this.#lastSequence };
    const key = publicKey === undefined ? undefined : createPublicKey(publicKey);
    return this.#anchors?.mismatches(kept, key) ?? [];
  }

  /** All findings, when every segment of the home was read. */
  findings(): readonly TrailFinding[] {
    const { torn } = this.#known;
    const unreadable = this.#unreadable
      .filter(({ segment, position, bytes }) => !torn.has(`${segment} ${position} ${bytes}`))
      .map(
        ({ segment, line }): TrailFinding => ({
          kind: "unreadable",
          segment,
          line,
          message: "the line is not a record, and no record says that a crash left it",
        }),
      );
    const breaks = this.#breaks.flatMap((one) => this.#findingOf(one));
    const found = [...this.#findingsOfStart(), ...unreadable, ...breaks, ...this.#unchained];
    return [...found, ...this.#findingsOfHead()].sort((a, b) =>
      a.segment < b.segment ? -1 : a.segment > b.segment ? 1 : a.line - b.line,
    );
  }

  #takeRecord(record: AuditRecord, line: Buffer): void {
    const { previous } = record;
    const sequence = Number(record.sequence);
    this.#note(record);
    this.#records += 1;
    if (this.#first === undefined) this.#first = { sequence, previous, segment: this.#segment };
    else this.#compare(sequence, previous);
    if (previous !== undefined) this.#isChained = true;
    else if (this.#isChained) this.#reportUnchained(sequence);
    else this.#unchainedCount += 1;
    this.#lastSequence = sequence;
    this.#lastHash = hashLine(line);
    this.#anchors?.take(sequence, this.#lastHash);
    const head = this.#head;
    if (head?.kind !== "signed" || head.sequence !== sequence || head.hash === this.#lastHash) return;
    const message = `record ${sequence} is not the one that was signed at ${head.time}: it or an earlier one was changed`;
    this.#headFinding = { kind: "changed", segment: this.#segment, line: this.#line, message };
  }

  #findingsOfHead(): readonly TrailFinding[] {
    const head = this.#head;
    if (this.#headFinding !== undefined) return [this.#headFinding];
    const place = { segment: this.#segment, line: this.#line };
    if (head?.kind === "invalid") {
      const message = `the signed head of writer ${this.#writer} proves nothing: ${head.reason}`;
      return [{ kind: "head", ...place, message }];
    }
    if (head === undefined || head.sequence <= this.#lastSequence) return [];
    const message = `the records up to ${head.sequence} were signed at ${head.time}, and the last one here is ${this.#lastSequence}`;
    return [{ kind: "cut_off", ...place, message }];
  }

  #compare(sequence: number, previous: string | undefined): void {
    const expected = this.#lastSequence + 1;
    // An unchained record says nothing about the line before it but its number.
    const isHashRight = previous === undefined || previous === this.#lastHash;
    if ((sequence === expected && isHashRight) || this.#breaks.length >= findingsMaxCount) return;
    const place = { segment: this.#segment, line: this.#line };
    this.#breaks.push({ ...place, expected, sequence, previous, isHashRight });
  }

  #reportUnchained(sequence: number): void {
    if (this.#unchained.length >= findingsMaxCount) return;
    const message = `record ${sequence} has no hash of the line before it, although earlier records have one`;
    this.#unchained.push({ kind: "unchained", segment: this.#segment, line: this.#line, message });
  }

  #note({ type, data, writer }: AuditRecord): void {
    if (type === "audit.recovered") {
      const { segment, position, bytes } = data as AuditRecovered;
      if (position !== undefined) this.#known.torn.add(`${segment} ${position} ${bytes}`);
    } else if (type === "audit.pruned") {
      const pruned = data as AuditPruned;
      const of = pruned.segment.slice(0, writer.length);
      this.#known.pruned.set(`${of} ${Number(pruned.lastSequence)}`, pruned);
    }
  }

  #findingOf({ segment, line, expected, sequence, previous, isHashRight }: Break): readonly TrailFinding[] {
    if (sequence === expected) {
      const message = `record ${sequence} does not follow the line before it: that line or this one was changed`;
      return [{ kind: "changed", segment, line, message }];
    }
    if (sequence > expected) {
      if (this.#isPruned(expected, sequence, previous)) return [];
      const last = sequence - 1;
      const what = expected === last ? `record ${expected} is` : `records ${expected} to ${last} are`;
      return [{ kind: "missing", segment, line, message: `${what} missing before record ${sequence}` }];
    }
    const detail = isHashRight ? "" : ", and it does not follow the line before it";
    const message = `record ${sequence} is in the place of record ${expected}${detail}`;
    return [{ kind: "moved", segment, line, message }];
  }

  /** A trail begins with record 1, or after what retention deleted. What versions without a chain deleted is not known. */
  #findingsOfStart(): readonly TrailFinding[] {
    if (this.#first?.previous === undefined) return [];
    const { sequence, previous, segment } = this.#first;
    const isExplained =
      sequence === 1 ? previous === chainStart : this.#isPruned(undefined, sequence, previous);
    if (isExplained) return [];
    const message =
      sequence === 1
        ? "record 1 follows another record"
        : `the records before ${sequence} are missing, and retention did not delete them`;
    return [{ kind: "missing", segment, line: 1, message }];
  }

  /** Whether retention deleted the records from `expected` up to the one before `sequence`; all before it without `expected`. */
  #isPruned(expected: number | undefined, sequence: number, previous: string | undefined): boolean {
    const { pruned, tombstones } = this.#known;
    const isRight = (lastHash: string | undefined, hash: string | undefined) =>
      hash === undefined || lastHash === undefined || lastHash === hash;
    const key = `${this.#writer} ${sequence - 1}`;
    if (expected === undefined) {
      const deletion = tombstones.get(key) ?? pruned.get(key);
      return deletion !== undefined && isRight(deletion.lastHash, previous);
    }
    let last = sequence - 1;
    for (let hash = previous; last >= expected; hash = undefined) {
      const deletion = pruned.get(`${this.#writer} ${last}`);
      const first = Number(deletion?.firstSequence);
      if (deletion === undefined || Number.isNaN(first) || !isRight(deletion.lastHash, hash)) return false;
      last = first - 1;
    }
    return true;
  }
}

/** Bytes of a line that can be a record. */
const lineMaxBytes = 4 * lineMaxLength;
const noLine = Buffer.alloc(0);

/** Passes the lines of a segment on, in chunks, so that a segment of any length is read. */
async function readLines(
  auditDirectory: string,
  segment: SegmentName,
  verification: WriterVerification,
  signal: AbortSignal | undefined,
): Promise<void> {
  verification.startSegment(segment);
  let rest: Buffer = Buffer.alloc(0);
  let position = 0;
  /** Bytes of a line that is too long to be a record, of which only the last chunk is kept. */
  let skipped = 0;
  const stream = createReadStream(join(auditDirectory, segment.name), { highWaterMark: 1024 * 1024, signal });
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
      const length = skipped + end - start;
      verification.takeLine(skipped > 0 ? noLine : bytes.subarray(start, end), { position, length }, true);
      skipped = 0;
      position += length + 1;
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length <= lineMaxBytes) continue;
    skipped += rest.length;
    rest = noLine;
  }
  if (rest.length > 0) verification.takeLine(rest, { position, length: rest.length }, false);
}
