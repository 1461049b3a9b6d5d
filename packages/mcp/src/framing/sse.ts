/**
 * Server-sent events (WHATWG HTML, section 9.2): an incremental parser and the
 * text of one event. No I/O.
 */

/** One event of a stream. */
export interface SseEvent {
  /** `event` field; `message` when absent. */
  readonly event: string;
  readonly data: string;
  /** The last `id` seen so far on the stream, if any. */
  readonly id: string | undefined;
}

/** What a parser reports. */
export interface SseReceiver {
  event(event: SseEvent): void;
  /** An event without data, which is none to `event`, moved the last event id. */
  id?(id: string): void;
  /** The server asks to wait this many milliseconds before reconnecting. */
  retry?(milliseconds: number): void;
  /** An event grew past the limit; the parser drops it. */
  tooLarge?(): void;
}

/** Pieces of an unfinished line are joined in blocks of so many. */
const blockSize = 1024;

/** Create a function that takes decoded text and gives events. @param maxLength longest event in characters. */
export function createSseDecoder(receiver: SseReceiver, maxLength: number): (text: string) => void {
  // The unfinished line, kept in pieces so that a long one is joined once, and in
  // blocks of pieces so that many small pieces cost no more than their text.
  let blocks: string[] = [];
  let pieces: string[] = [];
  let heldLength = 0;
  let event = "";
  let data: string[] = [];
  let dataLength = 0;
  let id: string | undefined;
  let hasNewId = false;
  let isAtStart = true;
  /** The last chunk ended in CR: a LF right after it belongs to the same line break. */
  let skipsLineFeed = false;
  /** The event is too large: its data is dropped until the blank line that ends it. */
  let isDropping = false;
  /** What is left of the current line is dropped. */
  let isSkippingLine = false;

  function field(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon === -1 ? line : line.slice(0, colon);
    let value = colon === -1 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (name === "data") {
      // Each line counts as one more, so that empty ones have a limit too.
      dataLength += value.length + 1;
      if (dataLength - 1 > maxLength) drop();
      else if (!isDropping) data.push(value);
    } else if (name === "event") event = value;
    else if (name === "id" && !value.includes("\0")) {
      id = value;
      hasNewId = true;
    } else if (name === "retry" && /^\d{1,9}$/.test(value)) receiver.retry?.(Number(value));
  }

  function drop(): void {
    if (isDropping) return;
    isDropping = true;
    data = [];
    receiver.tooLarge?.();
  }

  function dispatch(): void {
    if (data.length > 0 && !isDropping) {
      const text = data.length === 1 ? (data[0] as string) : data.join("\n");
      receiver.event({ event: event === "" ? "message" : event, data: text, id });
    } else if (hasNewId) receiver.id?.(id as string);
    event = "";
    data = [];
    dataLength = 0;
    hasNewId = false;
    isDropping = false;
  }

  function line(text: string): void {
    const isRest = isSkippingLine;
    isSkippingLine = false;
    const whole = heldLength === 0 ? text : takeHeld() + text;
    if (isRest) return;
    if (whole === "") dispatch();
    else field(whole);
  }

  function takeHeld(): string {
    const text = blocks.join("") + pieces.join("");
    blocks = [];
    pieces = [];
    heldLength = 0;
    return text;
  }

  function hold(text: string): void {
    if (text === "" || isSkippingLine) return;
    heldLength += text.length;
    // A field name and its colon come on top of the data.
    if (heldLength > maxLength + 16) {
      takeHeld();
      isSkippingLine = true;
      drop();
      return;
    }
    pieces.push(text);
    if (pieces.length < blockSize) return;
    blocks.push(pieces.join(""));
    pieces = [];
  }

  return (text) => {
    if (text === "") return;
    let start = 0;
    if (isAtStart) {
      isAtStart = false;
      if (text.charCodeAt(0) === 0xfeff) start = 1;
    } else if (skipsLineFeed && text.charCodeAt(0) === 0x0a) start = 1;
    skipsLineFeed = false;
    // Each is looked for again only once it has been passed: a text without any CR is searched once.
    let lineFeed = text.indexOf("\n", start);
    let carriageReturn = text.indexOf("\r", start);
    while (lineFeed !== -1 || carriageReturn !== -1) {
      if (carriageReturn === -1 || (lineFeed !== -1 && lineFeed < carriageReturn)) {
        line(text.slice(start, lineFeed));
        start = lineFeed + 1;
        lineFeed = text.indexOf("\n", start);
        continue;
      }
      line(text.slice(start, carriageReturn));
      start = carriageReturn + 1;
      if (start === text.length) skipsLineFeed = true;
      else if (lineFeed === start) {
        start += 1;
        lineFeed = text.indexOf("\n", start);
      }
      carriageReturn = text.indexOf("\r", start);
    }
    hold(start === 0 ? text : text.slice(start));
  };
}

/**
 * One event as text.
 *
 * @param data holds no line break (JSON text never does).
 */
export function formatSseEvent(
  data: string,
  options: { readonly event?: string; readonly id?: string } = {},
): string {
  const id = options.id === undefined ? "" : `id: ${options.id}\n`;
  const event = options.event === undefined ? "" : `event: ${options.event}\n`;
  return `${event}${id}data: ${data}\n\n`;
}
