/**
 * Signed heads: for each writer the number and the hash of a recent record, in a file of the home
 * (`audit-heads/001.json`), signed with a key of the home (Ed25519). A head shows that records were cut off at the end of
 * a trail, and that the last ones were changed, which a hash chain alone cannot.
 *
 * A person who can read the key can sign: against that person, only a head that was kept elsewhere is a proof.
 */

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makePrivateDirectory, replaceFile, waitForLock } from "@toolcrib/files";
import { canonicalJson, isJsonObject, type JsonObject, parseJson } from "@toolcrib/json";
import { type HomeLayout, toWriterId } from "./home-layout.ts";
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
}

/** A head with its signature (Ed25519, base64) under the key of the home. */
export interface SignedHead extends AuditHead {
  readonly signature: string;
}

/** What retention deleted of a writer's trail: everything up to a record. */
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
  | ({ readonly kind: "signed" } & AuditHead)
  | { readonly kind: "invalid"; readonly writer: string; readonly reason: string };

const format = 1;
const lockTimeoutMs = 10_000;
const fileMaxBytes = 64 * 1024;

/** Dependencies of the heads of a writer. */
export interface HeadWriterDeps {
  readonly layout: HomeLayout;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
}

/** Signs the heads of one writer. Calls must not overlap. */
export class HeadWriter {
  readonly #deps: HeadWriterDeps;
  readonly #writer: string;
  #key: KeyObject | undefined;
  #written = 0;

  constructor(writer: number, deps: HeadWriterDeps) {
    this.#deps = deps;
    this.#writer = toWriterId(writer);
  }

  /** Replaces the head and returns it; `undefined` when it is this one already. @throws {StoreError} `STORE_UNWRITABLE` */
  async write(sequence: number, hash: string): Promise<SignedHead | undefined> {
    if (sequence === 0 || sequence === this.#written) return undefined;
    const { layout, now, randomBytes } = this.#deps;
    try {
      this.#key ??= await openKey(this.#deps);
      const head: AuditHead = { writer: this.#writer, sequence, hash, time: new Date(now()).toISOString() };
      const signature = sign(null, toSigned(head), this.#key).toString("base64");
      await makePrivateDirectory(layout.headDirectory);
      const path = join(layout.headDirectory, `${this.#writer}.json`);
      await replaceFile({ randomBytes }, path, formatHead({ ...head, signature }));
      this.#written = sequence;
      return { ...head, signature };
    } catch (cause) {
      if (cause instanceof StoreError) throw cause;
      throw new StoreError("STORE_UNWRITABLE", "Cannot store the signed end of the audit trail", { cause });
    }
  }
}

/** Returns the line of a head in its file and in an anchor, with its line feed. */
export function formatHead(head: SignedHead): string {
  return `${JSON.stringify({ format, ...head })}\n`;
}

/** Whether `head` is signed with `publicKey` (PEM). */
export function isSignedWith({ signature, ...head }: SignedHead, publicKey: KeyObject): boolean {
  return verify(null, toSigned(head), publicKey, Buffer.from(signature, "base64"));
}

/** Replaces the tombstone of a writer. Its caller is the only process that prunes. @throws {StoreError} `STORE_BUSY`, and {FilesError} */
export async function writeTombstone(
  deps: Pick<HeadWriterDeps, "layout" | "randomBytes">,
  tombstone: Tombstone,
): Promise<void> {
  const { layout, randomBytes } = deps;
  const signature = sign(null, toSignedTombstone(tombstone), await openKey(deps)).toString("base64");
  await makePrivateDirectory(layout.headDirectory);
  const path = join(layout.headDirectory, `${tombstone.writer}.pruned.json`);
  await replaceFile({ randomBytes }, path, `${JSON.stringify({ format, ...tombstone, signature })}\n`);
}

/** The heads of a home, and the key that signs them. */
export interface StoredHeads {
  readonly heads: readonly StoredHead[];
  /** Those whose signature is right. */
  readonly tombstones: readonly Tombstone[];
  /** The public key, as PEM; undefined when the home has none. */
  readonly publicKey: string | undefined;
}

/** Reads the heads of a home and checks their signatures. @throws the file system's error */
export function readHeads(layout: HomeLayout): StoredHeads {
  const key = readKey(layout);
  const publicKey = key === undefined ? undefined : createPublicKey(key);
  const tombstones = filesIn(layout.headDirectory, tombstoneName).flatMap((name) => {
    const tombstone = parseTombstone(readFileSync(join(layout.headDirectory, name), "utf8"));
    if (tombstone === undefined || publicKey === undefined) return [];
    const { signature, ...signed } = tombstone;
    const isSigned = verify(null, toSignedTombstone(signed), publicKey, Buffer.from(signature, "base64"));
    return isSigned ? [signed] : [];
  });
  const heads = filesIn(layout.headDirectory, headName).map((name): StoredHead => {
    const writer = name.slice(0, 3);
    const head = parseHead(readFileSync(join(layout.headDirectory, name), "utf8"));
    if (head === undefined || head.writer !== writer) return invalid(writer, "it is damaged");
    const { signature: _, ...signed } = head;
    if (publicKey === undefined) return invalid(writer, "the key of the home is missing");
    return isSignedWith(head, publicKey)
      ? { kind: "signed", ...signed }
      : invalid(writer, "its signature is wrong");
  });
  return { heads, tombstones, publicKey: publicKey?.export({ type: "spki", format: "pem" }).toString() };
}

function invalid(writer: string, reason: string): StoredHead {
  return { kind: "invalid", writer, reason };
}

const headName = /^\d{3}\.json$/;
const tombstoneName = /^\d{3}\.pruned\.json$/;

function filesIn(directory: string, pattern: RegExp): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => pattern.test(name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Returns the bytes that a signature covers. */
function toSigned({ writer, sequence, hash, time }: AuditHead): Buffer {
  return Buffer.from(canonicalJson({ format, writer, sequence, hash, time }));
}

function toSignedTombstone({ writer, lastSequence, lastHash }: Tombstone): Buffer {
  return Buffer.from(canonicalJson({ format, writer, lastSequence, lastHash }));
}

function parseObject(text: string): JsonObject {
  try {
    const value: unknown = parseJson(text, { maxLength: fileMaxBytes });
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function parseTombstone(text: string): (Tombstone & { readonly signature: string }) | undefined {
  const { writer, lastSequence, lastHash, signature } = parseObject(text);
  if (typeof writer !== "string" || typeof lastSequence !== "number") return undefined;
  if (typeof lastHash !== "string" || typeof signature !== "string") return undefined;
  return { writer, lastSequence, lastHash, signature };
}

/** Returns the head in a line; `undefined` when it is none. */
export function parseHead(text: string): SignedHead | undefined {
  const { writer, sequence, hash, time, signature, ...rest } = parseObject(text);
  if (rest["format"] !== format || typeof writer !== "string" || !/^\d{3}$/.test(writer)) return undefined;
  if (typeof sequence !== "number" || !Number.isSafeInteger(sequence)) return undefined;
  if (typeof hash !== "string" || typeof time !== "string" || typeof signature !== "string") return undefined;
  return { writer, sequence, hash, time, signature };
}

function readKey({ headKeyPath }: HomeLayout): KeyObject | undefined {
  try {
    return createPrivateKey(readFileSync(headKeyPath));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Returns the key of the home; creates it if there is none. A key that cannot be read is never replaced. */
async function openKey({
  layout,
  randomBytes,
}: Pick<HeadWriterDeps, "layout" | "randomBytes">): Promise<KeyObject> {
  const known = readKey(layout);
  if (known !== undefined) return known;
  using lock = await waitForLock(layout.lockDirectory, "audit-key", lockTimeoutMs);
  if (lock === undefined) throw new StoreError("STORE_BUSY", "Cannot create the key of the audit trail");
  const created = readKey(layout);
  if (created !== undefined) return created;
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" });
  await replaceFile({ randomBytes }, layout.headKeyPath, pem);
  return privateKey;
}
