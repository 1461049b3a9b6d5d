/**
 * The response to a request that arrived whole: what `node:http` would send, written with one system call where the
 * body is known, and chunked otherwise.
 */

import { EventEmitter } from "node:events";
import type { OutgoingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { HttpRequest, HttpResponse } from "@toolcrib/mcp";

// An `import` reads every export of the module, and `WebSocket` alone loads Node's whole fetch.
const { STATUS_CODES, validateHeaderName, validateHeaderValue } = process.getBuiltinModule("node:http");

/** The functions of its connection that a response needs. */
export interface ResponseConnection {
  readonly socket: Socket;
  /** Returns the value of the header `Date`. */
  readonly date: () => string;
  /** The header `Keep-Alive`, with its line end. */
  readonly keepAliveLine: string;
  /** Called once, when the whole response was handed to the operating system or the queue of the socket. */
  readonly ended: (response: WholeResponse) => void;
}

/** Statuses without a body (RFC 9110, 6.4.1). */
const hasNoBody = (status: number): boolean => status === 204 || status === 304;

/** A response on a connection, one at a time. */
export class WholeResponse implements HttpResponse {
  readonly req: HttpRequest;
  shouldKeepAlive = true;
  headersSent = false;
  writableEnded = false;
  writableFinished = false;
  destroyed = false;
  readonly #connection: ResponseConnection;
  /** Exists once somebody listens: to most responses, nobody does. */
  #events: EventEmitter | undefined;
  #set: { [name: string]: string } | undefined;
  #status = 200;
  #given: OutgoingHttpHeaders = {};
  /** The framing of the body, once the head is on its way. */
  #framing: "chunked" | "length" | "none" | undefined;

  constructor(request: HttpRequest, connection: ResponseConnection) {
    this.req = request;
    this.#connection = connection;
  }

  get writableLength(): number {
    return this.#connection.socket.writableLength;
  }

  setHeader(name: string, value: string): this {
    this.#set ??= {};
    this.#set[name] = value;
    return this;
  }

  writeHead(status: number, headers: OutgoingHttpHeaders = {}): this {
    if (this.headersSent) throw new Error("The head of this response was written before");
    this.headersSent = true;
    this.#status = status;
    this.#given = headers;
    return this;
  }

  flushHeaders(): void {
    if (this.#framing === undefined) this.#send(this.#head(undefined));
  }

  write(text: string): boolean {
    if (this.destroyed || this.writableEnded || text === "") return false;
    this.flushHeaders();
    if (this.#framing === "none") return true;
    return this.#send(this.#framing === "chunked" ? chunkOf(text) : text);
  }

  end(text = ""): this {
    if (this.writableEnded) return this;
    this.writableEnded = true;
    if (!this.destroyed) this.#send(this.#lastPart(text), () => this.#finish());
    this.#connection.ended(this);
    return this;
  }

  destroy(): this {
    this.#connection.socket.destroy();
    return this;
  }

  on(event: string, listener: () => void): this {
    this.#events ??= new EventEmitter();
    this.#events.on(event, listener);
    return this;
  }

  once(event: string, listener: () => void): this {
    this.#events ??= new EventEmitter();
    this.#events.once(event, listener);
    return this;
  }

  off(event: string, listener: () => void): this {
    this.#events?.off(event, listener);
    return this;
  }

  /** Reports that the client has read what waited for it. */
  drained(): void {
    this.#events?.emit("drain");
  }

  /** Reports that the connection is closed. */
  connectionClosed(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.#events?.emit("close");
  }

  #finish(): void {
    this.writableFinished = true;
    this.#events?.emit("finish");
    this.connectionClosed();
  }

  #lastPart(text: string): string {
    const head = this.#framing === undefined ? this.#head(text) : "";
    if (this.#framing === "none") return head;
    if (this.#framing === "length") return head + text;
    return text === "" ? "0\r\n\r\n" : `${chunkOf(text)}0\r\n\r\n`;
  }

  /** Returns the head, and decides the framing. @param body the whole body; undefined if it comes in parts */
  #head(body: string | undefined): string {
    this.headersSent = true;
    let head = `HTTP/1.1 ${this.#status} ${STATUS_CODES[this.#status] ?? "Unknown"}\r\n`;
    for (const name in this.#set) head += headerLine(name, this.#set[name]);
    for (const name in this.#given) {
      head += headerLine(name, this.#given[name]);
      if (name === "connection") this.shouldKeepAlive = false;
    }
    head += `Date: ${this.#connection.date()}\r\n`;
    if (this.shouldKeepAlive) head += `Connection: keep-alive\r\n${this.#connection.keepAliveLine}`;
    else if (!("connection" in this.#given)) head += "Connection: close\r\n";
    if (hasNoBody(this.#status)) this.#framing = "none";
    else if ("content-length" in this.#given) this.#framing = "length";
    else if (body === undefined) this.#framing = "chunked";
    else this.#framing = "length";
    if (this.#framing === "chunked") return `${head}Transfer-Encoding: chunked\r\n\r\n`;
    if (this.#framing === "none" || "content-length" in this.#given) return `${head}\r\n`;
    return `${head}Content-Length: ${Buffer.byteLength(body ?? "")}\r\n\r\n`;
  }

  #send(text: string, done?: () => void): boolean {
    return this.#connection.socket.write(text, "utf8", done);
  }
}

function chunkOf(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** Lines by name and value. What was written once is valid; only new ones are checked. */
const known = new Map<string, Map<unknown, string>>();
const knownMax = 64;
let knownCount = 0;

function headerLine(name: string, value: unknown): string {
  const ofName = known.get(name);
  const line = ofName?.get(value);
  if (line !== undefined) return line;
  if (ofName === undefined) validateHeaderName(name);
  if (typeof value === "number") return `${name}: ${value}\r\n`;
  const text = String(value);
  validateHeaderValue(name, text);
  return remember(name, value, `${name}: ${text}\r\n`);
}

function remember(name: string, value: unknown, line: string): string {
  if (knownCount >= knownMax || typeof value !== "string") return line;
  knownCount += 1;
  const ofName = known.get(name);
  if (ofName === undefined) known.set(name, new Map([[value, line]]));
  else ofName.set(value, line);
  return line;
}
