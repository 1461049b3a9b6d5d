/**
 * Reading small files that the operator names. Bounded, regular files only, and
 * never waits for a pipe that nobody writes to.
 */

import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { open } from "node:fs/promises";

/** The contents of a file and the users who may read it. */
export interface FileContent {
  readonly bytes: Uint8Array;
  /** Permission bits (0o644); `undefined` where the platform has none. */
  readonly mode: number | undefined;
}

/** Reads at most `maxBytes + 1` bytes of the file at `path`: more than `maxBytes` means that it is too long. */
export type ReadFile = (path: string, maxBytes: number) => Promise<FileContent>;

// Without O_NONBLOCK, opening a pipe would wait for its writer. Windows has no such flag.
const openFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * `ReadFile` on the file system.
 *
 * @throws {NodeJS.ErrnoException} of `open`; `EISDIR` for a folder, `EINVAL` for anything else that is no regular file.
 */
export async function readRegularFile(path: string, maxBytes: number): Promise<FileContent> {
  await using handle = await open(path, openFlags);
  const status = await handle.stat();
  const buffer = bufferFor(status, maxBytes);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
    if (bytesRead === 0) break;
    length += bytesRead;
    // What grows while it is read is read as it was; an end that is asked for costs another read.
    if (length === status.size) break;
  }
  return toContent(buffer, length, status);
}

/**
 * As `readRegularFile`, and nothing else happens meanwhile: for hundreds of
 * small files that are read before there is anything to wait for, where the
 * waiting for each would take far longer than the reading.
 */
export async function readRegularFileAtOnce(path: string, maxBytes: number): Promise<FileContent> {
  const descriptor = openSync(path, openFlags);
  try {
    const status = fstatSync(descriptor);
    const buffer = bufferFor(status, maxBytes);
    let length = 0;
    while (length < buffer.length) {
      const bytesRead = readSync(descriptor, buffer, length, buffer.length - length, null);
      if (bytesRead === 0) break;
      length += bytesRead;
      if (length === status.size) break;
    }
    return toContent(buffer, length, status);
  } finally {
    closeSync(descriptor);
  }
}

function bufferFor(status: Stats, maxBytes: number): Buffer {
  if (!status.isFile()) {
    const code = status.isDirectory() ? "EISDIR" : "EINVAL";
    throw Object.assign(new Error("not a regular file"), { code });
  }
  return Buffer.alloc(Math.min(status.size, maxBytes) + 1);
}

function toContent(buffer: Buffer, length: number, status: Stats): FileContent {
  return {
    bytes: buffer.subarray(0, length),
    mode: process.platform === "win32" ? undefined : status.mode & 0o777,
  };
}
