/** Keys of publishers: Ed25519, in PEM, named by the SHA-256 of the public key. */

import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject } from "node:crypto";
import { McpkgError } from "../mcpkg-error.ts";

/** Returns a new private key in PEM (PKCS #8). */
export function newPublisherKey(): string {
  const { privateKey } = generateKeyPairSync("ed25519");
  return privateKey.export({ type: "pkcs8", format: "pem" }) as string;
}

/**
 * Reads a private key in PEM.
 *
 * @throws {McpkgError} `MCPKG_KEY_INVALID`
 */
export function readPrivateKey(pem: string): KeyObject {
  return readKey(() => createPrivateKey(pem), "a private key");
}

/**
 * Reads a public key in PEM. A private key is accepted too.
 *
 * @throws {McpkgError} `MCPKG_KEY_INVALID`
 */
export function readPublicKey(pem: string): KeyObject {
  return readKey(() => createPublicKey(pem), "a key");
}

/** Returns the id of a key: `sha256:` and the digest of its public half in DER (SPKI). */
export function keyIdOf(key: KeyObject): string {
  return `sha256:${hash("sha256", toDer(key), "hex")}`;
}

/** Returns the public half of `key` in DER (SPKI). */
export function toDer(key: KeyObject): Buffer {
  const publicKey = key.type === "private" ? createPublicKey(key) : key;
  return publicKey.export({ type: "spki", format: "der" });
}

/** Reads a public key in DER (SPKI); `undefined` for anything else but an Ed25519 key. */
export function fromDer(der: Uint8Array): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(der), format: "der", type: "spki" });
    // Another encoding of the same key would have another id.
    return key.asymmetricKeyType === "ed25519" && toDer(key).equals(der) ? key : undefined;
  } catch {
    return undefined;
  }
}

function readKey(read: () => KeyObject, wanted: string): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = read();
  } catch {
    // The cause could quote the key.
  }
  if (key?.asymmetricKeyType === "ed25519") return key;
  throw new McpkgError("MCPKG_KEY_INVALID", `Cannot use the key: it is not ${wanted} for Ed25519 in PEM`, {
    hint: "create one with: openssl genpkey -algorithm ed25519",
  });
}
