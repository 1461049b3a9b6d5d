/**
 * Appends lines to a file that never grows past its bound: a full file is
 * renamed to `<path>.1`, in place of the one before, and a new one begun.
 *
 * Never makes its caller wait, and never fails it: lines that come faster than
 * the disk takes them are counted and dropped, and a disk that refuses is
 * reported once, after which nothing more is written.
 */

import { type FileHandle, mkdir, open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/** Where lines go besides memory. */
export interface LogFile extends AsyncDisposable {
  append(line: string): void;
}

export interface LogFileOptions {
  /** Bytes after which the file is rotated. */
  readonly maxBytes: number;
  /** Told once when the file can not be written. */
  readonly onFailure: (error: unknown) => void;
}

/** Bytes that may wait for the disk. */
const pendingMaxBytes = 1 << 20;

/** Prepare to append to `path`. The folder and the file are created, for this user only, with the first line. */
export function createLogFile(path: string, { maxBytes, onFailure }: LogFileOptions): LogFile {
  let pending: string[] = [];
  let pendingBytes = 0;
  let droppedCount = 0;
  let failed = false;
  let file: FileHandle | undefined;
  let fileBytes = 0;
  let flushing: Promise<void> | undefined;

  async function openFile(): Promise<FileHandle> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const handle = await open(path, "a", 0o600);
    fileBytes = (await handle.stat()).size;
    return handle;
  }

  async function write(text: string): Promise<void> {
    file ??= await openFile();
    const bytes = Buffer.from(text);
    if (fileBytes > 0 && fileBytes + bytes.length > maxBytes) {
      await file.close();
      file = undefined;
      await rename(path, `${path}.1`);
      file = await openFile();
    }
    await file.appendFile(bytes);
    fileBytes += bytes.length;
  }

  async function flush(): Promise<void> {
    try {
      while (pending.length > 0) {
        const batch = pending;
        if (droppedCount > 0) batch.push(`(${droppedCount} lines dropped: the disk did not keep up)\n`);
        pending = [];
        pendingBytes = 0;
        droppedCount = 0;
        for (const text of piecesOf(batch, maxBytes)) await write(text);
      }
    } catch (error) {
      failed = true;
      pending = [];
      onFailure(error);
    } finally {
      flushing = undefined;
    }
  }

  return {
    append(line) {
      if (failed) return;
      if (pendingBytes + line.length > pendingMaxBytes) {
        droppedCount += 1;
        return;
      }
      pending.push(`${line}\n`);
      pendingBytes += line.length + 1;
      flushing ??= flush();
    },
    async [Symbol.asyncDispose]() {
      await flushing;
      const open = file;
      file = undefined;
      await open?.close();
    },
  };
}

/** `lines` joined into texts of about half of `maxBytes` at most, so that one write can not overshoot the bound by much. */
function* piecesOf(lines: readonly string[], maxBytes: number): Generator<string> {
  let piece = "";
  for (const line of lines) {
    if (piece.length > 0 && piece.length + line.length > maxBytes / 2) {
      yield piece;
      piece = "";
    }
    piece += line;
  }
  if (piece.length > 0) yield piece;
}
