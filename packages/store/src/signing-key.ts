/**
 * The key that signs the audit trail of a home (Ed25519, `audit-key.pem`). It exists before the first record, and each
 * writer names its digest in a record (`audit.key`), so that a key that was removed or replaced is found.
 *
 * A person who can read the key can sign: against that person, only what was kept elsewhere is a proof.
 */

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { reasonOf, replaceFile, waitForLock } from "@toolcrib/files";
import { readHomeFile } from "./home-file.ts";
import type { HomeLayout } from "./home-layout.ts";
import { StoreError } from "./store-error.ts";

const lockTimeoutMs = 10_000;

/** The key of a home. */
export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** Digest of the public key (SHA-256 of its SPKI form), such as `sha256:…`. */
  readonly digest: string;
}

/** Returns the signature of `bytes`, base64. */
export function signBytes({ privateKey }: SigningKey, bytes: Uint8Array): string {
  return sign(null, bytes, privateKey).toString("base64");
}

/** Whether `signature` is one of `bytes` under `publicKey`, written exactly as `signBytes` does. */
export function isSignature(publicKey: KeyObject, bytes: Uint8Array, signature: string): boolean {
  const decoded = Buffer.from(signature, "base64");
  // Node ignores what is no base64, and everything after its end.
  return decoded.toString("base64") === signature && verify(null, bytes, publicKey, decoded);
}

/** Returns the key of the home; `undefined` without one. @throws an error whose message says why it cannot be read. */
export function readSigningKey({ headKeyPath }: HomeLayout): SigningKey | undefined {
  const pem = readHomeFile(headKeyPath);
  if (pem === undefined) return undefined;
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(pem);
  } catch {
    throw new Error("its content is no private key");
  }
  if (privateKey.asymmetricKeyType !== "ed25519") throw new Error("it is no key for Ed25519");
  return toSigningKey(privateKey);
}

/**
 * Returns the key of the home, and creates it if there is none. A key that cannot be read is never replaced.
 *
 * @throws {StoreError} `STORE_UNREADABLE`, `STORE_BUSY`; {FilesError}
 */
export async function openSigningKey(
  layout: HomeLayout,
  randomBytes: (count: number) => Uint8Array,
): Promise<SigningKey> {
  const known = read(layout);
  if (known !== undefined) return known;
  using lock = await waitForLock(layout.lockDirectory, "audit-key", lockTimeoutMs);
  if (lock === undefined)
    throw new StoreError(
      "STORE_BUSY",
      "Cannot create the key of the audit trail: another process holds its lock",
    );
  const created = read(layout);
  if (created !== undefined) return created;
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" });
  await replaceFile({ randomBytes }, layout.headKeyPath, pem);
  return toSigningKey(privateKey);
}

function read(layout: HomeLayout): SigningKey | undefined {
  try {
    return readSigningKey(layout);
  } catch (cause) {
    throw new StoreError(
      "STORE_UNREADABLE",
      `Cannot read the key of the audit trail "${layout.headKeyPath}": ${reasonOf(cause)}`,
      {
        cause,
        hint: "restore the file, or remove it: the next start creates a new key, and audit verify reports that until an operator accepts it",
      },
    );
  }
}

function toSigningKey(privateKey: KeyObject): SigningKey {
  const publicKey = createPublicKey(privateKey);
  return { privateKey, publicKey, digest: digestOfKey(publicKey) };
}

function digestOfKey(publicKey: KeyObject): string {
  return `sha256:${hash("sha256", publicKey.export({ type: "spki", format: "der" }), "hex")}`;
}

/** Returns the public key in a text (PEM) with its digest. @throws an error whose message says why it is none. */
export function parsePublicKey(pem: string): Omit<SigningKey, "privateKey"> {
  let publicKey: KeyObject;
  try {
    publicKey = createPublicKey(pem);
  } catch {
    throw new Error("it has no public key (PEM)");
  }
  if (publicKey.asymmetricKeyType !== "ed25519") throw new Error("its key is none for Ed25519");
  return { publicKey, digest: digestOfKey(publicKey) };
}
