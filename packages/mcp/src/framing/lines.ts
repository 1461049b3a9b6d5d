/**
 * Newline-delimited JSON over byte streams (the stdio transport): bytes to
 * messages, and messages to lines. A line that is not JSON is reported and
 * skipped. A line over the limit is discarded without being kept in memory.
 */

import { isUtf8 } from "node:buffer";
import type { Readable, Writable } from "node:stream";
import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import type { RpcId } from "../json-rpc.ts";
import { AnswerIdScanner } from "./answer-id.ts";
import { parseMessage } from "./parse-message.ts";

/** The reason why an answer in a line cannot be used. */
export type AnswerFault = "too large" | "too deep" | "too many values" | "invalid";

/** Maximum number of values in a message of a server, or of a client on standard input: some 100 MB in memory. @limit client and server */
export const messageMaxValues = 1_000_000;

/** Returns why a text was not parsed. */
export function faultOf(thrown: unknown): AnswerFault {
  if (!isCodedError(thrown)) return "invalid";
  return thrown.code === "JSON_TOO_DEEP"
    ? "too deep"
    : thrown.code === "JSON_TOO_MANY_VALUES"
      ? "too many values"
      : "invalid";
}

/** Callbacks of a `LineDecoder`. */
export interface LineReceiver {
  /** Receives the value of a line, and the line itself. */
  message(value: unknown, text: string): void;
  /**
   * Reports a line that is not a JSON value within the limits; `text` is its beginning, and `id` that of the request
   * of a client that is too large, too deep or has too many values.
   */
  invalid(reason: string, text: string, id?: RpcId): void;
  /**
   * Reports that such a line is the answer to request `id`, which gets no other, or a line over a limit that answers
   * none. Called once for a line, as soon as that is known.
   */
  lostAnswer?(id: RpcId | undefined, fault: AnswerFault): void;
  /** Reports a line so long that its end is not to be expected. Nothing after it can be read. */
  endless?(): void;
}

const newline = 0x0a;
/** The reason to refuse a message in another encoding (RFC 8259, section 8.1). */
export const notUtf8 = "the message is not valid UTF-8, the encoding of JSON";
/** Bytes of the first segment, which is kept for the next line that arrives in pieces. */
const firstSegmentBytes = 64 * 1024;
/** Bytes of each further segment. */
const segmentBytes = 1024 * 1024;
/** Bytes of a line that is no message which are reported: more than a stored secret has, so that one can be found there. */
const beginningMaxBytes = 512 * 1024;
/** A line is endless when it exceeds the limit by this many bytes. */
const skippedMaxBytes = 128 * 1024 * 1024;

/** Segments for later lines. The garbage collector may take them, as it would take segments that are not kept. */
let spareSegments = new WeakRef<Buffer[]>([]);
/** Most segments that are kept. */
const spareMaxCount = 32;

function takeSegment(): Buffer {
  return spareSegments.deref()?.pop() ?? Buffer.allocUnsafeSlow(segmentBytes);
}

/** Keeps segments for later lines, so that one large line after the other takes the memory of one. */
function keepSegments(segments: readonly Buffer[]): void {
  const kept = spareSegments.deref() ?? [];
  kept.push(...segments.slice(0, spareMaxCount - kept.length));
  spareSegments = new WeakRef(kept);
}

/** The beginning of a line that arrived in pieces, copied, so that single bytes cost memory for themselves only. */
class HeldLine {
  readonly #first = Buffer.allocUnsafeSlow(firstSegmentBytes);
  #segments: Buffer[] = [this.#first];
  /** Bytes of the last segment that are used. */
  #used = 0;
  #length = 0;
  #scanner = new AnswerIdScanner();
  /** Number of segments that are scanned. */
  #scannedCount = 0;

  get length(): number {
    return this.#length;
  }

  /** Scans the first bytes for the id of the answer, `length` of them or somewhat fewer. */
  scan(length: number): void {
    const count = Math.min(Math.floor(length / segmentBytes), this.#segments.length - 1);
    for (; this.#scannedCount < count; this.#scannedCount += 1)
      this.#scanner.write(this.#segments[this.#scannedCount] as Buffer);
  }

  /** Returns the scanner and the parts that it has not seen. The line continues elsewhere, with this scanner. */
  continueScan(): { readonly scanner: AnswerIdScanner; readonly rest: readonly Buffer[] } {
    const scanner = this.#scanner;
    const rest = [...this.parts()].slice(this.#scannedCount);
    this.#scanner = new AnswerIdScanner();
    this.#scannedCount = 0;
    return { scanner, rest };
  }

  /** The used part of each segment. */
  *parts(): Iterable<Buffer> {
    for (const segment of this.#segments) {
      yield segment === this.#segments.at(-1) ? segment.subarray(0, this.#used) : segment;
    }
  }

  add(piece: Buffer): void {
    let start = 0;
    while (start < piece.length) {
      let last = this.#segments.at(-1) as Buffer;
      if (this.#used === last.length) {
        last = takeSegment();
        this.#segments.push(last);
        this.#used = 0;
      }
      const copied = piece.copy(last, this.#used, start);
      this.#used += copied;
      start += copied;
    }
    this.#length += piece.length;
  }

  /** The bytes of the line, valid until `clear`. */
  bytes(): Buffer {
    const [first] = this.#segments;
    if (this.#segments.length === 1 && first !== undefined) return first.subarray(0, this.#used);
    return Buffer.concat([...this.parts()], this.#length);
  }

  clear(): void {
    if (this.#segments.length > 1) keepSegments(this.#segments.slice(1));
    this.#segments = [this.#first];
    this.#used = 0;
    this.#length = 0;
    if (this.#scannedCount === 0) return;
    this.#scanner = new AnswerIdScanner();
    this.#scannedCount = 0;
  }
}

/** The rest of a line over the limit, which is scanned for its id and discarded. */
interface SkippedLine {
  readonly scanner: AnswerIdScanner;
  readonly beginning: string;
  length: number;
  isReported: boolean;
}

/** Decodes the chunks of one stream. */
export class LineDecoder {
  readonly #receiver: LineReceiver;
  readonly #maxBytes: number;
  readonly #isFromClient: boolean;
  #held: HeldLine | undefined;
  #skipped: SkippedLine | undefined;
  #isFirstLine = true;

  /**
   * @param maxBytes longest line in bytes.
   * @param sender `client`: invalid UTF-8 is refused, because the gateway would pass on other text than the client
   *   sent, and `invalid` gets ids. Answers of a server are used with U+FFFD in its place.
   */
  constructor(receiver: LineReceiver, maxBytes: number, sender: "client" | "server" = "server") {
    this.#receiver = receiver;
    this.#maxBytes = maxBytes;
    this.#isFromClient = sender === "client";
  }

  /** Decodes one chunk and reports the lines that it completes. */
  write(chunk: Buffer): void {
    const isWholeLines =
      this.#heldLength === 0 &&
      this.#skipped === undefined &&
      chunk.length <= this.#maxBytes &&
      chunk.at(-1) === newline &&
      (!this.#isFromClient || isUtf8(chunk));
    if (isWholeLines) {
      // The usual case, and faster to split as text. A line feed is never part of a longer character.
      for (const text of chunk.toString("utf8", 0, chunk.length - 1).split("\n")) this.#line(text);
      return;
    }
    let start = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, start)) {
      const rest = chunk.subarray(start, at);
      start = at + 1;
      this.#endLine(rest);
    }
    if (start === chunk.length) return;
    const rest = start === 0 ? chunk : chunk.subarray(start);
    if (this.#skipped !== undefined) this.#skip(this.#skipped, rest);
    else if (this.#heldLength + rest.length > this.#maxBytes) this.#startSkipping(rest);
    else this.#hold(rest);
  }

  /** Decodes the last line, which has no line feed. Nothing is written after it. */
  end(): void {
    if (this.#skipped !== undefined || this.#heldLength > 0) this.#endLine(Buffer.alloc(0));
  }

  get #heldLength(): number {
    return this.#held?.length ?? 0;
  }

  #endLine(rest: Buffer): void {
    if (this.#skipped !== undefined) {
      this.#skip(this.#skipped, rest);
      this.#endSkipping(this.#skipped);
    } else if (this.#heldLength + rest.length > this.#maxBytes) {
      this.#endSkipping(this.#startSkipping(rest));
    } else if (this.#heldLength === 0) {
      const text = rest.toString("utf8");
      if (this.#isReadable(rest)) this.#line(text);
      else this.#refuseEncoding(text);
    } else {
      const bytes = this.#hold(rest).bytes();
      const isValid = this.#isReadable(bytes);
      const text = bytes.toString("utf8");
      this.#held?.clear();
      if (isValid) this.#line(text);
      else this.#refuseEncoding(text);
    }
  }

  #isReadable(bytes: Buffer): boolean {
    return !this.#isFromClient || isUtf8(bytes);
  }

  #refuseEncoding(text: string): void {
    this.#isFirstLine = false;
    this.#receiver.invalid(notUtf8, text.slice(0, 200));
  }

  #line(given: string): void {
    let text = given;
    if (this.#isFirstLine) {
      this.#isFirstLine = false;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    if (text === "" || text.trim() === "") return;
    let value: unknown;
    try {
      value = parseMessage(text, { maxLength: this.#maxBytes, maxValues: messageMaxValues });
    } catch (error) {
      this.#reportUnparsed(text, error);
      return;
    }
    this.#receiver.message(value, text);
  }

  #reportUnparsed(text: string, error: unknown): void {
    const fault = faultOf(error);
    if (this.#isFromClient) {
      this.#receiver.invalid(
        messageOf(error),
        text.slice(0, 200),
        fault === "invalid" ? undefined : requestIdIn(text),
      );
      return;
    }
    this.#receiver.invalid(messageOf(error), text.slice(0, beginningMaxBytes));
    // A log line is not an object.
    if (this.#receiver.lostAnswer === undefined || !text.trimStart().startsWith("{")) return;
    const scanner = new AnswerIdScanner();
    scanner.write(Buffer.from(text));
    const { answerId } = scanner;
    if (fault !== "invalid" || answerId !== undefined) this.#receiver.lostAnswer(answerId, fault);
  }

  /** Reports a line over the limit and discards it; `rest` is its part that is not held. */
  #startSkipping(rest: Buffer): SkippedLine {
    const { scanner, rest: unscanned } = this.#held?.continueScan() ?? {
      scanner: new AnswerIdScanner(),
      rest: [],
    };
    const parts = [...(this.#held?.parts() ?? []), rest];
    const beginning = Buffer.concat(parts.slice(0, 2).map((part) => part.subarray(0, beginningMaxBytes)));
    const skipped = {
      scanner,
      beginning: beginning.toString("utf8", 0, beginningMaxBytes),
      length: 0,
      isReported: false,
    };
    this.#skipped = skipped;
    // The id of a request can be its last member.
    if (!this.#isFromClient) this.#receiver.invalid(this.#tooLong(), skipped.beginning);
    for (const part of [...unscanned, rest]) this.#skip(skipped, part);
    skipped.length = this.#heldLength + rest.length;
    this.#held?.clear();
    return skipped;
  }

  #skip(skipped: SkippedLine, bytes: Buffer): void {
    const maxLength = this.#maxBytes + skippedMaxBytes;
    const wasEndless = skipped.length > maxLength;
    skipped.length += bytes.length;
    if (!skipped.isReported && (this.#isFromClient || this.#receiver.lostAnswer !== undefined)) {
      skipped.scanner.write(bytes);
      if (skipped.scanner.answerId !== undefined) this.#reportSkipped(skipped);
    }
    if (wasEndless || skipped.length <= maxLength) return;
    this.#reportSkipped(skipped);
    this.#receiver.endless?.();
  }

  #endSkipping(skipped: SkippedLine): void {
    this.#reportSkipped(skipped);
    this.#skipped = undefined;
  }

  #reportSkipped(skipped: SkippedLine): void {
    if (skipped.isReported) return;
    skipped.isReported = true;
    const { scanner, beginning } = skipped;
    if (this.#isFromClient)
      this.#receiver.invalid(this.#tooLong(), beginning.slice(0, 200), scanner.requestId);
    else this.#receiver.lostAnswer?.(scanner.answerId, "too large");
  }

  #tooLong(): string {
    return `a line is longer than ${this.#maxBytes} bytes`;
  }

  #hold(piece: Buffer): HeldLine {
    this.#held ??= new HeldLine();
    this.#held.add(piece);
    // A line that may exceed the limit is scanned as it grows, so that reaching the limit takes no long step.
    if (this.#held.length > this.#maxBytes / 2) this.#held.scan(2 * this.#held.length - this.#maxBytes);
    return this.#held;
  }
}

function requestIdIn(text: string): RpcId | undefined {
  const scanner = new AnswerIdScanner();
  scanner.write(Buffer.from(text));
  return scanner.requestId;
}

/** Decodes `stream` until it ends, with a last line that has no line feed. @returns a function that stops reading. */
export function readLines(
  stream: Readable,
  receiver: LineReceiver,
  maxBytes: number,
  sender: "client" | "server",
): () => void {
  const decoder = new LineDecoder(receiver, maxBytes, sender);
  const decode = (chunk: Buffer) => decoder.write(chunk);
  const end = () => decoder.end();
  stream.on("data", decode);
  stream.once("end", end);
  return () => {
    stream.off("data", decode);
    stream.off("end", end);
  };
}

/** Writes messages to a stream, one line each. All lines of one turn of the event loop leave in one write. */
export class LineWriter {
  readonly #stream: Writable;
  readonly #onWritten: (() => void) | undefined;
  #pending = "";

  /** @param onWritten called after each write, to check how many bytes the stream still holds. */
  constructor(stream: Writable, onWritten?: () => void) {
    this.#stream = stream;
    this.#onWritten = onWritten;
  }

  write(message: unknown): void {
    // JSON.stringify escapes line feeds inside strings, so a message is one line.
    const line = `${JSON.stringify(message)}\n`;
    // Ticks run after all microtasks, so that concurrent calls leave in one write.
    if (this.#pending === "") process.nextTick(() => this.#flush());
    this.#pending += line;
  }

  #flush(): void {
    const text = this.#pending;
    this.#pending = "";
    if (this.#stream.destroyed || this.#stream.writableEnded) return;
    this.#stream.write(text);
    this.#onWritten?.();
  }
}
