/**
 * The standard error of a process: its last lines in memory, safe to show, and
 * a stream of lines for listeners and a file.
 *
 * The number of lines, their bytes and the length of a line are limited, however
 * much the process writes. Lines are never interpreted: they are the output of
 * the process and can contain its secrets, unless the launch has a `scrub` function.
 */

import { cutText } from "@toolcrib/diagnostics";
import { ListenerSet } from "@toolcrib/lifecycle";
import { toPrintable } from "./printable-text.ts";

/** The last lines of a process's standard error, without terminal sequences and control characters. */
export interface StderrLog {
  /**
   * Returns the last lines, oldest first. A line that has not ended yet is the last one.
   *
   * @param count lines to return at most. @default all that are kept
   */
  tail(count?: number): string[];
  /** Number of lines received so far, including those that are no longer kept. */
  readonly lineCount: number;
  /** Calls `listener` with each further line. @returns a function that stops it */
  onLine(listener: (line: string) => void): () => void;
}

export interface StderrLogOptions {
  readonly stderrLinesMaxCount: number;
  readonly stderrLinesMaxBytes: number;
  /** UTF-16 units of a line that are kept; an ellipsis replaces the rest. */
  readonly stderrLineMaxLength: number;
  readonly scrub?: (line: string) => string;
}

/** Characters of a line that are held after those that are kept, where secrets are removed: the longest of them. */
const secretMaxLength = 512 * 1024;

/** Receives the bytes of standard error and keeps its last lines. */
export class StderrSink implements StderrLog {
  readonly #options: StderrLogOptions;
  readonly #decoder = new TextDecoder();
  readonly #listeners = new ListenerSet<[line: string]>();
  readonly #lines: LineRing;
  #lineCount = 0;
  /** The start of the line that has not ended yet. */
  #partial = "";
  #isCut = false;

  constructor(options: StderrLogOptions) {
    this.#options = options;
    this.#lines = new LineRing(options.stderrLinesMaxCount, options.stderrLinesMaxBytes);
  }

  get lineCount(): number {
    return this.#lineCount;
  }

  tail(count = Number.POSITIVE_INFINITY): string[] {
    const all = this.#lines.toArray();
    if (this.#partial !== "") all.push(this.#shownPartial({ isEnded: false }));
    return count >= all.length ? all : all.slice(all.length - Math.max(0, count));
  }

  onLine(listener: (line: string) => void): () => void {
    return this.#listeners.add(listener);
  }

  write(bytes: Uint8Array): void {
    this.#take(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Adds a line about the process that it did not write itself. @returns the line as it is kept */
  note(text: string): string {
    const line = this.#shown(text);
    this.#keep(line);
    return line;
  }

  /** Ends the last line, which need not end with a line feed. No bytes follow. */
  end(): void {
    this.#take(this.#decoder.decode());
    if (this.#partial !== "") this.#endLine();
  }

  #take(text: string): void {
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      this.#extend(text.slice(start, end));
      this.#endLine();
      start = end + 1;
    }
    this.#extend(text.slice(start));
  }

  #extend(text: string): void {
    const { stderrLineMaxLength, scrub } = this.#options;
    // A secret at the cut is recognized by what follows it.
    const room = stderrLineMaxLength + (scrub === undefined ? 0 : secretMaxLength) - this.#partial.length;
    if (text.length > room) this.#isCut = true;
    this.#partial += text.length > room ? text.slice(0, room) : text;
  }

  #endLine(): void {
    const line = this.#shownPartial({ isEnded: true });
    this.#partial = "";
    this.#isCut = false;
    this.#keep(line);
  }

  #keep(line: string): void {
    this.#lineCount += 1;
    this.#lines.push(line);
    this.#listeners.emit(line);
  }

  #shownPartial({ isEnded }: { readonly isEnded: boolean }): string {
    const { stderrLineMaxLength: maxLength } = this.#options;
    // What follows is held only to recognize the secrets before it: its end can be half of another one.
    const end = this.#isCut ? maxLength : this.#partial.length;
    // A progress display overwrites its line: a terminal shows the text after the last carriage return.
    const start = lastLineStart(this.#partial.slice(0, end));
    const text = this.#partial.slice(start);
    if (!this.#isCut && (isEnded || text.length <= maxLength)) {
      const shown = this.#shown(text);
      return shown.length > maxLength ? `${shown.slice(0, maxLength)}…` : shown;
    }
    const keptLength = this.#isCut ? maxLength - start : maxLength;
    return `${cutText(text, keptLength, (held) => this.#shown(held), { isBeginning: true })}…`;
  }

  #shown(text: string): string {
    const printable = toPrintable(text);
    const { scrub } = this.#options;
    return scrub === undefined ? printable : scrub(printable);
  }
}

/** Returns where the text begins that a terminal shows: after the last carriage return that others than those follow. */
function lastLineStart(text: string): number {
  let end = text.length;
  while (text[end - 1] === "\r") end -= 1;
  return end === 0 ? 0 : text.lastIndexOf("\r", end - 1) + 1;
}

/** A queue of lines that drops the oldest ones to stay within its limits. */
class LineRing {
  readonly #maxCount: number;
  readonly #maxBytes: number;
  #slots: (string | undefined)[] = [];
  #head = 0;
  #bytes = 0;

  constructor(maxCount: number, maxBytes: number) {
    this.#maxCount = maxCount;
    this.#maxBytes = maxBytes;
  }

  push(line: string): void {
    this.#slots.push(line);
    this.#bytes += Buffer.byteLength(line) + 1;
    while (this.#isTooLong()) {
      this.#bytes -= Buffer.byteLength(this.#slots[this.#head]!) + 1;
      this.#slots[this.#head] = undefined;
      this.#head += 1;
    }
    if (this.#head > this.#maxCount) {
      this.#slots = this.#slots.slice(this.#head);
      this.#head = 0;
    }
  }

  toArray(): string[] {
    return this.#slots.slice(this.#head) as string[];
  }

  #isTooLong(): boolean {
    const count = this.#slots.length - this.#head;
    return count > this.#maxCount || (this.#bytes > this.#maxBytes && count > 1);
  }
}
