/**
 * One kept-alive HTTP/1.1 connection on a bare socket, one exchange at a time:
 * the load client's transport. It is written for the benchmark so that the
 * client costs as little of the shared cores as possible, and the same for
 * every contender.
 *
 * It reads bodies with a length, chunked, or up to the end of the connection.
 * It never follows redirects, decompresses, pipelines or retries.
 */

import { connect, type Socket } from "node:net";

const headMaxBytes = 65_536;

/** A pattern that finds a header field; built once, because it runs on the hot path. */
const fieldPattern = (name: string): RegExp => new RegExp(`\\r\\n${name}:[ \\t]*(.*?)[ \\t]*\\r\\n`, "i");
const contentType = fieldPattern("content-type");
const contentLength = fieldPattern("content-length");
const transferEncoding = fieldPattern("transfer-encoding");
const sessionId = fieldPattern("mcp-session-id");
const connectionOption = fieldPattern("connection");

/** A response. */
export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string;
  /** `Mcp-Session-Id`, when the answer names one. */
  readonly sessionId: string | undefined;
  /** Empty when the body went to a `BodyListener`. */
  readonly body: string;
}

/** Gets the pieces of a streamed body as they arrive, instead of the whole at the end. */
export type BodyListener = (text: string) => void;

interface Exchange {
  readonly onBody: BodyListener | undefined;
  readonly resolve: (answer: HttpAnswer) => void;
  readonly reject: (error: Error) => void;
  head: Omit<HttpAnswer, "body"> | undefined;
  /** Bytes of body (or of the chunk) still to come; Infinity: until the connection ends. */
  left: number;
  chunked: boolean;
  parts: string[];
}

/** A connection to one loopback port; `close` aborts the exchange in flight. */
export class HttpConnection {
  readonly #socket: Socket;
  #exchange: Exchange | undefined;
  #unread: Buffer = Buffer.alloc(0);
  #reusable = true;

  constructor(port: number) {
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.#socket.on("data", (chunk: Buffer) => this.#read(chunk));
    this.#socket.on("error", (error) => this.#fail(error));
    this.#socket.on("close", () => this.#ended());
  }

  /** False once the connection cannot carry another exchange. */
  get reusable(): boolean {
    return this.#reusable;
  }

  /** Sends one request (head and body) and waits for its response. */
  send(request: string, onBody?: BodyListener): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#exchange !== undefined || !this.#reusable) {
        reject(new Error("the connection is not free"));
        return;
      }
      this.#exchange = { onBody, resolve, reject, head: undefined, left: 0, chunked: false, parts: [] };
      this.#socket.write(request);
    });
  }

  close(reason = "the load client closed the connection"): void {
    this.#fail(new Error(reason));
    this.#socket.destroy();
  }

  #fail(error: Error): void {
    this.#reusable = false;
    const exchange = this.#exchange;
    this.#exchange = undefined;
    exchange?.reject(error);
  }

  #ended(): void {
    if (this.#exchange?.head !== undefined && this.#exchange.left === Number.POSITIVE_INFINITY) {
      this.#finish(this.#exchange);
    }
    this.#fail(new Error("the contender closed the connection"));
  }

  #finish(exchange: Exchange): void {
    this.#exchange = undefined;
    exchange.resolve({ ...exchange.head!, body: exchange.parts.join("") });
  }

  #read(chunk: Buffer): void {
    this.#unread = this.#unread.length === 0 ? chunk : Buffer.concat([this.#unread, chunk]);
    const exchange = this.#exchange;
    // Unexpected bytes mean that the two sides disagree about the end of a response.
    if (exchange === undefined) {
      this.close("the contender sent bytes after its answer");
      return;
    }
    if (exchange.head === undefined && !this.#readHead(exchange)) return;
    const done = exchange.chunked ? this.#readChunks(exchange) : this.#readPlain(exchange);
    if (done && this.#exchange === exchange) this.#finish(exchange);
  }

  #readHead(exchange: Exchange): boolean {
    const end = this.#unread.indexOf("\r\n\r\n");
    if (end === -1) {
      if (this.#unread.length > headMaxBytes) this.close("the contender's answer has no end of its head");
      return false;
    }
    const head = this.#unread.toString("latin1", 0, end + 2);
    this.#unread = this.#unread.subarray(end + 4);
    const status = Number(head.slice(9, 12));
    const field = (pattern: RegExp): string | undefined => pattern.exec(head)?.[1];
    exchange.head = {
      status,
      contentType: field(contentType) ?? "",
      sessionId: field(sessionId),
    };
    exchange.chunked = field(transferEncoding)?.toLowerCase() === "chunked";
    const length = field(contentLength);
    exchange.left = Number(length ?? (status === 204 || status === 304 ? 0 : Number.POSITIVE_INFINITY));
    if (exchange.chunked) exchange.left = 0;
    if (field(connectionOption)?.toLowerCase() === "close") this.#reusable = false;
    return true;
  }

  #readPlain(exchange: Exchange): boolean {
    const taken = this.#take(exchange.left);
    exchange.left -= taken.length;
    this.#deliver(exchange, taken);
    return exchange.left === 0;
  }

  /** Chunks: size line, bytes, CRLF; a chunk of size 0 and an empty line end the body (no trailers). */
  #readChunks(exchange: Exchange): boolean {
    for (;;) {
      if (exchange.left > 0) {
        // The CRLF after the bytes counts as part of what is left and is not delivered.
        const taken = this.#take(exchange.left);
        const before = exchange.left;
        exchange.left -= taken.length;
        this.#deliver(exchange, taken.subarray(0, Math.max(0, before - 2)));
        if (exchange.left > 0) return false;
      }
      const end = this.#unread.indexOf("\r\n");
      if (end === -1) return false;
      const size = Number.parseInt(this.#unread.toString("latin1", 0, end), 16);
      if (size === 0) {
        if (this.#unread.length < end + 4) return false;
        this.#unread = this.#unread.subarray(end + 4);
        return true;
      }
      if (!(size > 0)) {
        this.close("the contender sent a chunk without a size");
        return false;
      }
      this.#unread = this.#unread.subarray(end + 2);
      exchange.left = size + 2;
    }
  }

  #take(count: number): Buffer {
    const taken = this.#unread.subarray(0, Math.min(count, this.#unread.length));
    this.#unread = this.#unread.subarray(taken.length);
    return taken;
  }

  #deliver(exchange: Exchange, bytes: Buffer): void {
    if (bytes.length === 0) return;
    // Every text of the benchmark is ASCII, so a cut between two reads never splits a character.
    const text = bytes.toString("latin1");
    if (exchange.onBody === undefined) exchange.parts.push(text);
    else exchange.onBody(text);
  }
}
