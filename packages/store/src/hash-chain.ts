/**
 * The hash chain of a writer: each record states the SHA-256 of the line before it
 * (`previous`), over segments and restarts, so that no line can be changed, removed, inserted or
 * moved without every later line being written anew.
 */

import { hash } from "node:crypto";

/** `previous` of the first record of a writer. */
export const chainStart = "0".repeat(64);

/** Returns the SHA-256 of a line without its line feed: 64 hexadecimal digits. */
export function hashLine(line: string | Uint8Array): string {
  return hash("sha256", line, "hex");
}
