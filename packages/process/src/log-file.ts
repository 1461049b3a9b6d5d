/**
 * Appends lines to a file of limited size. A full file is renamed to `<path>.1`,
 * which replaces the previous one, and a new file begins.
 *
 * Never blocks its caller, and never throws: lines that arrive faster than the
 * disk accepts them are counted and dropped. A failure to write is reported
 * once, and nothing more is written after it.
 */

import { type FileHandle, mkdir, open, rename } from "node:fs/promises";
import { dirname } from "node:path";

export interface LogFileOptions {
  /** Bytes after which the file is rotated. */
  readonly maxBytes: number;
  /** Reports, at most once, that the file cannot be written. */
  readonly onFailure: (error: unknown) => void;
}

/** Characters that can wait to be written. */
const pendingMaxLength = 1 << 20;

/** A log file. The first line creates it and its folder, readable for this user only. */
export class LogFile implements AsyncDisposable {
  readonly #path: string;
  readonly #options: LogFileOptions;
  #pending: string[] = [];
  #pendingLength = 0;
  #droppedCount = 0;
  #hasFailed = false;
  #file: FileHandle | undefined;
  #fileBytes = 0;
  #flushing: Promise<void> | undefined;

  constructor(path: string, options: LogFileOptions) {
    this.#path = path;
    this.#options = options;
  }

  append(line: string): void {
    if (this.#hasFailed) return;
    if (this.#pendingLength + line.length > pendingMaxLength) {
      this.#droppedCount += 1;
      return;
    }
    this.#pending.push(`${line}\n`);
    this.#pendingLength += line.length + 1;
    this.#flushing ??= this.#flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#flushing;
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async #flush(): Promise<void> {
    try {
      while (this.#pending.length > 0) {
        for (const text of piecesOf(this.#takePending(), this.#options.maxBytes)) await this.#write(text);
      }
    } catch (error) {
      this.#hasFailed = true;
      this.#pending = [];
      this.#options.onFailure(error);
    } finally {
      this.#flushing = undefined;
    }
  }

  #takePending(): readonly string[] {
    const lines = this.#pending;
    if (this.#droppedCount > 0)
      lines.push(`(${this.#droppedCount} lines dropped: the disk did not keep up)\n`);
    this.#pending = [];
    this.#pendingLength = 0;
    this.#droppedCount = 0;
    return lines;
  }

  async #write(text: string): Promise<void> {
    this.#file ??= await this.#open();
    const bytes = Buffer.from(text);
    if (this.#fileBytes > 0 && this.#fileBytes + bytes.length > this.#options.maxBytes) {
      await this.#file.close();
      this.#file = undefined;
      await rename(this.#path, `${this.#path}.1`);
      this.#file = await this.#open();
    }
    await this.#file.appendFile(bytes);
    this.#fileBytes += bytes.length;
  }

  async #open(): Promise<FileHandle> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const file = await open(this.#path, "a", 0o600);
    this.#fileBytes = (await file.stat()).size;
    return file;
  }
}

/** Joins `lines` into texts of about half of `maxBytes`, so that one write cannot exceed the size limit by much. */
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
