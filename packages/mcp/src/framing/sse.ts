/**
 * Server-sent events (WHATWG HTML, section 9.2): an incremental decoder, and the
 * text of one event. No I/O.
 */

/** One event of a stream. */
export interface SseEvent {
  /** `event` field; `message` when absent. */
  readonly event: string;
  readonly data: string;
  /** The last `id` received on the stream, if any. */
  readonly id: string | undefined;
}

/** Callbacks of an `SseDecoder`. */
export interface SseCallbacks {
  event(event: SseEvent): void;
  /** Reports an event without data that changes the last event id. `event` is not called for it. */
  id?(id: string): void;
  /** Reports the milliseconds that the server asks to wait before reconnecting. */
  retry?(milliseconds: number): void;
  /** Reports an event over the limit, which is discarded. */
  tooLarge?(): void;
}

/** Number of pieces of an unfinished line that are joined into one block. */
const blockSize = 1024;

/** Decodes the text of one stream. */
export class SseDecoder {
  readonly #callbacks: SseCallbacks;
  readonly #maxLength: number;
  /**
   * The unfinished line: blocks of joined pieces, then single pieces. A long line
   * is joined once, and many small pieces cost little more than their text.
   */
  #blocks: string[] = [];
  #pieces: string[] = [];
  #heldLength = 0;
  #event = "";
  #data: string[] = [];
  #dataLength = 0;
  #id: string | undefined;
  #hasNewId = false;
  #isAtStart = true;
  /** The last chunk ended in CR: an LF right after it belongs to the same line break. */
  #skipsLineFeed = false;
  /** The event is too large: its data is discarded until the blank line that ends it. */
  #isDropping = false;
  /** The rest of the current line is discarded. */
  #isSkippingLine = false;

  /** @param maxLength longest event in characters. */
  constructor(callbacks: SseCallbacks, maxLength: number) {
    this.#callbacks = callbacks;
    this.#maxLength = maxLength;
  }

  /** Characters of the event that has not ended. */
  get length(): number {
    return this.#heldLength + this.#dataLength;
  }

  /** Decodes a piece of text and reports the events that it completes. */
  write(text: string): void {
    if (text === "") return;
    let start = this.#startOf(text);
    // Each index is searched again only after its line break was passed: a text without CR is searched once.
    let lineFeed = text.indexOf("\n", start);
    let carriageReturn = text.indexOf("\r", start);
    while (lineFeed !== -1 || carriageReturn !== -1) {
      if (carriageReturn === -1 || (lineFeed !== -1 && lineFeed < carriageReturn)) {
        this.#endLine(text.slice(start, lineFeed));
        start = lineFeed + 1;
        lineFeed = text.indexOf("\n", start);
        continue;
      }
      this.#endLine(text.slice(start, carriageReturn));
      start = carriageReturn + 1;
      if (start === text.length) this.#skipsLineFeed = true;
      else if (lineFeed === start) {
        start += 1;
        lineFeed = text.indexOf("\n", start);
      }
      carriageReturn = text.indexOf("\r", start);
    }
    this.#hold(start === 0 ? text : text.slice(start));
  }

  /** Returns the index after a byte order mark, or after the LF of a line break in two chunks. */
  #startOf(text: string): number {
    const skipped = this.#isAtStart ? 0xfeff : this.#skipsLineFeed ? 0x0a : undefined;
    this.#isAtStart = false;
    this.#skipsLineFeed = false;
    return skipped !== undefined && text.charCodeAt(0) === skipped ? 1 : 0;
  }

  #endLine(text: string): void {
    const isRest = this.#isSkippingLine;
    this.#isSkippingLine = false;
    const whole = this.#heldLength === 0 ? text : this.#takeHeld() + text;
    if (isRest) return;
    if (whole === "") this.#dispatch();
    else this.#field(whole);
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon === -1 ? line : line.slice(0, colon);
    let value = colon === -1 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (name === "data") {
      // Each line counts one more, so that empty lines are limited too.
      this.#dataLength += value.length + 1;
      if (this.#dataLength - 1 > this.#maxLength) this.#drop();
      else if (!this.#isDropping) this.#data.push(value);
    } else if (name === "event") this.#event = value;
    else if (name === "id" && !value.includes("\0")) {
      this.#id = value;
      this.#hasNewId = true;
    } else if (name === "retry" && /^\d{1,9}$/.test(value)) this.#callbacks.retry?.(Number(value));
  }

  #drop(): void {
    if (this.#isDropping) return;
    this.#isDropping = true;
    this.#data = [];
    this.#callbacks.tooLarge?.();
  }

  #dispatch(): void {
    const data = this.#data;
    if (data.length > 0 && !this.#isDropping) {
      const text = data.length === 1 ? (data[0] as string) : data.join("\n");
      const event = this.#event === "" ? "message" : this.#event;
      this.#callbacks.event({ event, data: text, id: this.#id });
    } else if (this.#hasNewId) this.#callbacks.id?.(this.#id as string);
    this.#event = "";
    this.#data = [];
    this.#dataLength = 0;
    this.#hasNewId = false;
    this.#isDropping = false;
  }

  #takeHeld(): string {
    const text = this.#blocks.join("") + this.#pieces.join("");
    this.#blocks = [];
    this.#pieces = [];
    this.#heldLength = 0;
    return text;
  }

  #hold(text: string): void {
    if (text === "" || this.#isSkippingLine) return;
    this.#heldLength += text.length;
    // The field name and its colon come in addition to the data.
    if (this.#heldLength > this.#maxLength + 16) {
      this.#takeHeld();
      this.#isSkippingLine = true;
      this.#drop();
      return;
    }
    this.#pieces.push(text);
    if (this.#pieces.length < blockSize) return;
    this.#blocks.push(this.#pieces.join(""));
    this.#pieces = [];
  }
}

/**
 * Formats one event.
 *
 * @param data contains no line break (JSON text never does).
 */
export function formatSseEvent(
  data: string,
  options: { readonly event?: string; readonly id?: string } = {},
): string {
  const id = options.id === undefined ? "" : `id: ${options.id}\n`;
  const event = options.event === undefined ? "" : `event: ${options.event}\n`;
  return `${event}${id}data: ${data}\n\n`;
}
