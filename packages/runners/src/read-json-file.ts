/** Reads a JSON file of a fetched package: its author wrote it, so its size is limited. */

import { readRegularFile } from "@toolcrib/files";
import { RunnersError } from "./runners-error.ts";

/** Bytes of one file: the lock of a large tree has a few MiB. */
const maxBytes = 32 * 1024 * 1024;

/** Reads the text of `path`. @throws {RunnersError} `PACKAGE_TOO_LARGE`, `PACKAGE_FETCH_FAILED` */
export async function readSmallFile(path: string): Promise<string> {
  let bytes: Uint8Array;
  try {
    ({ bytes } = await readRegularFile(path, maxBytes));
  } catch (cause) {
    throw new RunnersError("PACKAGE_FETCH_FAILED", `The fetch left no file "${path}"`, { cause });
  }
  if (bytes.length > maxBytes) {
    throw new RunnersError("PACKAGE_TOO_LARGE", `"${path}" is larger than ${maxBytes} bytes`);
  }
  return Buffer.from(bytes).toString("utf8");
}

/** Reads `path` as a JSON object. @throws {RunnersError} `PACKAGE_TOO_LARGE`, `PACKAGE_FETCH_FAILED` */
export async function readJsonFile<Shape extends object>(path: string): Promise<Partial<Shape>> {
  const text = await readSmallFile(path);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Partial<Shape>;
  } catch (cause) {
    throw new RunnersError("PACKAGE_FETCH_FAILED", `"${path}" is not JSON`, { cause });
  }
  throw new RunnersError("PACKAGE_FETCH_FAILED", `"${path}" is not a JSON object`);
}
