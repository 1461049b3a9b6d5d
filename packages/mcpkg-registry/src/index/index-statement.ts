/**
 * The signed statement of a registry (`index.json`): which list of packages is the current one. It is
 * small and one file, so that a client that has it cannot get a list of another time; the list has its
 * digest in its name. A number that only grows and a date of expiry, as in the timestamp role of TUF
 * (The Update Framework, section 4.6), keep a mirror from serving an old state for long.
 */

import { hash, type KeyObject } from "node:crypto";
import { isJsonObject } from "@toolcrib/json";
import { isSha256, McpkgError, readStatement, signStatement } from "@toolcrib/mcpkg";
import { McpkgRegistryError } from "../mcpkg-registry-error.ts";
import { indexMaxBytes, statementMaxBytes } from "../registry-limits.ts";
import { rotationsMaxCount } from "./key-rotation.ts";

/** The path of the statement. */
export const statementPath = "index.json";
const payloadType = "application/vnd.toolcrib.mcpkg-registry+json";
const statementType = "urn:toolcrib:mcpkg-registry:index:v1";

/** The statement of a registry about its list of packages. */
export interface IndexStatement {
  /** Name of the registry, as its operator wrote it. */
  readonly name: string;
  /** Grows by one with each statement. */
  readonly sequence: number;
  /** ISO 8601. */
  readonly issuedAt: string;
  /** ISO 8601. A client does not use the statement afterwards. */
  readonly expiresAt: string;
  readonly list: { readonly sha256: string; readonly bytes: number; readonly count: number };
  /** Replacements of its key as `writeKeyRotation` gives them, the oldest first. @default none */
  readonly rotations?: readonly string[] | undefined;
}

/** A statement whose signature was checked, and the key that signed it. */
export interface CheckedStatement extends IndexStatement {
  readonly keyId: string;
}

/** Returns the path of the list that a statement names. */
export function listPathOf({ list }: Pick<IndexStatement, "list">): string {
  return `index/${list.sha256}.json`;
}

/** Describes a list for a statement. */
export function describeList(bytes: Uint8Array, count: number): IndexStatement["list"] {
  return { sha256: hash("sha256", bytes, "hex"), bytes: bytes.length, count };
}

/** Whether `bytes` are the list that a statement names. */
export function isNamedList({ list }: IndexStatement, bytes: Uint8Array): boolean {
  return bytes.length === list.bytes && hash("sha256", bytes, "hex") === list.sha256;
}

/** Returns the bytes of `index.json`. */
export function writeIndexStatement(
  { rotations = [], ...statement }: IndexStatement,
  key: KeyObject,
): Uint8Array {
  const signed = {
    _type: statementType,
    ...statement,
    list: { ...statement.list },
    ...(rotations.length === 0 ? {} : { rotations: [...rotations] }),
  };
  return signStatement(payloadType, signed, key);
}

/**
 * Reads `index.json` and checks its signature by the key that it names, which the caller compares.
 *
 * @throws {McpkgRegistryError} `MCPKG_REGISTRY_SIGNATURE_INVALID`, `MCPKG_REGISTRY_INDEX_INVALID`
 */
export function readIndexStatement(bytes: Uint8Array): CheckedStatement {
  const { keyId, statement } = checkSignature(bytes);
  const { _type, name, sequence, issuedAt, expiresAt, list, rotations = [] } = statement;
  if (_type !== statementType) throw invalid("it is of another type or version");
  if (typeof name !== "string" || name.length > 200) throw invalid("its name is not a text");
  if (!isCount(sequence, Number.MAX_SAFE_INTEGER)) throw invalid("its sequence is not a whole number from 1");
  if (!isTime(issuedAt) || !isTime(expiresAt)) throw invalid("its times are not of ISO 8601");
  if (!isJsonObject(list)) throw invalid("it names no list");
  const { sha256, bytes: size, count } = list;
  if (!isSha256(sha256)) throw invalid("the digest of its list is not one");
  if (!isCount(size, indexMaxBytes))
    throw invalid(`the size of its list is not from 1 to ${indexMaxBytes} bytes`);
  if (typeof count !== "number") throw invalid("it has no number of packages");
  if (!isTexts(rotations) || rotations.length > rotationsMaxCount)
    throw invalid(`the replacements of its key are not a list of at most ${rotationsMaxCount} texts`);
  return { keyId, name, sequence, issuedAt, expiresAt, list: { sha256, bytes: size, count }, rotations };
}

function checkSignature(bytes: Uint8Array): ReturnType<typeof readStatement> {
  try {
    return readStatement(payloadType, bytes, statementMaxBytes);
  } catch (cause) {
    if (!(cause instanceof McpkgError)) throw cause;
    throw new McpkgRegistryError(
      "MCPKG_REGISTRY_SIGNATURE_INVALID",
      `The index of the registry is not used: ${cause.message}`,
      { cause, hint: "its operator checks it with: toolcrib registry verify FOLDER" },
    );
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function isCount(value: unknown, maximum: number): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 1 && value <= maximum;
}

function isTime(value: unknown): value is string {
  return (
    typeof value === "string" &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(value) &&
    !Number.isNaN(Date.parse(value))
  );
}

function invalid(reason: string): McpkgRegistryError {
  return new McpkgRegistryError("MCPKG_REGISTRY_INDEX_INVALID", `Cannot read the index: ${reason}`, {
    hint: "a later version of Toolcrib may have written it",
  });
}
