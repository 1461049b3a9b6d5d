/**
 * One connection of HTTP/1.1 to the origin: a request, its response, then the
 * next request. The body of a response passes in pieces as large as they
 * arrived, in the memory that they were read into. A violation of the protocol,
 * by either side, ends the connection and its exchange.
 */

import type { OnReadOpts } from "node:net";
import { Writable } from "node:stream";
import type { TLSSocket } from "node:tls";
import { EgressError } from "../egress-error.ts";
import type { BodySink, BodySource } from "./body-source.ts";
import type { RawHeaders } from "./client-exchange.ts";
import type { ProxyLimits } from "./proxy-limits.ts";
import { valuesOf } from "./raw-headers.ts";
import { pieceMaxBytes, ReadBlocks } from "./read-blocks.ts";
import { type ParsedHead, ResponseParser } from "./response-parser.ts";
import type { RequestHead, UpstreamExchange, UpstreamListener } from "./upstream-exchange.ts";

/** Opens a connection that reads into memory of the caller. */
export type ConnectReading = (onRead: OnReadOpts) => Promise<TLSSocket>;

/** Receives the state of a connection between its requests. */
export interface ConnectionOwner {
  /** The connection is ready for another request. */
  onIdle(connection: Http1Connection): void;
  /** The connection is closed. */
  onClosed(connection: Http1Connection): void;
}

/** A request in progress. */
interface Exchange {
  readonly head: RequestHead;
  readonly listener: UpstreamListener;
  readonly body: RequestBody;
  /** The head of the response, after it has arrived. */
  response: ParsedHead | undefined;
  isResponseOver: boolean;
  trailers: RawHeaders;
}

/** An open connection, after the TLS handshake. */
export class Http1Connection {
  readonly #owner: ConnectionOwner;
  readonly #limits: ProxyLimits;
  readonly #parser: ResponseParser;
  readonly #blocks = new ReadBlocks();
  #socket: TLSSocket | undefined;
  #exchange: Exchange | undefined;
  #sink: BodySink | undefined;
  /** Contiguous bytes of the body that were not passed on yet: their memory, their start and their end. */
  #waiting: ArrayBufferLike | undefined;
  #waitingStart = 0;
  #waitingEnd = 0;
  #isFlushDue = false;
  #isPaused = false;
  #wasUsed = false;
  #bodyBytes = 0;

  /** Call `open` or `adopt` instead. */
  private constructor(limits: ProxyLimits, owner: ConnectionOwner) {
    this.#limits = limits;
    this.#owner = owner;
    const listener = {
      onInterim: (status: number, headers: RawHeaders) => this.#exchange?.listener.onInterim(status, headers),
      onHead: (head: ParsedHead) => this.#onHead(head),
      onBody: (piece: Buffer) => this.#onBody(piece),
      onEnd: (trailers: RawHeaders) => this.#onEnd(trailers),
    };
    this.#parser = new ResponseParser(listener, limits.headersMaxBytes);
  }

  /** Opens a connection that reads responses into blocks of its own. */
  static async open(
    connect: ConnectReading,
    limits: ProxyLimits,
    owner: ConnectionOwner,
  ): Promise<Http1Connection> {
    const connection = new Http1Connection(limits, owner);
    const blocks = connection.#blocks;
    const socket = await connect({
      buffer: () => blocks.room(),
      callback(count) {
        connection.#take(blocks.take(count));
        return !connection.#isPaused;
      },
    });
    return connection.#attach(socket);
  }

  /** Adopts an open connection, which is read as a stream. */
  static adopt(socket: TLSSocket, limits: ProxyLimits, owner: ConnectionOwner): Http1Connection {
    const connection = new Http1Connection(limits, owner);
    socket.on("data", (piece: Buffer) => connection.#take(piece));
    return connection.#attach(socket);
  }

  /** Whether the connection is open. */
  get isOpen(): boolean {
    return this.#socket?.destroyed === false;
  }

  /**
   * Sends a request. No other request may be in progress.
   *
   * @throws {EgressError} `EGRESS_REQUEST_INVALID` for a head that would be read differently on the wire.
   */
  send(head: RequestHead, listener: UpstreamListener): UpstreamExchange {
    const text = toHeadText(head);
    const socket = this.#socket as TLSSocket;
    const body = new RequestBody(socket, head, this.#limits.highWaterBytes);
    const exchange: Exchange = {
      head,
      listener,
      body,
      response: undefined,
      isResponseOver: false,
      trailers: [],
    };
    this.#exchange = exchange;
    this.#parser.expect(head.method);
    socket.setTimeout(this.#limits.idleTimeoutMs);
    socket.write(text, "latin1");
    if (!head.hasBody) body.end();
    return {
      body,
      endBody: (trailers) => {
        body.endWith(trailers);
        if (exchange.isResponseOver) this.#settle(exchange);
      },
      cancel: () => {
        if (this.#exchange === exchange) this.destroy();
      },
    };
  }

  /** Closes the connection and aborts its exchange. Safe to repeat. */
  destroy(): void {
    this.#parser.stop();
    this.#exchange?.body.destroy();
    this.#exchange = undefined;
    this.#sink = undefined;
    this.#waiting = undefined;
    this.#socket?.destroy();
  }

  #attach(socket: TLSSocket): Http1Connection {
    this.#socket = socket;
    socket.setTimeout(this.#limits.idleTimeoutMs);
    socket.resume();
    socket.on("timeout", () => {
      this.#fail(timedOut(this.#exchange?.head.authority ?? ""));
    });
    socket.on("error", (error) => this.#fail(error));
    socket.on("end", () => this.#onEndOfInput());
    socket.on("close", () => {
      this.#fail(new Error("The connection ended before a response was complete"));
      this.#owner.onClosed(this);
    });
    return this;
  }

  #take(bytes: Buffer): void {
    this.#bodyBytes = 0;
    const hadHead = this.#exchange?.response !== undefined;
    try {
      this.#parser.push(bytes);
    } catch (error) {
      this.#fail(error as Error);
      return;
    }
    // The parser has copied heads and the framing of chunks.
    this.#blocks.giveBack(bytes.buffer, bytes.length - this.#bodyBytes);
    // Bytes of the body that arrived with the head are passed on with it.
    if (!hadHead) this.#flush();
  }

  #onHead(head: ParsedHead): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    exchange.response = head;
    this.#isPaused = false;
    exchange.listener.onResponse({
      ...head,
      body: this.#bodyOf(exchange),
      trailers: () => exchange.trailers,
      // An incomplete body fails instead of ending.
      wasCut: () => false,
    });
  }

  #bodyOf(exchange: Exchange): BodySource {
    const isCurrent = (): boolean => this.#exchange === exchange;
    return {
      start: (sink) => {
        if (isCurrent()) this.#sink = sink;
      },
      pause: () => {
        if (!isCurrent()) return;
        this.#isPaused = true;
        this.#socket?.pause();
      },
      resume: () => {
        if (!isCurrent() || !this.#isPaused) return;
        this.#isPaused = false;
        this.#flush();
        if (!this.#isPaused) this.#socket?.resume();
      },
      giveBack: (piece) => this.#blocks.giveBack(piece.buffer, piece.length),
      discard: () => {
        if (isCurrent() && !exchange.isResponseOver && exchange.response?.isEnd === false) this.destroy();
      },
    };
  }

  #onBody(piece: Buffer): void {
    this.#bodyBytes += piece.length;
    if (this.#waiting === piece.buffer && this.#waitingEnd === piece.byteOffset) {
      this.#waitingEnd += piece.length;
    } else {
      this.#flush(true);
      this.#waiting = piece.buffer;
      this.#waitingStart = piece.byteOffset;
      this.#waitingEnd = piece.byteOffset + piece.length;
    }
    if (this.#waitingEnd - this.#waitingStart >= pieceMaxBytes) this.#flush();
    else this.#flushSoon();
  }

  /** Flushes after all available bytes were read. */
  #flushSoon(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    setImmediate(() => {
      this.#isFlushDue = false;
      this.#flush();
    });
  }

  /** Passes the waiting bytes on, unless the reader has paused. */
  #flush(isForced = false): void {
    const memory = this.#waiting;
    if (memory === undefined || (this.#isPaused && !isForced)) return;
    this.#waiting = undefined;
    this.#sink?.piece(Buffer.from(memory, this.#waitingStart, this.#waitingEnd - this.#waitingStart));
  }

  #onEnd(trailers: RawHeaders): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    this.#flush(true);
    exchange.isResponseOver = true;
    exchange.trailers = trailers;
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.end();
    this.#settle(exchange);
  }

  /** Makes the connection available for the next request, after both the request and the response are complete. */
  #settle(exchange: Exchange): void {
    if (this.#exchange !== exchange || !exchange.body.writableEnded) return;
    if (exchange.response?.keepsAlive !== true) {
      this.destroy();
      return;
    }
    this.#exchange = undefined;
    this.#wasUsed = true;
    this.#blocks.shrink();
    this.#isPaused = false;
    this.#socket?.resume();
    this.#owner.onIdle(this);
  }

  #onEndOfInput(): void {
    const isWhole = this.#parser.close();
    if (!isWhole) this.#fail(new Error("The connection ended before a response was complete"));
    else this.destroy();
  }

  #fail(error: Error): void {
    const exchange = this.#exchange;
    const sink = this.#sink;
    this.destroy();
    if (exchange === undefined || exchange.isResponseOver) return;
    const hasResponse = exchange.response !== undefined;
    const isBroken = error instanceof EgressError;
    if (hasResponse) sink?.fail(error);
    exchange.listener.onFailed(error, { wasIdle: this.#wasUsed && !hasResponse && !isBroken });
  }
}

/**
 * The body of a request, in chunks if its length is unknown. A body that differs
 * from its announced length ends the connection: the origin would read the
 * surplus as another request.
 */
class RequestBody extends Writable {
  readonly #socket: TLSSocket;
  readonly #isChunked: boolean;
  /** Remaining bytes, if the length is known. */
  #left: number;
  #trailers: RawHeaders = [];

  constructor(socket: TLSSocket, { headers, hasBody }: RequestHead, highWaterMark: number) {
    super({ highWaterMark, autoDestroy: false });
    this.#socket = socket;
    const length = lengthOf(headers);
    this.#isChunked = hasBody && length === undefined;
    this.#left = length ?? Number.POSITIVE_INFINITY;
    // The connection reports errors.
    this.on("error", () => {});
  }

  endWith(trailers: RawHeaders): void {
    this.#trailers = trailers;
    this.end();
  }

  override _write(piece: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#left -= piece.length;
    if (this.#left < 0) {
      this.#socket.destroy();
      done();
      return;
    }
    if (!this.#isChunked || piece.length === 0) return void this.#socket.write(piece, done);
    this.#socket.cork();
    this.#socket.write(`${piece.length.toString(16)}\r\n`, "latin1");
    this.#socket.write(piece);
    this.#socket.write("\r\n", "latin1", done);
    this.#socket.uncork();
  }

  override _final(done: (error?: Error | null) => void): void {
    if (!this.#isChunked && this.#left > 0 && this.#left < Number.POSITIVE_INFINITY) this.#socket.destroy();
    if (this.#isChunked) this.#socket.write(`0\r\n${toFieldLines(this.#trailers)}\r\n`, "latin1");
    done();
  }
}

/** Characters that a header cannot contain: line ends, and characters that Latin-1 lacks. */
const unsafePattern = /[^\t -~\x80-\xff]/;

function toFieldLines(fields: RawHeaders): string {
  let lines = "";
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] as string;
    const value = fields[index + 1] as string;
    if (unsafePattern.test(name) || unsafePattern.test(value)) {
      throw new EgressError("EGRESS_REQUEST_INVALID", "Cannot send a header that is not one line");
    }
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

/** @throws {EgressError} `EGRESS_REQUEST_INVALID` for a value that is not a single number. */
function lengthOf(headers: RawHeaders): number | undefined {
  const [length, ...others] = valuesOf(headers, "content-length");
  if (length === undefined) return undefined;
  if (others.length > 0 || !/^[0-9]{1,15}$/.test(length)) {
    throw new EgressError("EGRESS_REQUEST_INVALID", "Cannot send a request whose length is not one number");
  }
  return Number(length);
}

function toHeadText({ authority, headers, hasBody, method, path, takesTrailers }: RequestHead): string {
  const length = lengthOf(headers);
  const hasLength = length !== undefined;
  if (!hasBody && hasLength && length > 0) {
    throw new EgressError(
      "EGRESS_REQUEST_INVALID",
      "Cannot send a request without the body that it announces",
    );
  }
  const own = ["Host", authority];
  const framing: string[] = [];
  if (hasBody && !hasLength) framing.push("Transfer-Encoding", "chunked");
  // A method that usually has a body announces an empty one.
  else if (!hasBody && !hasLength && !/^(?:GET|HEAD|OPTIONS|DELETE)$/.test(method))
    framing.push("Content-Length", "0");
  if (takesTrailers) framing.push("TE", "trailers", "Connection", "TE, keep-alive");
  else framing.push("Connection", "keep-alive");
  if (unsafePattern.test(path))
    throw new EgressError("EGRESS_REQUEST_INVALID", "Cannot send a path that is not one line");
  return `${method} ${path} HTTP/1.1\r\n${toFieldLines([...own, ...headers, ...framing])}\r\n`;
}

function timedOut(host: string): EgressError {
  return new EgressError(
    "EGRESS_TIMED_OUT",
    `Cannot continue with "${host}": nothing arrived within the idle timeout`,
  );
}
