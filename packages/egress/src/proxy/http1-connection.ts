/**
 * One connection of HTTP/1.1 to the origin: a request, its response, then the
 * next. A response passes in pieces as large as came at once, in the memory
 * that it was read into. Who broke which rule ends the connection, and with it
 * the exchange that was on it.
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

/** Opens a connection that reads as it is told. */
export type ConnectReading = (onRead: OnReadOpts) => Promise<TLSSocket>;

/** What is done with a connection between its requests. */
export interface ConnectionOwner {
  /** It can have another request. */
  onIdle(connection: Http1Connection): void;
  /** It is gone. */
  onClosed(connection: Http1Connection): void;
}

/** What is known of a request on its way. */
interface Exchange {
  readonly head: RequestHead;
  readonly listener: UpstreamListener;
  readonly body: RequestBody;
  /** The head of the response, once it is there. */
  response: ParsedHead | undefined;
  isResponseOver: boolean;
  trailers: RawHeaders;
}

/** A connection that is open, TLS done. */
export class Http1Connection {
  readonly #owner: ConnectionOwner;
  readonly #limits: ProxyLimits;
  readonly #parser: ResponseParser;
  readonly #blocks = new ReadBlocks();
  #socket: TLSSocket | undefined;
  #exchange: Exchange | undefined;
  #sink: BodySink | undefined;
  /** Body that lies side by side and has not gone on yet: where it lies, from where to where. */
  #waiting: ArrayBufferLike | undefined;
  #waitingStart = 0;
  #waitingEnd = 0;
  #isFlushDue = false;
  #isPaused = false;
  #wasUsed = false;
  #bodyBytes = 0;

  /** Use `open` or `adopt`. */
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

  /** Open one with `connect`, in whose memory responses are read. */
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

  /** Have one that was opened elsewhere, and reads as streams do. */
  static adopt(socket: TLSSocket, limits: ProxyLimits, owner: ConnectionOwner): Http1Connection {
    const connection = new Http1Connection(limits, owner);
    socket.on("data", (piece: Buffer) => connection.#take(piece));
    return connection.#attach(socket);
  }

  /** Whether it is still there. */
  get isOpen(): boolean {
    return this.#socket?.destroyed === false;
  }

  /**
   * Send a request. There may be none on its way.
   *
   * @throws {EgressError} `EGRESS_REQUEST_INVALID` for a head that would be another one on the wire.
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

  /** End it, and what is on its way. Safe to repeat. */
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
    // Heads, and what is around chunks, were copied.
    this.#blocks.giveBack(bytes.buffer, bytes.length - this.#bodyBytes);
    // What came with the head goes on with it.
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
      // What breaks off does not end.
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

  /** Once everything was read that is there. */
  #flushSoon(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    setImmediate(() => {
      this.#isFlushDue = false;
      this.#flush();
    });
  }

  /** Pass on what waits, unless the reader is to be waited for. */
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

  /** Be ready for the next request, once both the request and the response are over. */
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
 * The body of a request, in its chunks where its length is not known. One that
 * is not as long as was said ends the connection: the origin would take what is
 * too much for another request.
 */
class RequestBody extends Writable {
  readonly #socket: TLSSocket;
  readonly #isChunked: boolean;
  /** What is to come of it, where its length is known. */
  #left: number;
  #trailers: RawHeaders = [];

  constructor(socket: TLSSocket, { headers, hasBody }: RequestHead, highWaterMark: number) {
    super({ highWaterMark, autoDestroy: false });
    this.#socket = socket;
    const length = lengthOf(headers);
    this.#isChunked = hasBody && length === undefined;
    this.#left = length ?? Number.POSITIVE_INFINITY;
    // Told by the connection.
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

/** What no header has: it would be the end of the line, or another character in Latin-1. */
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

/** @throws {EgressError} `EGRESS_REQUEST_INVALID` for what is not one number. */
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
  // A method that usually has a body says that it has none.
  else if (!hasBody && !hasLength && !/^(?:GET|HEAD|OPTIONS|DELETE)$/.test(method))
    framing.push("Content-Length", "0");
  if (takesTrailers) framing.push("TE", "trailers", "Connection", "TE, keep-alive");
  else framing.push("Connection", "keep-alive");
  if (unsafePattern.test(path))
    throw new EgressError("EGRESS_REQUEST_INVALID", "Cannot send a path that is not one line");
  return `${method} ${path} HTTP/1.1\r\n${toFieldLines([...own, ...headers, ...framing])}\r\n`;
}

function timedOut(host: string): EgressError {
  return new EgressError("EGRESS_TIMED_OUT", `Cannot go on with "${host}": nothing came for too long`);
}
