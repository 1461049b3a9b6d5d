/**
 * The proof of an export of the trail: the signed files of the home (audit-heads.ts), the public key, and the digest of
 * the exported bytes, in one document with one signature. Parts of two proofs are no proof, and a proof is of one export.
 * An export with a proof ends with the signed head of each writer, so that no record in it is without a signature.
 *
 * The key in a proof says who signed, and nothing about whether that is the gateway: the reader must know its digest.
 */

import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { reasonOf } from "@toolcrib/files";
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import type { AuditRecord } from "./audit-event.ts";
import {
  checkHead,
  checkTombstone,
  checkWriters,
  listNumberOf,
  parseHead,
  readSignedTexts,
  type StoredHead,
  type StoredWriters,
  type Tombstone,
} from "./audit-heads.ts";
import { parseObject, readHomeFile, toSignedBytes } from "./home-file.ts";
import { type HomeLayout, toHomeLayout } from "./home-layout.ts";
import { isSignature, parsePublicKey, readSigningKey, type SigningKey, signBytes } from "./signing-key.ts";
import { StoreError } from "./store-error.ts";

const format = 1;
/** Separates the signature of a proof from those of other documents that the same key signs. */
const proofType = "audit.export-proof";
/** Bytes of a proof: that of 64 writers has a hundredth. */
const proofMaxBytes = 4 * 1024 * 1024;
/** Times that signed files are read until none of them changed meanwhile. */
const attemptsMax = 20;

/** The proof of one export of a home. Created before the records are read, and formatted after the last text is written. */
export class ExportProof {
  readonly #layout: HomeLayout;
  readonly #key: SigningKey;
  readonly #texts: ReturnType<typeof readSignedTexts>;
  readonly #ends = new Map<string, number>();
  readonly #hash = createHash("sha256");
  #records = 0;
  /** What retention had deleted when the segments were open that are exported: it deletes more while they are read. */
  #tombstones: readonly string[] | undefined;
  /** The first exported record of each writer. */
  readonly #firsts = new Map<string, AuditRecord>();

  /** @throws {StoreError} `STORE_UNREADABLE`; the file system's error */
  constructor(home: string) {
    this.#layout = toHomeLayout(home);
    this.#key = readKey(this.#layout);
    this.#texts = readConsistentTexts(this.#layout);
    for (const text of this.#texts.heads) {
      const head = parseHead(text);
      if (head !== undefined) this.#ends.set(head.writer, head.sequence);
    }
  }

  /** Digest of the public key, such as `sha256:…`. */
  get keyDigest(): string {
    return this.#key.digest;
  }

  /** Whether the export contains a record: it is not after the signed end of its writer. Called with each record, in order. */
  includes(record: AuditRecord): boolean {
    const { writer, sequence } = record;
    if (!this.#firsts.has(writer)) this.#firsts.set(writer, record);
    return Number(sequence) <= (this.#ends.get(writer) ?? 0);
  }

  /** Adds the next text of the export, exactly as it is written, and the number of records in it. @throws the file system's error */
  add(text: string, recordCount: number): void {
    this.#tombstones ??= readSignedTexts(this.#layout).tombstones;
    this.#hash.update(text);
    this.#records += recordCount;
  }

  /**
   * Returns the signed document, once: after the last text of the export.
   *
   * @param timeMs the time now, milliseconds since the epoch
   * @throws the file system's error
   */
  format(timeMs: number): string {
    const { writers, heads } = this.#texts;
    const later = this.#tombstones ?? readSignedTexts(this.#layout).tombstones;
    // A segment can be signed as deleted that was open by then: what was deleted before is what the export follows.
    const earlier = this.#texts.tombstones.filter((text) => this.#isFollowed(text));
    const replaced = new Set(earlier.map((text) => parseObject(text)["writer"]));
    const tombstones = [...earlier, ...later.filter((text) => !replaced.has(parseObject(text)["writer"]))];
    const unsigned: JsonObject = {
      type: proofType,
      format,
      time: new Date(timeMs).toISOString(),
      records: this.#records,
      sha256: this.#hash.digest("hex"),
      publicKey: this.#key.publicKey.export({ type: "spki", format: "pem" }).toString(),
      ...(writers === undefined ? {} : { writers: parseObject(writers) }),
      heads: heads.map(parseObject),
      tombstones: tombstones.map(parseObject),
    };
    const signature = signBytes(this.#key, toSignedBytes(unsigned));
    return formatProof({ ...unsigned, signature });
  }

  /** Whether the export of a writer begins with the record after its tombstone. */
  #isFollowed(text: string): boolean {
    const tombstone = checkTombstone(text, this.#key);
    const first = tombstone && this.#firsts.get(tombstone.writer);
    return first !== undefined && Number(first.sequence) - 1 === tombstone?.lastSequence;
  }
}

/** Returns the text of a proof: the only one for its content. */
function formatProof(proof: JsonObject): string {
  return `${JSON.stringify(proof)}\n`;
}

function readKey(layout: HomeLayout): SigningKey {
  const unreadable = (reason: string) =>
    new StoreError(
      "STORE_UNREADABLE",
      `Cannot read the key of the audit trail "${layout.headKeyPath}": ${reason}`,
      { hint: "name the home of a gateway that has started, as a user who may read it" },
    );
  let key: SigningKey | undefined;
  try {
    key = readSigningKey(layout);
  } catch (error) {
    throw unreadable(reasonOf(error));
  }
  if (key === undefined) throw unreadable("there is none");
  return key;
}

/** A writer that starts meanwhile signs its head first and the list after it, and a later head states the new list. */
function readConsistentTexts(layout: HomeLayout): ReturnType<typeof readSignedTexts> {
  let texts = readSignedTexts(layout);
  for (let attempt = 1; attempt < attemptsMax; attempt += 1) {
    const again = readSignedTexts(layout);
    if (again.writers === texts.writers) break;
    texts = again;
  }
  return texts;
}

/** A parsed proof: what its signatures show. */
export interface ParsedProof {
  readonly key: Omit<SigningKey, "privateKey">;
  /** Why the document as a whole is not signed with its key, or not the text that was written; `undefined` when it is. */
  readonly objection: string | undefined;
  /** When the export ended, RFC 3339. */
  readonly time: string;
  /** Number of exported records. */
  readonly records: number;
  /** Of the exported bytes: 64 hexadecimal digits. */
  readonly sha256: string;
  readonly list: StoredWriters;
  /** Whether a head states a later list of writers than this one. */
  readonly isListEarlier: boolean;
  readonly heads: ReadonlyMap<string, StoredHead>;
  readonly tombstones: ReadonlyMap<string, Tombstone>;
}

/** Reads the proof at `path`. A symbolic link is followed. @throws {StoreError} `AUDIT_UNREADABLE` */
export function readProof(path: string): ParsedProof {
  try {
    const text = readHomeFile(realpathSync(path), proofMaxBytes);
    if (text === undefined) throw new Error("it does not exist");
    return parseProof(text);
  } catch (cause) {
    throw new StoreError("AUDIT_UNREADABLE", `Cannot read the proof "${path}": ${reasonOf(cause)}`, {
      cause,
      hint: "name the file that toolcrib audit export --proof wrote",
    });
  }
}

function parseProof(text: string): ParsedProof {
  const value = parseJson(text, { maxLength: proofMaxBytes });
  if (!isJsonObject(value) || value["type"] !== proofType || value["format"] !== format) throw noProof();
  const { publicKey, time, records, sha256 } = value;
  if (typeof publicKey !== "string" || typeof time !== "string" || Number.isNaN(Date.parse(time)))
    throw noProof();
  if (typeof records !== "number" || typeof sha256 !== "string") throw noProof();
  const key = parsePublicKey(publicKey);
  const heads = new Map<string, StoredHead>();
  for (const one of objectsIn(value["heads"])) {
    const { writer } = one;
    // A damaged head is as good as none: its writer is in the list, or has records.
    if (typeof writer === "string" && /^\d{3}$/.test(writer))
      heads.set(writer, checkHead(JSON.stringify(one), writer, key));
  }
  const tombstones = objectsIn(value["tombstones"])
    .map((one) => checkTombstone(JSON.stringify(one), key))
    .filter((one) => one !== undefined);
  const list = value["writers"];
  const checked: StoredWriters =
    list === undefined ? { kind: "absent" } : checkWriters(JSON.stringify(list), key);
  return {
    key,
    objection: objectionTo(text, value, key),
    time,
    records,
    sha256,
    list: checked,
    isListEarlier: checked.kind === "signed" && checked.number < listNumberOf(heads.values()),
    heads,
    tombstones: new Map(tombstones.map((one) => [one.writer, one])),
  };
}

function noProof(): Error {
  return new Error("it is no proof of an export");
}

/**
 * Why a proof as a whole is not signed with `key`; `undefined` when it is. A signature is of values and not of a text: of a
 * member that is there twice, another program can read the one that was not signed.
 */
function objectionTo(
  text: string,
  proof: JsonObject,
  { publicKey }: Pick<SigningKey, "publicKey">,
): string | undefined {
  const { signature, ...unsigned } = proof;
  if (typeof signature !== "string") return "has no signature";
  if (!isSignature(publicKey, toSignedBytes(unsigned), signature)) return "has a wrong signature";
  return text === formatProof(proof) ? undefined : "is not the text that toolcrib audit export wrote";
}

function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
