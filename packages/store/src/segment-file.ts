/** Opens segments for reading. A pipe, a device or a link with the name of a segment is an error, and is never waited for. */

import { closeSync } from "node:fs";
import { openRegularFile } from "@toolcrib/files";

/** An open segment. Disposing closes it. */
export interface OpenSegment extends Disposable {
  readonly descriptor: number;
}

/** @throws {NotRegularError}; the file system's error. */
export function openSegment(path: string): OpenSegment {
  const descriptor = openRegularFile(path);
  return { descriptor, [Symbol.dispose]: () => closeSync(descriptor) };
}

/** As `openSegment`; `undefined` when the file does not exist. */
export function openSegmentIfPresent(path: string): OpenSegment | undefined {
  try {
    return openSegment(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
