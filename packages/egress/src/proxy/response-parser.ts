/**
 * Parses HTTP/1.1 responses from the bytes of a connection (RFC 9112), one for
 * each announced request. Strict: it refuses responses that two readers could
 * interpret differently (two lengths, a length in addition to chunks, folded
 * lines, bare line feeds), and responses without a request. It passes bodies on
 * without a copy.
 */

import { EgressError } from "../egress-error.ts";
import type { ResponseHead } from "./client-exchange.ts";
import { valuesOf } from "./raw-headers.ts";

/** The head of a response with a status of 200 or more. */
export interface ParsedHead extends ResponseHead {
  /** Whether the connection can carry another request after this response. */
  readonly keepsAlive: boolean;
}

/** Receives the parts of a response, in this order. */
export interface ResponseListener {
  onInterim(status: number, headers: readonly string[]): void;
  onHead(head: ParsedHead): void;
  onBody(piece: Buffer): void;
  onEnd(trailers: readonly string[]): void;
}

/** The part of a response that the next byte belongs to. */
type Step = "nothing" | "head" | "body" | "until close" | "size" | "chunk" | "after chunk" | "trailers";

const lineFeed = 0x0a;
const headEnd = "\r\n\r\n";
/** The size of a chunk and its extensions, which are ignored. */
const sizeLineMaxBytes = 4096;
const statusPattern = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: ([\t -~\x80-\xff]*))?$/;
const namePattern = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const valuePattern = /^[\t -~\x80-\xff]*$/;
/** The size of a chunk, and its extensions (RFC 9112 §7.1.1): names with optional values, which are tokens or quoted. */
const sizePattern =
  /^([0-9A-Fa-f]{1,12})(?:[\t ]*;[\t ]*[A-Za-z0-9!#$%&'*+.^_`|~-]+(?:[\t ]*=[\t ]*(?:[A-Za-z0-9!#$%&'*+.^_`|~-]+|"(?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"))?)*$/;
const lengthPattern = /^[0-9]{1,15}$/;

/** Parses the responses of one connection. */
export class ResponseParser {
  readonly #listener: ResponseListener;
  readonly #headMaxBytes: number;
  #step: Step = "nothing";
  #method = "";
  /** The beginning of an incomplete head or line. */
  #text = "";
  /** Remaining bytes of the body or of the chunk. */
  #left = 0;
  /** Whether the head began with an empty line that was skipped. */
  #hasSkippedLine = false;
  #trailers: string[] = [];
  #trailersLength = 0;
  #isStopped = false;

  /** @param headMaxBytes limit of a head, and of the trailers of a response. */
  constructor(listener: ResponseListener, headMaxBytes: number) {
    this.#listener = listener;
    this.#headMaxBytes = headMaxBytes;
  }

  /** Expects the response to a request of `method`. */
  expect(method: string): void {
    this.#step = "head";
    this.#method = method;
    this.#text = "";
    this.#hasSkippedLine = false;
  }

  /** Ignores all further bytes. */
  stop(): void {
    this.#isStopped = true;
  }

  /**
   * Parses received bytes.
   *
   * @throws {EgressError} `EGRESS_RESPONSE_INVALID`; the connection cannot be reused.
   */
  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && !this.#isStopped) {
      switch (this.#step) {
        case "nothing":
          throw invalid("it sent more than the requests ask for");
        case "head":
          at = this.#readHead(bytes, at);
          break;
        case "body":
        case "chunk":
          at = this.#readBody(bytes, at);
          break;
        case "until close":
          this.#listener.onBody(at === 0 ? bytes : bytes.subarray(at));
          return;
        default:
          at = this.#readLine(bytes, at);
      }
    }
  }

  /** Handles the end of the connection. Returns whether the last response is complete. */
  close(): boolean {
    if (this.#step === "until close") this.#end();
    return this.#step === "nothing";
  }

  #readHead(bytes: Buffer, at: number): number {
    // Usually the head arrives in one piece.
    const end = this.#text === "" ? bytes.indexOf(headEnd, at, "latin1") : -1;
    if (end !== -1 && end - at <= this.#headMaxBytes) {
      this.#takeHead(bytes.toString("latin1", at, end));
      return end + headEnd.length;
    }
    const known = this.#text.length;
    const next = Math.min(bytes.length, at + this.#headMaxBytes + headEnd.length - known);
    this.#text += bytes.toString("latin1", at, next);
    const length = this.#text.indexOf(headEnd, Math.max(0, known - headEnd.length + 1));
    if (length === -1) {
      // A head that ends its lines otherwise would never be complete.
      if (hasBareLineFeed(this.#text, known)) throw invalid("a line of its head does not end with CRLF");
      if (this.#text.length >= this.#headMaxBytes) throw invalid("its head is too large");
      return next;
    }
    const head = this.#text.slice(0, length);
    this.#text = "";
    this.#takeHead(head);
    return at + length + headEnd.length - known;
  }

  #takeHead(head: string): void {
    // Some servers send an empty line after a body, which precedes the next head. One is accepted.
    const text = head.startsWith("\r\n") ? head.slice(2) : head;
    if (text === "" && !this.#hasSkippedLine) {
      this.#hasSkippedLine = true;
      return;
    }
    const [first, ...lines] = text.split("\r\n") as [string, ...string[]];
    const match = statusPattern.exec(first);
    if (match === null) throw invalid("it is not HTTP/1.1");
    const [, minor, code, statusText = ""] = match;
    const status = Number(code);
    const headers: string[] = [];
    for (const line of lines) readField(line, headers);
    if (status === 101) throw invalid("it changes the protocol without a request to do so");
    if (status < 200) {
      this.#listener.onInterim(status, headers);
      return;
    }
    const isCurrent = minor === "1";
    const framing = readFraming(headers, isCurrent);
    const isEnd = this.#method === "HEAD" || status === 204 || status === 304 || framing === 0;
    if (isEnd) this.#step = "nothing";
    else if (framing === "chunks") this.#step = "size";
    else if (framing === "until close") this.#step = "until close";
    else {
      this.#step = "body";
      this.#left = framing;
    }
    const keepsAlive = (isEnd || framing !== "until close") && isKept(headers, isCurrent);
    this.#listener.onHead({ status, statusText, headers, isEnd, keepsAlive });
    if (isEnd) this.#listener.onEnd([]);
  }

  #readBody(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    const piece = at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end);
    const isOver = this.#left === 0;
    if (isOver && this.#step === "chunk") this.#step = "after chunk";
    this.#listener.onBody(piece);
    if (isOver && this.#step === "body") this.#end();
    return end;
  }

  #readLine(bytes: Buffer, at: number): number {
    const found = bytes.indexOf(lineFeed, at);
    const end = found === -1 ? bytes.length : found + 1;
    const max = this.#step === "trailers" ? this.#headMaxBytes : sizeLineMaxBytes;
    if (this.#text.length + end - at > max) throw invalid("a line between its chunks is too long");
    this.#text += bytes.toString("latin1", at, end);
    if (found === -1) return end;
    const line = this.#text;
    this.#text = "";
    if (!line.endsWith("\r\n")) throw invalid("a line between its chunks does not end as a line");
    this.#takeLine(line.slice(0, -2));
    return end;
  }

  #takeLine(line: string): void {
    if (this.#step === "after chunk") {
      if (line !== "") throw invalid("a chunk is longer than its size");
      this.#step = "size";
    } else if (this.#step === "size") {
      const size = sizePattern.exec(line)?.[1];
      if (size === undefined) throw invalid("the size of a chunk is not a number");
      this.#left = Number.parseInt(size, 16);
      this.#step = this.#left === 0 ? "trailers" : "chunk";
    } else if (line === "") {
      this.#end();
    } else {
      this.#trailersLength += line.length;
      if (this.#trailersLength > this.#headMaxBytes) throw invalid("its trailers are too large");
      readField(line, this.#trailers);
    }
  }

  #end(): void {
    const trailers = this.#trailers;
    this.#trailers = [];
    this.#trailersLength = 0;
    this.#step = "nothing";
    this.#listener.onEnd(trailers);
  }
}

/** Whether `text` has a line feed at or after `from` that does not follow a carriage return. */
function hasBareLineFeed(text: string, from: number): boolean {
  for (let at = text.indexOf("\n", from); at !== -1; at = text.indexOf("\n", at + 1)) {
    if (text[at - 1] !== "\r") return true;
  }
  return false;
}

/** Adds the name and the value of `line` to `fields`. */
function readField(line: string, fields: string[]): void {
  const colon = line.indexOf(":");
  const name = line.slice(0, Math.max(0, colon));
  const value = line.slice(colon + 1);
  if (!namePattern.test(name) || !valuePattern.test(value))
    throw invalid("a line of its head is not a header");
  fields.push(name, trim(value));
}

/** Removes spaces and tabs at the ends. `String.prototype.trim` would remove other white space too. */
function trim(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isSpace(value.charCodeAt(start))) start += 1;
  while (end > start && isSpace(value.charCodeAt(end - 1))) end -= 1;
  return value.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Determines the end of a body (RFC 9112 §6.3): its length, chunks, or the end of the connection. */
function readFraming(headers: readonly string[], isCurrent: boolean): number | "chunks" | "until close" {
  const lengths = valuesOf(headers, "content-length");
  const encodings = valuesOf(headers, "transfer-encoding");
  if (encodings.length > 0) {
    if (lengths.length > 0) throw invalid("it has both a length and a transfer encoding");
    const isChunked = encodings.length === 1 && encodings[0]?.toLowerCase() === "chunked";
    if (!isChunked || !isCurrent) throw invalid("its transfer encoding is not chunked");
    return "chunks";
  }
  const [length, ...others] = lengths;
  if (length === undefined) return "until close";
  if (others.length > 0 || !lengthPattern.test(length)) throw invalid("its length is not a single number");
  return Number(length);
}

function isKept(headers: readonly string[], isCurrent: boolean): boolean {
  const options = valuesOf(headers, "connection").flatMap((value) =>
    value.split(",").map((option) => option.trim().toLowerCase()),
  );
  return !options.includes("close") && (isCurrent || options.includes("keep-alive"));
}

function invalid(state: string): EgressError {
  return new EgressError("EGRESS_RESPONSE_INVALID", `Cannot pass the response on: ${state}`);
}
