/**
 * Reads connections whose requests arrive whole and in turns, which is how clients send nearly every call, at less
 * than half of the cost of `node:http`. At the first input of any other form (a stream, a large or chunked body, a
 * pipelined or malformed request) the connection goes to `node:http`, with that input, and stays there.
 *
 * It answers nothing itself and refuses nothing: what is malformed is refused by `node:http`.
 */

import type { Socket } from "node:net";
import type { HttpRequest } from "@toolcrib/mcp";
import { headLengthOf, parseHead, RepeatedHead, type WholeHead } from "./parse-request.ts";
import { type ResponseConnection, WholeResponse } from "./whole-response.ts";

/** Dependencies of the reader. */
export interface WholeRequestsDeps {
  /** Answers a request; must not throw. */
  readonly handle: (request: HttpRequest, response: WholeResponse) => void;
  /** Takes a connection over, with its input unread. */
  readonly handOver: (socket: Socket) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly limits: {
    /** Longest head in bytes. */
    readonly headersMaxBytes: number;
    /** Milliseconds that a connection may be idle. */
    readonly idleConnectionMs: number;
  };
}

/** The time that an idle connection has beyond its `Keep-Alive` header, as in `node:http`, in milliseconds. */
const idleBufferMs = 1000;

/** Bytes of input that are read while an earlier request is answered. */
const waitingMaxBytes = 64 * 1024;

/** A request that arrived whole. It has no events: nothing of it is left to read. */
class WholeRequest implements HttpRequest {
  readonly method = "POST";
  readonly url: string;
  readonly headers: WholeHead["headers"];
  readonly rawHeaders: readonly string[] = [];
  readonly socket: Socket;
  readonly complete = true;
  readonly destroyed = false;
  readonly wholeBody: Buffer;

  constructor(head: WholeHead, body: Buffer, socket: Socket) {
    this.url = head.url;
    this.headers = head.headers;
    this.wholeBody = body;
    this.socket = socket;
  }

  on(): this {
    return this;
  }

  pause(): this {
    return this;
  }
}

/** The connections of one server. */
export class WholeRequests {
  readonly #deps: WholeRequestsDeps;
  readonly #connections = new Set<WholeConnection>();
  readonly #date: () => string;
  readonly #keepAliveLine: string;
  #isDraining = false;

  constructor(deps: WholeRequestsDeps) {
    this.#deps = deps;
    this.#date = createDate(deps.now);
    this.#keepAliveLine = `Keep-Alive: timeout=${Math.floor(deps.limits.idleConnectionMs / 1000)}\r\n`;
  }

  /** Starts to read a new connection. */
  add(socket: Socket): void {
    const connection = new WholeConnection(socket, {
      ...this.#deps,
      date: this.#date,
      keepAliveLine: this.#keepAliveLine,
      isDraining: () => this.#isDraining,
      left: () => this.#connections.delete(connection),
    });
    this.#connections.add(connection);
  }

  /** Closes each connection after the answer to its next or current request. */
  drain(): void {
    this.#isDraining = true;
    for (const connection of this.#connections) connection.drain();
  }

  /** Closes the connections on which no request is in flight. */
  closeIdle(): void {
    for (const connection of this.#connections) connection.closeIdle();
  }

  /** Closes all connections. */
  closeAll(): void {
    for (const connection of this.#connections) connection.close();
  }
}

interface ConnectionDeps extends WholeRequestsDeps, Pick<ResponseConnection, "date" | "keepAliveLine"> {
  readonly isDraining: () => boolean;
  /** Called once, when the connection is closed or handed over. */
  readonly left: () => void;
}

class WholeConnection implements ResponseConnection {
  readonly socket: Socket;
  readonly date: () => string;
  readonly keepAliveLine: string;
  readonly #deps: ConnectionDeps;
  /** The response in progress. */
  #response: WholeResponse | undefined;
  /** The head of the last request that was parsed. */
  #lastHead: RepeatedHead | undefined;
  /** Input that waits for the answer to earlier input. */
  #waiting: Buffer | undefined;
  /** An answer said that the connection closes: nothing that arrives after it is read. */
  #isClosing = false;
  readonly #onData = (input: Buffer) => this.#receive(input);
  readonly #onEnd = () => this.socket.end();
  readonly #onNext = () => this.#next();
  readonly #onDrain = () => {
    this.#response?.drained();
    this.#next();
  };
  readonly #onTimeout = () => this.closeIdle();
  readonly #onClose = () => this.#closed();

  constructor(socket: Socket, deps: ConnectionDeps) {
    this.socket = socket;
    this.#deps = deps;
    this.date = deps.date;
    this.keepAliveLine = deps.keepAliveLine;
    socket.on("data", this.#onData);
    socket.on("end", this.#onEnd);
    socket.on("close", this.#onClose);
    socket.on("error", ignoreError);
    socket.on("drain", this.#onDrain);
    socket.setTimeout(deps.limits.idleConnectionMs + idleBufferMs);
    socket.on("timeout", this.#onTimeout);
  }

  drain(): void {
    if (this.#response !== undefined) this.#response.shouldKeepAlive = false;
  }

  closeIdle(): void {
    if (this.#response === undefined && this.socket.writableLength === 0) this.socket.destroy();
  }

  close(): void {
    this.socket.destroy();
  }

  readonly ended = (response: WholeResponse): void => {
    this.#response = undefined;
    if (!response.shouldKeepAlive) {
      this.#isClosing = true;
      this.#waiting = undefined;
      this.socket.destroySoon();
    } else if (this.#waiting !== undefined) setImmediate(this.#onNext);
  };

  #receive(input: Buffer): void {
    if (this.#isClosing) return;
    if (this.#response === undefined && this.#waiting === undefined && this.socket.writableLength === 0) {
      this.#read(input);
    } else this.#wait(input);
  }

  #next(): void {
    const input = this.#waiting;
    if (input === undefined || this.#response !== undefined || this.socket.writableLength > 0) return;
    this.#waiting = undefined;
    this.#read(input);
    if (this.#waiting === undefined) this.socket.resume();
  }

  #read(input: Buffer): void {
    const { socket } = this;
    const found = this.#lastHead?.find(input, this.#deps.limits.headersMaxBytes) ?? this.#parse(input);
    const end = found === undefined ? 0 : found.headLength + found.head.bodyLength;
    if (found === undefined || input.length < end) {
      this.#handOver(input);
      return;
    }
    if (input.length > end) this.#wait(input.subarray(end));
    const request = new WholeRequest(found.head, input.subarray(found.headLength, end), socket);
    const response = new WholeResponse(request, this);
    if (this.#deps.isDraining()) response.shouldKeepAlive = false;
    this.#response = response;
    this.#deps.handle(request, response);
  }

  #parse(input: Buffer): { readonly head: WholeHead; readonly headLength: number } | undefined {
    const headLength = headLengthOf(input, this.#deps.limits.headersMaxBytes);
    if (headLength === undefined) return undefined;
    const head = parseHead(input.toString("latin1", 0, headLength));
    if (head === undefined) return undefined;
    this.#lastHead = new RepeatedHead(input.subarray(0, headLength), head);
    return { head, headLength };
  }

  /** Keeps input until the answer to earlier input was read, so that the answers cannot pile up. */
  #wait(input: Buffer): void {
    if (this.#waiting === undefined && !canBeginRequest(input[0])) {
      this.socket.destroy();
      return;
    }
    this.#waiting = this.#waiting === undefined ? input : Buffer.concat([this.#waiting, input]);
    // Until then, the end of a connection is noticed as it arrives.
    if (this.#waiting.length > waitingMaxBytes) this.socket.pause();
  }

  #handOver(input: Buffer): void {
    const { socket } = this;
    this.#leave();
    socket.setTimeout(0);
    socket.pause();
    socket.unshift(input);
    this.#deps.handOver(socket);
    socket.resume();
  }

  #closed(): void {
    this.#leave();
    const response = this.#response;
    this.#response = undefined;
    response?.connectionClosed();
  }

  #leave(): void {
    const { socket } = this;
    socket.off("data", this.#onData);
    socket.off("end", this.#onEnd);
    socket.off("close", this.#onClose);
    socket.off("drain", this.#onDrain);
    socket.off("timeout", this.#onTimeout);
    socket.off("error", ignoreError);
    this.#waiting = undefined;
    this.#deps.left();
  }
}

/** Whether `byte` can begin a request: a method, or the line end that some clients send after a body. */
function canBeginRequest(byte: number | undefined): boolean {
  return byte === 0x0d || byte === 0x0a || (byte !== undefined && byte >= 0x41 && byte <= 0x5a);
}

/** A connection that breaks is closed, and its close is what matters. */
function ignoreError(): void {}

/** Returns a function that formats the time as the header `Date`, at most once a second. */
function createDate(now: () => number): () => string {
  let second = -1;
  let text = "";
  return () => {
    const time = Math.floor(now() / 1000);
    if (time !== second) {
      second = time;
      text = new Date(time * 1000).toUTCString();
    }
    return text;
  };
}
