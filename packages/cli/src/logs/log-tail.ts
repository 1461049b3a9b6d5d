/**
 * The lines of a log file: the last ones, and new ones as they are written, across
 * rotations and restarts of the writer. Only reads regular files; the memory for a
 * line and a read is bounded.
 */

import { closeSync, fstatSync, lstatSync, readSync } from "node:fs";
import { NotRegularError, openRegularFile } from "@toolcrib/files";

/** Bytes of the end of a file that the last lines are taken from; logs are rotated before they are that long. */
const endMaxBytes = 16 << 20;
/** Bytes that are read at a time. */
const readMaxBytes = 256 << 10;
/** Longest line, in characters; a longer one is cut into several. */
const lineMaxLength = 64 << 10;

/** A log file that is followed. Disposing closes it. */
export class LogTail implements Disposable {
  readonly #path: string;
  #descriptor: number | undefined;
  #position = 0;
  #rest = "";
  #decoder = new TextDecoder();

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns the last `count` lines, also of the rotated file, and continues after them. */
  last(count: number): readonly string[] {
    const lines = this.#open() ? this.#readEnd() : [];
    if (count === 0) return [];
    if (lines.length >= count) return lines.slice(-count);
    using rotated = new LogTail(`${this.#path}.1`);
    const before = rotated.#open() ? rotated.#readEnd().slice(-(count - lines.length)) : [];
    return [...before, ...lines];
  }

  /** Returns new lines that have ended. Goes on with the next file after a rotation. */
  read(): readonly string[] {
    if (!this.#open()) return [];
    const lines = this.#readNew();
    if (lines.length > 0 || this.#descriptor === undefined) return lines;
    const open = fstatSync(this.#descriptor);
    const named = lstatSync(this.#path, { throwIfNoEntry: false });
    if (open.size < this.#position) this.#position = 0;
    else if (named === undefined || named.ino !== open.ino) {
      const rest = this.#rest === "" ? [] : [this.#rest];
      this.#close();
      return [...rest, ...(this.#open() ? this.#readNew() : [])];
    }
    return [];
  }

  [Symbol.dispose](): void {
    this.#close();
  }

  /** Opens the file, unless it is open. @returns whether there is one */
  #open(): boolean {
    if (this.#descriptor !== undefined) return true;
    try {
      this.#descriptor = openRegularFile(this.#path);
      return true;
    } catch (error) {
      if (error instanceof NotRegularError || (error as NodeJS.ErrnoException).code === "ENOENT")
        return false;
      throw error;
    }
  }

  #close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
    this.#position = 0;
    this.#rest = "";
    this.#decoder = new TextDecoder();
  }

  #readEnd(): string[] {
    const descriptor = this.#descriptor ?? 0;
    this.#position = Math.max(0, fstatSync(descriptor).size - endMaxBytes);
    const isCut = this.#position > 0;
    const parts: string[][] = [];
    for (let next = this.#readPart(); next !== undefined; next = this.#readPart()) parts.push(next);
    const lines = parts.flat();
    // The first line of a cut end has lost its start.
    return isCut ? lines.slice(1) : lines;
  }

  #readNew(): string[] {
    return this.#readPart() ?? [];
  }

  /** Returns the lines that end in the next part of the file; `undefined` at its end. */
  #readPart(): string[] | undefined {
    const bytes = Buffer.alloc(readMaxBytes);
    const count = readSync(this.#descriptor ?? 0, bytes, 0, readMaxBytes, this.#position);
    if (count === 0) return undefined;
    this.#position += count;
    const lines = (this.#rest + this.#decoder.decode(bytes.subarray(0, count), { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    while (this.#rest.length > lineMaxLength) {
      lines.push(this.#rest.slice(0, lineMaxLength));
      this.#rest = this.#rest.slice(lineMaxLength);
    }
    return lines;
  }
}
