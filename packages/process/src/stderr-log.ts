/**
 * What a server writes to its standard error: the last lines in memory, each
 * made safe to show, and a stream of them for listeners and a file.
 *
 * Bounded in every direction, however much the server writes: lines, bytes and
 * the length of a line. Never interprets a line; it is the server's own text
 * and may hold its secrets, so whoever passes it on scrubs it first.
 */

import { toPrintable } from "./printable-text.ts";

/** The last lines of a server's standard error, without terminal sequences and control characters. */
export interface StderrLog {
  /**
   * The last lines, oldest first; a line not yet ended is the last one.
   *
   * @param count most lines returned. @default all that are kept
   */
  tail(count?: number): string[];
  /** Lines received so far, kept or not. */
  readonly lineCount: number;
  /** Call `listener` with each line from now on. @returns a function that stops it. */
  onLine(listener: (line: string) => void): () => void;
}

export interface StderrLogOptions {
  readonly stderrLinesMaxCount: number;
  readonly stderrLinesMaxBytes: number;
  /** UTF-16 units of a line that are kept; the rest is dropped and marked by an ellipsis. */
  readonly stderrLineMaxLength: number;
  readonly scrub?: (line: string) => string;
}

/** The log and the end that is written to. */
export interface StderrSink {
  readonly log: StderrLog;
  write(bytes: Uint8Array): void;
  /** No more will be written: a line without a line feed is a line now. */
  end(): void;
}

export function createStderrLog(options: StderrLogOptions): StderrSink {
  const decoder = new TextDecoder();
  const listeners = new Set<(line: string) => void>();
  const lines = createLineRing(options);
  let lineCount = 0;
  let partial = "";
  let cut = false;

  function extend(text: string): void {
    const room = options.stderrLineMaxLength - partial.length;
    if (text.length > room) cut = true;
    partial += text.length > room ? text.slice(0, room) : text;
  }

  function shownPartial(): string {
    const text = partial.replace(/\r+$/, "");
    // A progress display overwrites its line; what a terminal would show is what follows the last return.
    const printable = toPrintable(text.slice(text.lastIndexOf("\r") + 1));
    const shown = options.scrub === undefined ? printable : options.scrub(printable);
    return cut ? `${shown}…` : shown;
  }

  function endLine(): void {
    const line = shownPartial();
    partial = "";
    cut = false;
    lineCount += 1;
    lines.push(line);
    for (const listener of listeners) listener(line);
  }

  function take(text: string): void {
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      extend(text.slice(start, end));
      endLine();
      start = end + 1;
    }
    extend(text.slice(start));
  }

  return {
    log: {
      tail(count = Number.POSITIVE_INFINITY) {
        const all = lines.toArray();
        if (partial !== "") all.push(shownPartial());
        return count >= all.length ? all : all.slice(all.length - Math.max(0, count));
      },
      get lineCount() {
        return lineCount;
      },
      onLine(listener) {
        listeners.add(listener);
        return () => {
          listeners.delete(listener);
        };
      },
    },
    write: (bytes) => take(decoder.decode(bytes, { stream: true })),
    end() {
      take(decoder.decode());
      if (partial !== "") endLine();
    },
  };
}

/** A queue of lines that drops its oldest to stay within both bounds. */
function createLineRing(options: StderrLogOptions) {
  const { stderrLinesMaxCount: linesMaxCount, stderrLinesMaxBytes: linesMaxBytes } = options;
  let slots: (string | undefined)[] = [];
  let head = 0;
  let bytes = 0;
  return {
    push(line: string): void {
      slots.push(line);
      bytes += Buffer.byteLength(line) + 1;
      while (slots.length - head > linesMaxCount || (bytes > linesMaxBytes && slots.length - head > 1)) {
        bytes -= Buffer.byteLength(slots[head]!) + 1;
        slots[head] = undefined;
        head += 1;
      }
      if (head > linesMaxCount) {
        slots = slots.slice(head);
        head = 0;
      }
    },
    toArray: (): string[] => slots.slice(head) as string[],
  };
}
