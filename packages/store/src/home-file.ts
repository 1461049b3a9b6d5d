/** Reads small files of the home. Never waits: what is no regular file is an error. */

import { closeSync, fstatSync } from "node:fs";
import { openRegularFile } from "@toolcrib/files";
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import { readFully } from "./segment-end.ts";

const fileMaxBytes = 256 * 1024;

/** Returns the text of the file at `path`; `undefined` when it does not exist. @throws {NotRegularError}; the file system's error. */
export function readHomeFile(path: string, maxBytes = fileMaxBytes): string | undefined {
  let descriptor: number;
  try {
    descriptor = openRegularFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const { size } = fstatSync(descriptor);
    if (size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
    return readFully(descriptor, 0, size).toString("utf8");
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the object in a text; an empty one when there is none. Never throws. */
export function parseObject(text: string): JsonObject {
  try {
    const value: unknown = parseJson(text, { maxLength: fileMaxBytes });
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Returns the bytes that a signature covers. */
export function toSignedBytes(value: JsonValue): Buffer {
  return Buffer.from(canonicalJson(value));
}
