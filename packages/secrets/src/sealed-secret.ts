/**
 * The stored form of one secret: a line of JSON with an AES-256-GCM ciphertext.
 * The rest of the line (version, name, times, key id) is authenticated with it, so
 * that a file that was changed, or replaced by the file of another secret, is
 * detected. No I/O: the caller passes a new random nonce each time.
 */

import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";
import { isJsonObject } from "@toolcrib/json";
import { secretMaxBytes } from "./secret-text.ts";
import { SecretsError } from "./secrets-error.ts";

/** The current version of the format. */
const formatVersion = 1;
/** Bytes of a nonce. */
export const nonceBytes = 12;
/** Longest file of a sealed secret: base64 adds a third, and the header is short. */
export const sealedMaxBytes = 2 * secretMaxBytes;

/** A decrypted secret with its times. */
export interface OpenedSecret {
  readonly name: string;
  readonly value: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

interface Header {
  readonly version: number;
  readonly name: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly key: string;
}

/** Returns an id that distinguishes keys and reveals nothing about the key. */
export function keyIdOf(key: Uint8Array): string {
  return createHmac("sha256", key).update("toolcrib secret store: key id").digest("hex").slice(0, 16);
}

/** Encrypts a secret. Returns the line to store. */
export function sealSecret(secret: OpenedSecret, key: Uint8Array, nonce: Uint8Array): string {
  const { name, createdAt, updatedAt, value } = secret;
  const header: Header = { version: formatVersion, name, createdAt, updatedAt, key: keyIdOf(key) };
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: 16 });
  cipher.setAAD(authenticated(header));
  const sealed = Buffer.concat([cipher.update(value, "utf8"), cipher.final()]);
  const parts = { nonce: base64(nonce), tag: base64(cipher.getAuthTag()), sealed: base64(sealed) };
  return `${JSON.stringify({ ...header, ...parts })}\n`;
}

/**
 * Decrypts the line that is stored under `name`.
 *
 * @throws {SecretsError} `SECRETS_KEY_WRONG`, `SECRETS_DAMAGED`.
 */
export function openSecret(line: Uint8Array, name: string, key: Uint8Array): OpenedSecret {
  const { header, nonce, tag, sealed } = parseSealed(line, name);
  if (header.key !== keyIdOf(key)) {
    throw new SecretsError(
      "SECRETS_KEY_WRONG",
      `Cannot decrypt secret ${JSON.stringify(name)}: it was encrypted with a different key`,
      {
        hint: "restore the key that it was set with (secrets/.store/key, TOOLCRIB_SECRETS_KEY), or remove the secret and set it again",
      },
    );
  }
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: 16 });
    decipher.setAAD(authenticated(header));
    decipher.setAuthTag(tag);
    const value = Buffer.concat([decipher.update(sealed), decipher.final()]).toString("utf8");
    return { name, value, createdAt: header.createdAt, updatedAt: header.updatedAt };
  } catch {
    throw damaged(name, "it was changed outside Toolcrib");
  }
}

/** Returns the id of the key that `line` was encrypted with. @throws {SecretsError} `SECRETS_DAMAGED`. */
export function sealedKeyId(line: Uint8Array, name: string): string {
  return parseSealed(line, name).header.key;
}

function parseSealed(line: Uint8Array, name: string) {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
  } catch {
    throw damaged(name, "its file is incomplete");
  }
  if (!isJsonObject(parsed)) throw damaged(name, "its file is incomplete");
  const { version, createdAt, updatedAt, key } = parsed;
  if (typeof version === "number" && version > formatVersion) {
    throw damaged(
      name,
      `its format is version ${version}, and this version of Toolcrib supports ${formatVersion}`,
    );
  }
  const nonce = bytesOf(parsed["nonce"]);
  const tag = bytesOf(parsed["tag"]);
  const sealed = bytesOf(parsed["sealed"]);
  if (
    version !== formatVersion ||
    typeof createdAt !== "number" ||
    typeof updatedAt !== "number" ||
    typeof key !== "string" ||
    nonce?.length !== nonceBytes ||
    tag?.length !== 16 ||
    sealed === undefined
  ) {
    throw damaged(name, "its file is incomplete");
  }
  if (parsed["name"] !== name) throw damaged(name, "it is the file of another secret");
  return { header: { version, name, createdAt, updatedAt, key }, nonce, tag, sealed };
}

/** Serializes the header. The order of members is fixed, so that equal headers have equal bytes. */
function authenticated({ version, name, createdAt, updatedAt, key }: Header): Buffer {
  return Buffer.from(JSON.stringify(["toolcrib secret", version, name, createdAt, updatedAt, key]));
}

function damaged(name: string, problem: string): SecretsError {
  return new SecretsError("SECRETS_DAMAGED", `Cannot read secret ${JSON.stringify(name)}: ${problem}`, {
    hint: "restore its file from a backup, or set the secret again",
  });
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

function bytesOf(value: unknown): Buffer | undefined {
  return typeof value === "string" ? Buffer.from(value, "base64") : undefined;
}
