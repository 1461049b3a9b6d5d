/**
 * DSSE envelopes (Dead Simple Signing Envelope, protocol version 1.0.2) with one Ed25519
 * signature. The bytes that are signed name their type, so that a signature of one kind of statement is none of another.
 */

import { type KeyObject, sign, verify } from "node:crypto";
import { canonicalJson, isJsonObject, type JsonObject, parseJson } from "@toolcrib/json";
import { keyIdOf } from "./publisher-key.ts";

/** An envelope whose form was checked; its signature was not. */
export interface Envelope {
  readonly payloadType: string;
  readonly payload: Buffer;
  readonly keyId: string;
  readonly signature: Buffer;
}

/** Returns the bytes of an envelope with `value` as canonical JSON that `key` signed. */
export function seal(payloadType: string, value: JsonObject, key: KeyObject): Uint8Array {
  const payload = Buffer.from(canonicalJson(value));
  const signature = sign(null, toSignedBytes(payloadType, payload), key);
  const envelope = {
    payloadType,
    payload: payload.toString("base64"),
    signatures: [{ keyid: keyIdOf(key), sig: signature.toString("base64") }],
  };
  return Buffer.from(`${canonicalJson(envelope)}\n`);
}

/** Reads an envelope with one signature; `undefined` for anything else, which is another scheme. */
export function readEnvelope(bytes: Uint8Array, maxBytes: number): Envelope | undefined {
  if (bytes.length > maxBytes) return undefined;
  let value: unknown;
  try {
    value = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes), { maxDepth: 8 });
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  const { payloadType, payload, signatures } = value;
  const first: unknown = Array.isArray(signatures) && signatures.length === 1 ? signatures[0] : undefined;
  if (!isJsonObject(first)) return undefined;
  const { keyid: keyId, sig } = first;
  if (typeof payloadType !== "string" || typeof keyId !== "string") return undefined;
  const decoded = { payload: fromBase64(payload), signature: fromBase64(sig) };
  if (decoded.payload === undefined || decoded.signature === undefined) return undefined;
  return { payloadType, payload: decoded.payload, keyId, signature: decoded.signature };
}

/** Whether `key` signed the envelope. */
export function isSignedBy({ payloadType, payload, signature }: Envelope, key: KeyObject): boolean {
  return verify(null, toSignedBytes(payloadType, payload), key, signature);
}

/** The pre-authentication encoding of DSSE. */
function toSignedBytes(payloadType: string, payload: Uint8Array): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

/** Decodes the one spelling of `text` that encoding would give. */
function fromBase64(text: unknown): Buffer | undefined {
  if (typeof text !== "string") return undefined;
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : undefined;
}
