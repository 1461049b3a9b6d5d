/**
 * The vectors of definitions in the home: one file for each endpoint, model and number of dimensions
 * (`embeddings/DIGEST.vectors`, readable by its owner only), replaced whole under a lock. It has digests of texts and
 * vectors, and no text. A file that is damaged or of another endpoint counts as none, and is replaced.
 */

import { createHash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  errnoOf,
  makePrivateDirectory,
  readRegularFile,
  reasonOf,
  removeDrafts,
  removeFile,
  replaceFile,
  waitForLock,
} from "@toolcrib/files";
import { EmbeddingsError } from "./embeddings-error.ts";
import type { EndpointSettings } from "./endpoint.ts";
import { requestLimits, vectorLimits, waits } from "./limits.ts";

/** By digest of the text, 64 hexadecimal digits. */
export type VectorsByDigest = ReadonlyMap<string, Float32Array>;

const formatVersion = 1;
const filePattern = /^[0-9a-f]{40}\.vectors$/;
const digestBytes = 32;
const headMaxBytes = 1024;
const fileMaxBytes = vectorLimits.bytes + vectorLimits.vectors * digestBytes + headMaxBytes;

/** The file of one endpoint. */
export class VectorFile {
  readonly #folder: string;
  readonly #lockFolder: string;
  readonly #name: string;
  readonly #randomBytes: (count: number) => Uint8Array;

  constructor(
    home: string,
    { url, model, dimensions }: EndpointSettings,
    randomBytes: (count: number) => Uint8Array,
  ) {
    this.#folder = join(home, "embeddings");
    this.#lockFolder = join(home, "locks");
    const key = JSON.stringify([url, model, dimensions ?? null]);
    this.#name = `${sha256(key).slice(0, 40)}.vectors`;
    this.#randomBytes = randomBytes;
  }

  /** Returns the kept vectors. @throws {EmbeddingsError} `EMBEDDINGS_FILE_UNREADABLE` */
  async read(): Promise<VectorsByDigest> {
    const path = join(this.#folder, this.#name);
    let bytes: Uint8Array;
    try {
      ({ bytes } = await readRegularFile(path, fileMaxBytes));
    } catch (cause) {
      if (errnoOf(cause) === "ENOENT") return new Map();
      throw unreadable(path, reasonOf(cause), cause);
    }
    const vectors = parse(bytes);
    if (vectors === undefined) throw unreadable(path, "its content is damaged");
    return vectors;
  }

  /**
   * Replaces the file by `vectors` and those of other gateways of the home that fit besides them.
   *
   * @throws {EmbeddingsError} `EMBEDDINGS_UNWRITABLE`
   */
  async write(vectors: VectorsByDigest, maxCount: number): Promise<void> {
    const path = join(this.#folder, this.#name);
    try {
      await makePrivateDirectory(this.#folder);
      await makePrivateDirectory(this.#lockFolder);
      using lock = await waitForLock(this.#lockFolder, "embeddings", waits.lockMs);
      if (lock === undefined) throw new Error(`another process has been writing for ${waits.lockMs} ms`);
      await removeDrafts(this.#folder);
      const others = await this.read().catch(() => new Map<string, Float32Array>());
      await replaceFile({ randomBytes: this.#randomBytes }, path, format(vectors, others, maxCount));
      await this.#removeOldest();
    } catch (cause) {
      const message = `Cannot write "${path}": ${reasonOf(cause)}`;
      throw new EmbeddingsError("EMBEDDINGS_UNWRITABLE", message, { cause });
    }
  }

  async #removeOldest(): Promise<void> {
    const files: { readonly name: string; readonly time: number }[] = [];
    for (const name of (await readdir(this.#folder)).filter((one) => filePattern.test(one))) {
      if (name !== this.#name) files.push({ name, time: (await stat(join(this.#folder, name))).mtimeMs });
    }
    const excess = files.toSorted((a, b) => b.time - a.time).slice(vectorLimits.files - 1);
    for (const { name } of excess) await removeFile(join(this.#folder, name));
  }
}

/** Head in JSON, a line feed, and for each vector its digest and its numbers. */
function format(own: VectorsByDigest, others: VectorsByDigest, maxCount: number): Uint8Array {
  const [first] = own.values();
  const length = first?.length ?? 0;
  const rows: Uint8Array[] = [];
  for (const [digest, vector] of [...own, ...[...others].filter(([digest]) => !own.has(digest))]) {
    if (rows.length >= 2 * maxCount) break;
    if (vector.length !== length) continue;
    rows.push(
      Buffer.from(digest, "hex"),
      new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength),
    );
  }
  const body = Buffer.concat(rows);
  const head = { version: formatVersion, length, sha256: sha256(body) };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]);
}

function parse(bytes: Uint8Array): VectorsByDigest | undefined {
  const headEnd = bytes.subarray(0, headMaxBytes).indexOf(0x0a);
  if (headEnd < 0 || bytes.length > fileMaxBytes) return undefined;
  const length = lengthIn(bytes.subarray(0, headEnd), bytes.subarray(headEnd + 1));
  if (length === undefined) return undefined;
  const vectors = new Map<string, Float32Array>();
  const rowBytes = digestBytes + length * Float32Array.BYTES_PER_ELEMENT;
  for (let at = headEnd + 1; at < bytes.length; at += rowBytes) {
    const digest = Buffer.from(bytes.subarray(at, at + digestBytes)).toString("hex");
    // A copy: the bytes of a row do not begin where numbers may.
    const vector = new Float32Array(Uint8Array.from(bytes.subarray(at + digestBytes, at + rowBytes)).buffer);
    if (!vector.every(Number.isFinite)) return undefined;
    vectors.set(digest, vector);
  }
  return vectors;
}

/** Returns the length of the vectors in a file that is complete. */
function lengthIn(headBytes: Uint8Array, body: Uint8Array): number | undefined {
  try {
    const head: unknown = JSON.parse(Buffer.from(headBytes).toString("utf8"));
    if (typeof head !== "object" || head === null) return undefined;
    const { version, length, sha256: digest } = head as Record<string, unknown>;
    const isLength = typeof length === "number" && Number.isInteger(length) && length > 0;
    if (version !== formatVersion || !isLength || length > requestLimits.vectorMaxLength) return undefined;
    const isWhole = body.length % (digestBytes + length * Float32Array.BYTES_PER_ELEMENT) === 0;
    return isWhole && digest === sha256(body) ? length : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a digest in hexadecimal digits. */
export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function unreadable(path: string, reason: string, cause?: unknown): EmbeddingsError {
  return new EmbeddingsError("EMBEDDINGS_FILE_UNREADABLE", `Cannot read "${path}": ${reason}`, { cause });
}
