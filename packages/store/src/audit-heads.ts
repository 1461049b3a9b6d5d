/**
 * Signed files next to the trail, in `audit-heads`:
 *
 *     001.json          head: number and hash of a recent record of writer 1
 *     001.pruned.json   tombstone: up to which record retention deleted
 *     writers.json      the writers that have a head
 *
 * A head shows that records were cut off at the end of a trail, and that the last ones were changed, which a hash chain
 * alone cannot. The list shows that a head, or a whole writer, was removed; its number, which the heads state, shows that
 * an earlier list was put back.
 *
 * A shutdown signs a closed head, and the next start replaces it by an open one before it writes anything: records after a
 * closed head are not those of a process of Toolcrib. Each start signs the end that it finds as its own, with its run, before
 * it writes anything but records of a start: no other records of two runs follow one head.
 *
 * Order of a start: key, first record (`audit.key`), head, list; other records come after that. A process that is killed
 * in between leaves at most records of the start without a head, or a head that is not listed.
 */

import type { KeyObject } from "node:crypto";
import { hash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { lstat, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errnoOf, makePrivateDirectory, reasonOf, replaceFile, waitForLock } from "@toolcrib/files";
import type { JsonObject } from "@toolcrib/json";
import { parseObject, readHomeFile, toSignedBytes } from "./home-file.ts";
import { type HomeLayout, toWriterId, writerMax } from "./home-layout.ts";
import { isSignature, type SigningKey, signBytes } from "./signing-key.ts";
import { StoreError } from "./store-error.ts";

/** The end of a writer's trail at some time. */
export interface AuditHead {
  /** Three digits. */
  readonly writer: string;
  /** Sequence number of the last record. */
  readonly sequence: number;
  /** Hash of its line (hash-chain.ts). */
  readonly hash: string;
  /** When the head was signed, RFC 3339. */
  readonly time: string;
  /**
   * Signed at shutdown: nothing follows this record until a start replaces the head by an open one. Absent while a process
   * writes, and after a crash.
   */
  readonly closed?: true;
  /** The run that signed it and writes the next records. Absent in heads of earlier versions. */
  readonly run?: string;
  /** The highest number of the list of writers that was known. Absent before there is a list, and in heads of earlier versions. */
  readonly listNumber?: number;
}

/** A head with its signature (Ed25519, base64) under the key of the home. */
export interface SignedHead extends AuditHead {
  readonly signature: string;
}

/** The part of a writer's trail that retention deleted: everything up to a record. */
export interface Tombstone {
  /** Three digits. */
  readonly writer: string;
  /** Sequence number of the last deleted record. */
  readonly lastSequence: number;
  /** Hash of its line: `previous` of the record after it. */
  readonly lastHash: string;
}

/** A head of the home, or the reason why it proves nothing. */
export type StoredHead =
  | { readonly kind: "absent" }
  | { readonly kind: "signed"; readonly head: SignedHead }
  | { readonly kind: "invalid"; readonly reason: string; readonly digest: string };

/** The signed list of writers, or the reason why it proves nothing. */
export type StoredWriters =
  | { readonly kind: "absent" }
  | {
      readonly kind: "signed";
      readonly writers: ReadonlySet<string>;
      /** From 1, and higher with each change; 0 for a list of an earlier version. */
      readonly number: number;
    }
  | {
      readonly kind: "invalid";
      readonly reason: string;
      readonly digest: string;
      readonly named: ReadonlySet<string>;
    };

const format = 1;
const lockTimeoutMs = 10_000;
const headName = /^\d{3}\.json$/;
const tombstoneName = /^\d{3}\.pruned\.json$/;
const noKey = "the key of the home is missing or cannot be read";

/** Dependencies of signed files. */
export interface SignedFileDeps {
  readonly layout: HomeLayout;
  readonly key: SigningKey;
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
}

/** Signs the heads of one writer. Calls must not overlap. */
export class HeadWriter {
  readonly #deps: SignedFileDeps & { readonly now: () => number };
  readonly #writer: string;
  readonly #run: string;
  #written: number;
  #isClosed: boolean;
  /** The run of the stored head. */
  #storedRun: string | undefined;
  #storedListNumber: number;
  /** The highest number of the list that a head states. */
  #listNumber: number;

  /** @param stored the stored head, if it is this writer's, valid and about its last record. */
  constructor(
    {
      writer,
      run,
      listNumber,
    }: { readonly writer: number; readonly run: string; readonly listNumber: number },
    stored: AuditHead | undefined,
    deps: SignedFileDeps & {
      /** Milliseconds since the epoch. */
      readonly now: () => number;
    },
  ) {
    this.#deps = deps;
    this.#writer = toWriterId(writer);
    this.#run = run;
    this.#listNumber = listNumber;
    this.#written = stored?.sequence ?? 0;
    this.#isClosed = stored?.closed === true;
    this.#storedRun = stored?.run;
    this.#storedListNumber = stored?.listNumber ?? 0;
  }

  /** Whether a head of this record is stored already, open or closed. */
  isSigned(sequence: number): boolean {
    return sequence === this.#written;
  }

  /** Whether the stored head is the one that `write` would store. Reads the list of writers. */
  isStored(sequence: number, isClosed: boolean): boolean {
    return (
      sequence === this.#written &&
      isClosed === this.#isClosed &&
      this.#run === this.#storedRun &&
      this.#knownListNumber() === this.#storedListNumber
    );
  }

  /** A list that was put back does not lower it. */
  #knownListNumber(): number {
    const { layout, key } = this.#deps;
    const list = readWriters(layout, key);
    if (list.kind === "signed") this.#listNumber = Math.max(this.#listNumber, list.number);
    return this.#listNumber;
  }

  /** Replaces the head and returns it. @throws {StoreError} `STORE_UNWRITABLE` */
  async write(sequence: number, lineHash: string, isClosed: boolean): Promise<SignedHead> {
    const { layout, now, randomBytes, key } = this.#deps;
    const listNumber = this.#knownListNumber();
    const unsigned: AuditHead = {
      writer: this.#writer,
      sequence,
      hash: lineHash,
      time: new Date(now()).toISOString(),
      ...(isClosed ? { closed: true } : {}),
      run: this.#run,
      ...(listNumber === 0 ? {} : { listNumber }),
    };
    const head = { ...unsigned, signature: signBytes(key, toSigned(unsigned)) };
    await writeSigned(layout, randomBytes, headPathOf(layout, this.#writer), formatHead(head));
    this.#written = sequence;
    this.#isClosed = isClosed;
    this.#storedRun = this.#run;
    this.#storedListNumber = listNumber;
    return head;
  }
}

function headPathOf({ headDirectory }: HomeLayout, writer: string): string {
  return join(headDirectory, `${writer}.json`);
}

/** @throws {StoreError} `STORE_UNWRITABLE` */
async function writeSigned(
  layout: HomeLayout,
  randomBytes: SignedFileDeps["randomBytes"],
  path: string,
  text: string,
): Promise<void> {
  try {
    await makePrivateDirectory(layout.headDirectory);
    await moveFolderAside(path);
    await replaceFile({ randomBytes }, path, text);
  } catch (cause) {
    throw new StoreError(
      "STORE_UNWRITABLE",
      `Cannot store the signed end of the audit trail: ${reasonOf(cause)}`,
      {
        cause,
        ...((await isFolder(path).catch(() => false))
          ? { hint: `move the folder out of the home: mv "${path}" ELSEWHERE` }
          : {}),
      },
    );
  }
}

/** Most folders that are kept next to the signed file in whose place they were. */
const keptFoldersMax = 100;

/**
 * Renames a folder in the place of a signed file, with everything in it: no file can replace it, and it would fail every
 * start. The start has recorded it by then. @throws the file system's error, also when too many are kept
 */
async function moveFolderAside(path: string): Promise<void> {
  if (!(await isFolder(path))) return;
  const siblings = new Set(readdirSync(dirname(path)));
  for (let at = 1; at <= keptFoldersMax; at += 1) {
    const name = `${basename(path)}.folder-${at}`;
    if (siblings.has(name)) continue;
    await rename(path, join(dirname(path), name));
    return;
  }
  throw new Error(`"${path}" is a folder, and ${keptFoldersMax} such folders are kept already`);
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** Returns the line of a head in its file and in an anchor, with its line feed. */
export function formatHead(head: SignedHead): string {
  return `${JSON.stringify({ format, ...head })}\n`;
}

/** Whether `head` is signed with `publicKey`. */
export function isSignedWith({ signature, ...head }: SignedHead, publicKey: KeyObject): boolean {
  return isSignature(publicKey, toSigned(head), signature);
}

/** Replaces the tombstone of a writer. Its caller is the only process that prunes. @throws {StoreError} `STORE_UNWRITABLE` */
export async function writeTombstone(
  { layout, key, randomBytes }: SignedFileDeps,
  tombstone: Tombstone,
): Promise<void> {
  const signature = signBytes(key, toSignedTombstone(tombstone));
  const path = join(layout.headDirectory, `${tombstone.writer}.pruned.json`);
  await writeSigned(layout, randomBytes, path, `${JSON.stringify({ format, ...tombstone, signature })}\n`);
}

/**
 * Adds `writer` to the signed list. An invalid list, and one that is older than the heads say, is replaced by one with what
 * is known.
 *
 * @param known the highest number of the list that a head states; 0 when none does.
 * @throws {StoreError} `STORE_BUSY`, `STORE_UNWRITABLE`
 */
export async function addToWriters(
  { layout, key, randomBytes }: SignedFileDeps,
  writer: string,
  known: number,
): Promise<void> {
  using lock = await waitForLock(layout.lockDirectory, "audit-heads", lockTimeoutMs);
  if (lock === undefined)
    throw new StoreError(
      "STORE_BUSY",
      "Cannot change the list of writers of the audit trail: another process holds its lock",
    );
  const stored = readWriters(layout, key);
  const isCurrent = stored.kind === "signed" && stored.number >= known;
  const names = new Set([
    ...(stored.kind === "signed" ? stored.writers : []),
    ...(isCurrent ? [] : namedWriters(layout, stored)),
  ]);
  if (isCurrent && names.has(writer)) return;
  const number = Math.max(stored.kind === "signed" ? stored.number : 0, known) + 1;
  const writers = [...names.add(writer)].sort();
  const signature = signBytes(key, toSignedBytes({ format, number, writers }));
  const text = `${JSON.stringify({ format, number, writers, signature })}\n`;
  await writeSigned(layout, randomBytes, writersPathOf(layout), text);
}

/** The writers that a list must have had which is invalid, missing or too old: those that it names, and those that have a head. */
function namedWriters(layout: HomeLayout, stored: StoredWriters): readonly string[] {
  const named = stored.kind === "invalid" ? [...stored.named] : [];
  return [...named, ...listHeads(layout)];
}

function writersPathOf({ headDirectory }: HomeLayout): string {
  return join(headDirectory, "writers.json");
}

/**
 * Whether a gateway has started in this home: it creates the key of the fingerprints after its start wrote the list of
 * writers. To be asked before the list is read. Its absence says nothing.
 */
export function hasStarted({ fingerprintKeyPath }: HomeLayout): boolean {
  return existsSync(fingerprintKeyPath);
}

/** Returns the writers that have a head file. @throws the file system's error */
export function listHeads(layout: HomeLayout): readonly string[] {
  return filesIn(layout.headDirectory, headName).map((name) => name.slice(0, 3));
}

/** Reads the head of a writer. Never throws. @param key absent for a home without one. */
export function readHead(layout: HomeLayout, writer: string, key: SigningKey | undefined): StoredHead {
  const read = readText(headPathOf(layout, writer));
  if (read.kind !== "text") return read;
  return checkHead(read.text, writer, key);
}

/** A key that verifies signatures. */
type PublicSigningKey = Pick<SigningKey, "publicKey">;

/** Returns the head of a writer in the text of its file. Never throws. @param key absent without one. */
export function checkHead(text: string, writer: string, key: PublicSigningKey | undefined): StoredHead {
  const head = parseHead(text);
  const invalid = (reason: string): StoredHead => ({ kind: "invalid", reason, digest: digestOf(text) });
  if (head === undefined) return invalid("it is damaged");
  if (head.writer !== writer) return invalid(`it is the head of writer ${head.writer}`);
  if (key === undefined) return invalid(noKey);
  return isSignedWith(head, key.publicKey) ? { kind: "signed", head } : invalid("its signature is wrong");
}

/** Reads the list of writers. Never throws. */
export function readWriters(layout: HomeLayout, key: SigningKey | undefined): StoredWriters {
  const read = readText(writersPathOf(layout));
  if (read.kind === "absent") return read;
  if (read.kind === "invalid") return { ...read, named: new Set() };
  return checkWriters(read.text, key);
}

/** Returns the list of writers in the text of its file. Never throws. @param key absent without one. */
export function checkWriters(text: string, key: PublicSigningKey | undefined): StoredWriters {
  const { number, writers, signature, ...rest } = parseObject(text);
  const names = Array.isArray(writers)
    ? writers
        .filter((one): one is string => typeof one === "string" && /^\d{3}$/.test(one))
        .slice(0, writerMax)
    : [];
  const invalid = (reason: string): StoredWriters => {
    return { kind: "invalid", reason, digest: digestOf(text), named: new Set(names) };
  };
  if (rest["format"] !== format || !Array.isArray(writers) || typeof signature !== "string")
    return invalid("it is damaged");
  if (number !== undefined && !isListNumber(number)) return invalid("it is damaged");
  if (key === undefined) return invalid(noKey);
  const signed = toSignedBytes({ format, ...(number === undefined ? {} : { number }), writers });
  return isSignature(key.publicKey, signed, signature)
    ? { kind: "signed", writers: new Set(names), number: number ?? 0 }
    : invalid("its signature is wrong");
}

function isListNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

/** Returns the highest number of the list of writers that one of `heads` states; 0 when none does. */
export function listNumberOf(heads: Iterable<StoredHead>): number {
  let highest = 0;
  for (const stored of heads)
    if (stored.kind === "signed") highest = Math.max(highest, stored.head.listNumber ?? 0);
  return highest;
}

/** Reads the tombstones whose signature is right, by writer. @throws the file system's error */
export function readTombstones(
  layout: HomeLayout,
  key: SigningKey | undefined,
): ReadonlyMap<string, Tombstone> {
  const tombstones = new Map<string, Tombstone>();
  if (key === undefined) return tombstones;
  for (const name of filesIn(layout.headDirectory, tombstoneName)) {
    const read = readText(join(layout.headDirectory, name));
    const tombstone = read.kind === "text" ? checkTombstone(read.text, key) : undefined;
    if (tombstone?.writer === name.slice(0, 3)) tombstones.set(tombstone.writer, tombstone);
  }
  return tombstones;
}

/** Returns the tombstone in the text of its file; `undefined` unless its signature is right. */
export function checkTombstone(text: string, key: PublicSigningKey): Tombstone | undefined {
  const stored = parseTombstone(text);
  if (stored === undefined) return undefined;
  const { signature, ...tombstone } = stored;
  return isSignature(key.publicKey, toSignedTombstone(tombstone), signature) ? tombstone : undefined;
}

/** The texts of the signed files of a home; those that are missing or cannot be read are left out. @throws the file system's error */
export function readSignedTexts(layout: HomeLayout): {
  readonly writers: string | undefined;
  readonly heads: readonly string[];
  readonly tombstones: readonly string[];
} {
  const textAt = (path: string) => {
    const read = readText(path);
    return read.kind === "text" ? read.text : undefined;
  };
  const textsOf = (pattern: RegExp) =>
    filesIn(layout.headDirectory, pattern)
      .toSorted()
      .map((name) => textAt(join(layout.headDirectory, name)))
      .filter((text) => text !== undefined);
  // The list first: a writer is listed after its first head.
  const writers = textAt(writersPathOf(layout));
  return { writers, heads: textsOf(headName), tombstones: textsOf(tombstoneName) };
}

type ReadText =
  | { readonly kind: "absent" }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "invalid"; readonly reason: string; readonly digest: string };

function readText(path: string): ReadText {
  try {
    const text = readHomeFile(path);
    return text === undefined ? { kind: "absent" } : { kind: "text", text };
  } catch (error) {
    const reason = reasonOf(error);
    return { kind: "invalid", reason, digest: digestOf(reason) };
  }
}

function digestOf(text: string): string {
  return `sha256:${hash("sha256", text, "hex")}`;
}

function filesIn(directory: string, pattern: RegExp): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => pattern.test(name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function toSigned({ writer, sequence, hash: lineHash, time, ...optional }: AuditHead): Buffer {
  return toSignedBytes({ format, writer, sequence, hash: lineHash, time, ...membersOf(optional) });
}

/** The optional members of a head that are there. */
function membersOf({ closed, run, listNumber }: Pick<AuditHead, "closed" | "run" | "listNumber">) {
  return {
    ...(closed ? { closed } : {}),
    ...(run === undefined ? {} : { run }),
    ...(listNumber === undefined ? {} : { listNumber }),
  };
}

function toSignedTombstone({ writer, lastSequence, lastHash }: Tombstone): Buffer {
  return toSignedBytes({ format, writer, lastSequence, lastHash });
}

function parseTombstone(text: string): (Tombstone & { readonly signature: string }) | undefined {
  const { writer, lastSequence, lastHash, signature } = parseObject(text);
  if (typeof writer !== "string" || typeof lastSequence !== "number") return undefined;
  if (typeof lastHash !== "string" || typeof signature !== "string") return undefined;
  return { writer, lastSequence, lastHash, signature };
}

/** Length of the shortest head. */
const headMinLength = '{"format":1,"writer":"001","sequence":1,"hash":"","time":"","signature":""}'.length;

/** Returns the head in a line; `undefined` when it is none. */
export function parseHead(text: string): SignedHead | undefined {
  // A file of anchors can have millions of short lines: see `parseRecord`.
  if (text.length < headMinLength) return undefined;
  const fields: JsonObject = parseObject(text);
  const { writer, sequence, hash: lineHash, time, signature } = fields;
  if (fields["format"] !== format || typeof writer !== "string" || !/^\d{3}$/.test(writer)) return undefined;
  if (typeof sequence !== "number" || !Number.isSafeInteger(sequence)) return undefined;
  if (typeof lineHash !== "string" || typeof time !== "string" || typeof signature !== "string")
    return undefined;
  const { closed, run, listNumber } = fields;
  if (closed !== undefined && closed !== true) return undefined;
  if (run !== undefined && typeof run !== "string") return undefined;
  if (listNumber !== undefined && !isListNumber(listNumber)) return undefined;
  return { writer, sequence, hash: lineHash, time, ...membersOf({ closed, run, listNumber }), signature };
}
