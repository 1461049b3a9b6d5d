/**
 * Verifies an export of the whole trail (JSON lines), outside its home: the chain of each writer, the order in which an
 * export merges them, and with a proof (export-proof.ts) the signed end of each writer and the list of writers.
 *
 * What it cannot find: without a proof, a trail that was written anew, and records that are missing at a start or an end;
 * an earlier export with its own proof; what a person writes who has the key of the home. Of a part of the trail it proves
 * nothing: a record that a filter left out looks like one that was removed.
 *
 * The files are those of a person who may have written them: nothing in them is believed that the key did not sign, and
 * memory does not grow with them.
 */

import { createHash } from "node:crypto";
import { closeSync, realpathSync } from "node:fs";
import { openRegularFile, reasonOf } from "@toolcrib/files";
import { alteredFormOf } from "./altered-form.ts";
import type { AuditRecord } from "./audit-event.ts";
import type { StoredHead } from "./audit-heads.ts";
import { type ParsedProof, readProof } from "./export-proof.ts";
import { hashLine } from "./hash-chain.ts";
import { readHomeFile } from "./home-file.ts";
import { writerMax } from "./home-layout.ts";
import { compareRecords, parseRecord } from "./parse-record.ts";
import { readFully } from "./segment-end.ts";
import { type SegmentLine, segmentLines } from "./segment-lines.ts";
import { parsePublicKey } from "./signing-key.ts";
import { StoreError } from "./store-error.ts";
import { type AcceptedFinding, type TrailFinding, toAccepted, toFinding } from "./trail-findings.ts";
import { findingsMaxCount, type VerifiedWriter, WriterVerification } from "./verify-writer.ts";

/** A writer of an export. */
interface ExportedWriter extends VerifiedWriter {
  /** When its end was signed, RFC 3339; absent without a valid head. */
  readonly signedAt?: string;
}

/** The result of the verification of an export. */
interface ExportReport {
  readonly writers: readonly ExportedWriter[];
  /** At most 1,000. Those that the key of the proof accepted are not among them. */
  readonly findings: readonly TrailFinding[];
  /** Findings that an operator with the key of the proof put on record. At most 1,000. */
  readonly accepted: readonly AcceptedFinding[];
  /** With a proof: the key in it, and whether the caller named this key and the proof is signed with it. */
  readonly key?: { readonly digest: string; readonly isVouched: boolean };
  /** With a proof: when the export ended according to it, RFC 3339. */
  readonly exportedAt?: string;
}

/** Options of `verifyExport`. */
interface VerifyExportOptions {
  /** Path of the proof. @default only the chain is verified */
  readonly proof?: string | undefined;
  /** Digest (`sha256:…`) or path (PEM) of the public key that must have signed the proof. @default any key is taken */
  readonly key?: string | undefined;
  /** Ends the verification with its reason. */
  readonly signal?: AbortSignal;
}

/** Bytes at the start of a file that show its form: more than a first record has. */
const startBytes = 1024 * 1024;

/**
 * Verifies the export at `path`, without a home. A file that another program stored in another form, such as with other
 * ends of lines, is not verified.
 *
 * @throws {StoreError} `AUDIT_UNREADABLE`; `signal.reason`
 */
export async function verifyExport(
  path: string,
  { proof, key, signal }: VerifyExportOptions = {},
): Promise<ExportReport> {
  const vouched = key === undefined ? undefined : digestOf(key);
  const verification = new ExportVerification(path, proof === undefined ? undefined : readProof(proof));
  let descriptor: number | undefined;
  try {
    // A link that the caller names is followed.
    descriptor = openRegularFile(realpathSync(path));
    const altered = alteredFormOf(readFully(descriptor, 0, startBytes));
    if (altered !== undefined) throw unreadable("export", path, new Error(altered.reason), altered.hint);
    const lines = segmentLines(descriptor, signal, (bytes) => verification.takeBytes(bytes));
    for await (const line of lines) if (!verification.takeLine(line)) break;
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof StoreError) throw cause;
    throw unreadable("export", path, cause, "name the file that toolcrib audit export wrote");
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
  return verification.report(vouched);
}

function digestOf(key: string): string {
  if (/^sha256:[0-9a-f]{64}$/.test(key)) return key;
  try {
    const pem = readHomeFile(realpathSync(key));
    return parsePublicKey(pem ?? "").digest;
  } catch (cause) {
    const hint = "name a file with a public key (PEM), or its digest: sha256: and 64 hexadecimal digits";
    throw unreadable("key", key, cause, hint);
  }
}

function unreadable(what: string, path: string, cause: unknown, hint: string): StoreError {
  const message = `Cannot read the ${what} "${path}": ${reasonOf(cause)}`;
  return new StoreError("AUDIT_UNREADABLE", message, { cause, hint });
}

const absent: StoredHead = { kind: "absent" };
/** Accepted findings that are remembered: a person with a key of his own can write any number. */
const acceptedMaxCount = 100_000;

/** Lines that are not records, after which an export is read no further: an export has none. */
const unreadableMax = 1000;

class ExportVerification {
  readonly #path: string;
  readonly #proof: ParsedProof | undefined;
  readonly #writers = new Map<string, WriterVerification>();
  readonly #order = new MergeOrder();
  readonly #found: TrailFinding[] = [];
  readonly #hash = createHash("sha256");
  #records = 0;
  /** Why the lines that follow are not read; absent where all of them are. */
  #stop: "writers" | "unreadable" | undefined;
  #unreadable = 0;
  /** By the id of the finding. */
  readonly #accepted = new Map<string, { readonly reason: string; readonly time: string }>();
  #line = 0;

  constructor(path: string, proof: ParsedProof | undefined) {
    this.#path = path;
    this.#proof = proof;
    const { heads, list } = proof ?? {};
    for (const writer of heads?.keys() ?? []) this.#writerOf(writer);
    if (list?.kind === "signed") for (const writer of list.writers) this.#writerOf(writer);
  }

  takeBytes(bytes: Buffer): void {
    this.#hash.update(bytes);
  }

  /** Returns whether further lines count. */
  takeLine(line: SegmentLine): boolean {
    if (this.#stop !== undefined) return false;
    this.#line += 1;
    const record = line.longHash === undefined ? parseRecord(line.line.toString("utf8")) : undefined;
    if (record === undefined) {
      const hash = line.longHash ?? hashLine(line.line);
      this.#find("unreadable", "the line is not a record", { line: this.#line, hash });
      this.#unreadable += 1;
      if (this.#unreadable <= unreadableMax) return true;
      this.#stop = "unreadable";
      return false;
    }
    const { writer, type, data, time } = record;
    const verification = this.#writerOf(writer);
    if (verification === undefined) return false;
    this.#records += 1;
    if (!this.#order.take(record)) {
      const message = `record ${Number(record.sequence)} of writer ${writer} is not in its place: an export has the records of several writers by time`;
      this.#find("moved", message, { writer, sequence: record.sequence, order: true });
    }
    verification.takeLine(line, this.#line);
    const accepted = type === "audit.accepted" ? toAccepted(data, this.#proof?.key) : undefined;
    for (const { id } of accepted?.findings ?? [])
      if (this.#accepted.size < acceptedMaxCount)
        this.#accepted.set(id, { reason: accepted?.reason ?? "", time });
    return true;
  }

  report(vouched: string | undefined): ExportReport {
    const digest = this.#proof?.key.digest;
    const isVouched = digest === vouched && this.#proof?.objection === undefined;
    const writers = [...this.#writers.values()].sort((a, b) => (a.writer < b.writer ? -1 : 1));
    if (writers.length === 0) this.#find("cut_off", "the export has no records", {}, 0);
    // What a key signed that is not the named one accepts nothing, and nothing accepts what is wrong with the proof.
    const ids = vouched === undefined || vouched === digest ? this.#accepted : undefined;
    const ofRecords = [...this.#found, ...writers.flatMap((one) => this.#findingsOf(one))].toSorted(
      (a, b) => a.line - b.line,
    );
    const findings = ofRecords.filter(({ id }) => ids?.has(id) !== true);
    const accepted = ofRecords.flatMap((one) => {
      const acceptance = ids?.get(one.id);
      return acceptance === undefined ? [] : [{ ...one, ...acceptance }];
    });
    return {
      writers: writers.map((one) => {
        const head = this.#headOf(one.writer);
        return { ...one.summary(), ...(head.kind === "signed" ? { signedAt: head.head.time } : {}) };
      }),
      findings: [...this.#proofFindings(vouched), ...findings].slice(0, findingsMaxCount),
      accepted: accepted.slice(0, findingsMaxCount),
      ...(digest === undefined ? {} : { key: { digest, isVouched } }),
      ...(this.#proof === undefined ? {} : { exportedAt: this.#proof.time }),
    };
  }

  /** Returns the chain of a writer; `undefined` for one more than a home can have. */
  #writerOf(writer: string): WriterVerification | undefined {
    const known = this.#writers.get(writer);
    if (known !== undefined) return known;
    if (this.#writers.size >= writerMax) {
      this.#stop = "writers";
      return undefined;
    }
    const created = new WriterVerification(writer, {
      head: this.#headOf(writer),
      tombstone: this.#proof?.tombstones.get(writer),
      // An export leaves out what a crash left.
      torn: undefined,
      anchors: undefined,
    });
    created.startSegment(this.#path);
    this.#writers.set(writer, created);
    return created;
  }

  #headOf(writer: string): StoredHead {
    return this.#proof?.heads.get(writer) ?? absent;
  }

  #findingsOf(verification: WriterVerification): readonly TrailFinding[] {
    const { writer } = verification;
    const list = this.#proof?.list;
    const head = this.#headOf(writer);
    const found = verification.findings({
      head,
      headNow: head,
      isListed: list?.kind === "signed" && list.writers.has(writer),
      hasList: list?.kind === "signed",
      tombstone: this.#proof?.tombstones.get(writer),
      keyDigest: this.#proof?.key.digest,
      isStartUnknown: this.#proof === undefined,
    });
    if (this.#proof === undefined) return found;
    // An export with a proof ends with its signed ends: no record after one needs an excuse.
    const signed = head.kind === "signed" ? head.head.sequence : 0;
    const { lastSequence, lastHash } = verification.summary();
    const others = found.filter(({ kind }) => kind !== "unsigned");
    if (lastSequence <= signed) return others;
    const message = `records ${signed + 1} to ${lastSequence} of writer ${writer} are not signed: an export with this proof ends before them`;
    const facts = { writer, from: signed + 1, last: lastSequence, hash: lastHash };
    return [...others, toFinding("unsigned", { segment: this.#path, line: this.#line }, message, facts)];
  }

  /** Findings about the files as a whole, which no record accepts. */
  #proofFindings(vouched: string | undefined): readonly TrailFinding[] {
    const found: TrailFinding[] = [];
    const exported = { segment: this.#path, line: 0 };
    if (this.#stop === "writers") {
      const message = `it has more than ${writerMax} writers, and no home has more: what follows line ${this.#line} was not read`;
      found.push(toFinding("writers", exported, message, { overfull: true }));
    }
    if (this.#stop === "unreadable") {
      const message = `more than ${unreadableMax} of its lines are not records, and an export has none: what follows line ${this.#line} was not read`;
      found.push(toFinding("unreadable", exported, message, { overfull: true }));
    }
    if (this.#proof === undefined) return found;
    const { key, list, isListEarlier, objection, records, sha256 } = this.#proof;
    const place = { segment: "", line: 0 };
    if (objection !== undefined)
      found.push(toFinding("proof", place, `the proof ${objection}: it was changed`, { objection }));
    const digest = this.#hash.digest("hex");
    if (this.#stop === undefined && digest !== sha256) {
      const message = `it is not the export of the proof: its ${this.#records} records have the SHA-256 ${digest}, and the proof states ${records} records with ${sha256.slice(0, 64)}`;
      found.push(toFinding("changed", exported, message, { digest, sha256 }));
    }
    if (vouched !== undefined && vouched !== key.digest) {
      const message = `the proof is signed with the key ${key.digest}, and the key that must have signed it is ${vouched}`;
      found.push(toFinding("key", place, message, { key: key.digest, vouched }));
    }
    const reason =
      list.kind === "absent"
        ? "is missing in the proof: a writer that was removed is not found"
        : list.kind === "invalid"
          ? `in the proof proves nothing: ${list.reason}`
          : isListEarlier
            ? "in the proof is earlier than its signed ends"
            : undefined;
    if (reason !== undefined)
      found.push(toFinding("writers", place, `the signed list of writers ${reason}`, { reason }));
    return found;
  }

  #find(
    kind: TrailFinding["kind"],
    message: string,
    facts: Parameters<typeof toFinding>[3],
    line = this.#line,
  ): void {
    if (this.#found.length < findingsMaxCount)
      this.#found.push(toFinding(kind, { segment: this.#path, line }, message, facts));
  }
}

/** The order in which `readTrail` merges writers: it always takes the oldest of their next records. */
class MergeOrder {
  #newest: AuditRecord | undefined;
  /** The newest record of the others since the last one of a writer. */
  readonly #newestSince = new Map<string, AuditRecord | undefined>();

  /** Adds the next record. Returns whether it is not older than one of another writer that was taken instead of it. */
  take(record: AuditRecord): boolean {
    const { writer } = record;
    const since = this.#newestSince.has(writer) ? this.#newestSince.get(writer) : this.#newest;
    this.#newest = newerOf(this.#newest, record);
    for (const [other, newest] of this.#newestSince)
      if (other !== writer) this.#newestSince.set(other, newerOf(newest, record));
    this.#newestSince.set(writer, undefined);
    return since === undefined || compareRecords(since, record) <= 0;
  }
}

function newerOf(known: AuditRecord | undefined, record: AuditRecord): AuditRecord {
  return known === undefined || compareRecords(known, record) < 0 ? record : known;
}
