/** The digest of a JSON value. */

import { hash } from "node:crypto";
import { canonicalJson } from "@toolcrib/json";

/**
 * Returns `sha256:` and the hexadecimal SHA-256 of the canonical JSON (RFC 8785) of `value`: the same for values that
 * differ in the order of members alone.
 *
 * @throws {JsonError} `JSON_NOT_SERIALIZABLE` for values without a JSON form
 */
export function jsonDigest(value: unknown): string {
  return `sha256:${hash("sha256", canonicalJson(value), "hex")}`;
}
