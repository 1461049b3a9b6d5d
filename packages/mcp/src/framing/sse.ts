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
  /** The server asks to wait this many milliseconds before reconnecting. */
  retry?(milliseconds: number): void;
  /** An event grew past the limit; the parser drops it. */
  tooLarge?(): void;
}

/** Create a function that takes decoded text and gives events. @param maxLength longest event in characters. */
export function createSseDecoder(receiver: SseReceiver, maxLength: number): (text: string) => void {
  // Text without a line break yet, kept in pieces so that a long event is joined once.
  let pieces: string[] = [];
  let piecesLength = 0;
  let event = "";
  let data: string[] = [];
  let dataLength = 0;
  let id: string | undefined;
  let isAtStart = true;

  function field(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon === -1 ? line : line.slice(0, colon);
    let value = colon === -1 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (name === "data") {
      dataLength += value.length;
      if (dataLength <= maxLength) data.push(value);
    } else if (name === "event") event = value;
    else if (name === "id" && !value.includes("\0")) id = value;
    else if (name === "retry" && /^\d{1,9}$/.test(value)) receiver.retry?.(Number(value));
  }

  function dispatch(): void {
    if (dataLength > maxLength) receiver.tooLarge?.();
    else if (data.length > 0)
      receiver.event({ event: event === "" ? "message" : event, data: data.join("\n"), id });
    event = "";
    data = [];
    dataLength = 0;
  }

  return (chunk) => {
    let text = chunk;
    if (isAtStart && text !== "") {
      isAtStart = false;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    pieces.push(text);
    piecesLength += text.length;
    const endsWithReturn = piecesLength > text.length && pieces.at(-2)?.endsWith("\r") === true;
    if (!endsWithReturn && !text.includes("\n") && !text.includes("\r")) {
      if (piecesLength > maxLength) {
        receiver.tooLarge?.();
        pieces = [];
        piecesLength = 0;
      }
      return;
    }
    const buffer = pieces.length === 1 ? text : pieces.join("");
    let start = 0;
    for (;;) {
      const lineFeed = buffer.indexOf("\n", start);
      const carriageReturn = buffer.indexOf("\r", start);
      let end = lineFeed;
      let next = lineFeed + 1;
      if (carriageReturn !== -1 && (lineFeed === -1 || carriageReturn < lineFeed)) {
        // A CR at the very end may be half of a CRLF: wait for what follows.
        if (carriageReturn === buffer.length - 1) break;
        end = carriageReturn;
        next = buffer[carriageReturn + 1] === "\n" ? carriageReturn + 2 : carriageReturn + 1;
      }
      if (end === -1) break;
      if (end === start) dispatch();
      else field(buffer.slice(start, end));
      start = next;
    }
    const rest = buffer.slice(start);
    pieces = rest === "" ? [] : [rest];
    piecesLength = rest.length;
  };
}

/** One event as text. `data` must hold no line break (JSON never does). */
export function formatSseEvent(
  data: string,
  options: { readonly event?: string; readonly id?: string } = {},
): string {
  const id = options.id === undefined ? "" : `id: ${options.id}\n`;
  const event = options.event === undefined ? "" : `event: ${options.event}\n`;
  return `${event}${id}data: ${data}\n\n`;
}
