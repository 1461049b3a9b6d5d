/**
 * The signature of a package (MCPKG document, section 7.3) in `meta/signature.sig`: a DSSE
 * envelope over an in-toto statement (v1) that lists every other file with its SHA-256. It
 * covers exactly the files: one that is added, removed, changed or made executable breaks it.
 *
 * The statement contains the public key, so that a package can be checked by itself. That proves who
 * signed it only to those who know the key: `keyId` is to be compared with a pinned one.
 */

import { hash, type KeyObject } from "node:crypto";
import {
  canonicalJson,
  isJsonObject,
  isSameJson,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "@toolcrib/json";
import { McpkgError } from "../mcpkg-error.ts";
import type { PackageFiles } from "../package-files.ts";
import type { ToolPackage } from "../parse-package.ts";
import { isSignedBy, readEnvelope, seal } from "./dsse.ts";
import { fromDer, keyIdOf, toDer } from "./publisher-key.ts";

/** The path of the signature. */
export const signaturePath = "meta/signature.sig";

const payloadType = "application/vnd.in-toto+json";
const statementType = "https://in-toto.io/Statement/v1";
const predicateType = "urn:toolcrib:mcpkg:signature:v1";
/** Longest signature file in bytes: 500 files with paths of 240 characters fit. */
const signatureMaxBytes = 1024 * 1024;

/** Returns the files of the package with a signature by `key`, which replaces an earlier one. */
export function signPackage({ manifest, files }: ToolPackage, key: KeyObject): PackageFiles {
  const bytes = signInToto(toStatement(files, manifest.toolId, manifest.version, key), key);
  const signed = new Map(files);
  signed.set(signaturePath, { bytes, isExecutable: false });
  return signed;
}

/** Returns the bytes of an envelope with an in-toto statement that `key` signed. */
export function signInToto(statement: JsonObject, key: KeyObject): Uint8Array {
  return seal(payloadType, statement, key);
}

/** Longest envelope over a statement, in bytes. */
const statementMaxBytes = 16 * 1024 * 1024;

/**
 * Reads an envelope that `signInToto` wrote, with the key that must have signed it.
 *
 * @returns the statement
 * @throws {McpkgError} `MCPKG_SIGNATURE_INVALID`
 */
export function openInToto(bytes: Uint8Array, key: KeyObject): JsonObject {
  const refused = (reason: string) =>
    new McpkgError("MCPKG_SIGNATURE_INVALID", `The signature of the statement is not valid: ${reason}`, {
      hint: "get it from who made it again, and compare the key with the one that they state",
    });
  const envelope = readEnvelope(bytes, statementMaxBytes);
  if (envelope === undefined || envelope.payloadType !== payloadType) {
    throw refused("it is no DSSE envelope over an in-toto statement with one signature");
  }
  if (envelope.keyId !== keyIdOf(key)) {
    throw refused(`it is by the key ${envelope.keyId.slice(0, 100)}, and not by ${keyIdOf(key)}`);
  }
  if (!isSignedBy(envelope, key)) throw refused("it was changed after it was signed");
  const statement = parseStatement(envelope.payload);
  if (statement === undefined) throw refused("its content is no statement (v1)");
  return statement;
}

/** The contents of the signature of a package. */
export type SignatureState =
  /** There is none. */
  | { readonly kind: "unsigned" }
  /** There is a file, but of a scheme that is not known: it proves nothing. */
  | { readonly kind: "unknown-scheme" }
  /** It covers exactly the files, and is by the key with this id. */
  | { readonly kind: "signed"; readonly keyId: string; readonly publicKey: KeyObject };

/**
 * Checks the signature of a package.
 *
 * @throws {McpkgError} `MCPKG_SIGNATURE_INVALID` for a signature that does not fit the files
 */
export function checkSignature({ manifest, files }: ToolPackage): SignatureState {
  const file = files.get(signaturePath);
  if (file === undefined) return { kind: "unsigned" };
  const envelope = readEnvelope(file.bytes, signatureMaxBytes);
  if (envelope === undefined || envelope.payloadType !== payloadType) return { kind: "unknown-scheme" };
  const statement = parseStatement(envelope.payload);
  if (statement === undefined || statement["predicateType"] !== predicateType) {
    return { kind: "unknown-scheme" };
  }
  const key = keyIn(statement);
  if (key === undefined) throw invalid("it contains no Ed25519 key");
  if (keyIdOf(key) !== envelope.keyId || !isSignedBy(envelope, key)) {
    throw invalid("it is not by the key that it names");
  }
  const expected = toStatement(files, manifest.toolId, manifest.version, key);
  const difference = differenceOf(expected, statement);
  if (difference !== undefined) throw invalid(difference);
  return { kind: "signed", keyId: envelope.keyId, publicKey: key };
}

function toStatement(files: PackageFiles, toolId: string, version: string, key: KeyObject): JsonObject {
  const signed = [...files]
    .filter(([path]) => path !== signaturePath)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  return {
    _type: statementType,
    subject: signed.map(([name, { bytes }]) => ({ name, digest: { sha256: hash("sha256", bytes, "hex") } })),
    predicateType,
    predicate: {
      toolId,
      version,
      executables: signed.filter(([, { isExecutable }]) => isExecutable).map(([name]) => name),
      publicKey: toDer(key).toString("base64"),
    },
  };
}

function parseStatement(payload: Buffer): JsonObject | undefined {
  try {
    const value: unknown = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(payload), {
      maxDepth: 16,
    });
    return isJsonObject(value) && value["_type"] === statementType ? value : undefined;
  } catch {
    return undefined;
  }
}

function keyIn({ predicate }: JsonObject): KeyObject | undefined {
  const text = isJsonObject(predicate) ? predicate["publicKey"] : undefined;
  return typeof text === "string" ? fromDer(Buffer.from(text, "base64")) : undefined;
}

/** Returns what differs between the files and the statement about them, in words. */
function differenceOf(expected: JsonObject, statement: JsonObject): string | undefined {
  if (isSameJson(expected, statement)) return undefined;
  const own = digestsOf(expected["subject"]);
  const listed = digestsOf(statement["subject"]);
  for (const [path, digest] of own) {
    const signed = listed.get(path);
    if (signed === undefined) return `it does not cover "${path}"`;
    if (signed !== digest) return `"${path}" was changed after it was signed`;
  }
  for (const path of listed.keys()) {
    if (!own.has(path)) return `"${path}" was removed after it was signed`;
  }
  return "it is for another tool or version, or for other executable files";
}

function digestsOf(subject: JsonValue | undefined): ReadonlyMap<string, string> {
  const digests = new Map<string, string>();
  for (const one of Array.isArray(subject) ? (subject as readonly JsonValue[]) : []) {
    if (!isJsonObject(one)) continue;
    const { name, digest } = one;
    if (typeof name === "string") digests.set(name, canonicalJson(digest));
  }
  return digests;
}

function invalid(reason: string): McpkgError {
  return new McpkgError("MCPKG_SIGNATURE_INVALID", `The signature of the package is not valid: ${reason}`, {
    hint: "get the package from its publisher again; after a change of your own, sign it again",
  });
}
