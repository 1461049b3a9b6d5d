/**
 * The seal of a stored line: a code of its text and of the session that it belongs to, made with a key of the home
 * (HMAC-SHA-256, 128 bits of it). A line that was changed, or moved to another session, has none.
 */

import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { createFile, errnoOf, makePrivateDirectory, readRegularFile, reasonOf } from "@toolcrib/files";
import { StoreError } from "@toolcrib/store";

const keyBytes = 32;
const sealBytes = 16;
const sealPattern = /^[\w-]{22} /;
const sealLength = 23;

/** Returns the name of the files of session `id`: the id itself is not stored. */
export function fileNameOf(id: string): string {
  return createHash("sha256").update(id).digest("hex");
}

/** Seals and opens lines. */
export class Seal {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** Returns `text`, which has no line feed, with its seal. @param owner the file name of its session */
  close(owner: string, text: string): string {
    return `${this.#codeOf(owner, text).toString("base64url")} ${text}`;
  }

  /** Returns the text of a line; undefined for one that this home did not seal for `owner`. */
  open(owner: string, line: string): string | undefined {
    if (!sealPattern.test(line)) return undefined;
    const text = line.slice(sealLength);
    const given = Buffer.from(line.slice(0, sealLength - 1), "base64url");
    const expected = this.#codeOf(owner, text);
    return given.length === expected.length && timingSafeEqual(given, expected) ? text : undefined;
  }

  #codeOf(owner: string, text: string): Buffer {
    return createHmac("sha256", this.#key).update(`${owner}\n${text}`).digest().subarray(0, sealBytes);
  }
}

/**
 * Reads the key of the home, `sessions.key`, and creates it if there is none.
 *
 * @throws {StoreError} `STORE_UNREADABLE`; what `createFile` throws
 */
export async function openSeal(home: string, randomBytes: (count: number) => Uint8Array): Promise<Seal> {
  const path = join(home, "sessions.key");
  const known = await readKey(path);
  if (known !== undefined) return new Seal(known);
  await makePrivateDirectory(home);
  const key = randomBytes(keyBytes);
  if (await createFile({ randomBytes }, path, `${Buffer.from(key).toString("hex")}\n`)) return new Seal(key);
  // Another gateway of this home was first.
  const created = await readKey(path);
  if (created === undefined) throw unreadable(path, "it was removed");
  return new Seal(created);
}

async function readKey(path: string): Promise<Uint8Array | undefined> {
  let text: string;
  try {
    const { bytes } = await readRegularFile(path, 3 * keyBytes);
    text = Buffer.from(bytes).toString("utf8");
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return undefined;
    throw unreadable(path, reasonOf(cause), cause);
  }
  if (/^[0-9a-f]{64}\s*$/.test(text)) return Buffer.from(text.slice(0, 2 * keyBytes), "hex");
  throw unreadable(path, "its content is no key");
}

function unreadable(path: string, reason: string, cause?: unknown): StoreError {
  return new StoreError("STORE_UNREADABLE", `Cannot read the key of the sessions in "${path}": ${reason}`, {
    cause,
    hint: "remove the file: a new key is created, and clients with sessions from before open new ones",
  });
}
