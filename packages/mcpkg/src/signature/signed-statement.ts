/**
 * Statements that are signed and contain the public key of their signer, in a DSSE envelope with one
 * Ed25519 signature: an envelope can be checked by itself. That proves who signed it only to those who
 * know the key: `keyId` is to be compared with a pinned one.
 */

import type { KeyObject } from "node:crypto";
import { isJsonObject, type JsonObject, parseJson } from "@toolcrib/json";
import { McpkgError } from "../mcpkg-error.ts";
import { isSignedBy, readEnvelope, seal } from "./dsse.ts";
import { fromDer, keyIdOf, toDer } from "./publisher-key.ts";

/** Deepest nesting of a statement. */
const statementMaxDepth = 8;

/** A statement whose signature was checked. */
export interface SignedStatement {
  /** Id of the key that signed it, as `keyIdOf` gives it. */
  readonly keyId: string;
  /** Members of the statement, without the key. */
  readonly statement: JsonObject;
}

/** Returns the bytes of an envelope over `statement`, which must have no member `publicKey`. */
export function signStatement(payloadType: string, statement: JsonObject, key: KeyObject): Uint8Array {
  return seal(payloadType, { ...statement, publicKey: toDer(key).toString("base64") }, key);
}

/**
 * Reads an envelope that `signStatement` wrote.
 *
 * @param maxBytes longest envelope
 * @throws {McpkgError} `MCPKG_SIGNATURE_INVALID` for anything that is not a statement of this type with a valid signature
 */
export function readStatement(payloadType: string, bytes: Uint8Array, maxBytes: number): SignedStatement {
  const envelope = readEnvelope(bytes, maxBytes);
  if (envelope === undefined) throw invalid("it is not a DSSE envelope with one signature");
  if (envelope.payloadType !== payloadType) {
    throw invalid(`it is of the type ${JSON.stringify(envelope.payloadType.slice(0, 100))}`);
  }
  const { publicKey, ...statement } = parsePayload(envelope.payload);
  const key = typeof publicKey === "string" ? fromDer(Buffer.from(publicKey, "base64")) : undefined;
  if (key === undefined) throw invalid("it contains no Ed25519 key");
  if (keyIdOf(key) !== envelope.keyId || !isSignedBy(envelope, key)) {
    throw invalid("its signature is not by the key that it names");
  }
  return { keyId: envelope.keyId, statement };
}

function parsePayload(payload: Buffer): JsonObject {
  let value: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(payload);
    value = parseJson(text, { maxDepth: statementMaxDepth });
  } catch (cause) {
    throw invalid("its content is not readable JSON", cause);
  }
  if (isJsonObject(value)) return value;
  throw invalid("its content is not an object");
}

function invalid(reason: string, cause?: unknown): McpkgError {
  return new McpkgError("MCPKG_SIGNATURE_INVALID", `The signed statement is not valid: ${reason}`, {
    ...(cause === undefined ? {} : { cause }),
  });
}
