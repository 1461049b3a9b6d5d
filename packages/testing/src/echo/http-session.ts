/**
 * One session of the streamable HTTP echo server: its connection, the response
 * streams of its requests, its GET stream, and the stored events of resumable
 * streams. Without a session id, it belongs to one request.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { EchoConnection } from "./echo-connection.ts";
import type { EchoServer } from "./echo-server.ts";
import { eventOf, eventStreamHeaders } from "./http-options.ts";
import type { JsonRpcId, JsonRpcMessage } from "./json-rpc.ts";

/** The form of responses: one JSON body, a stream, or a stream only if other messages precede the response. */
export type AnswerForm = "json" | "sse" | "auto";

/** The key of the stream for messages that belong to no request. */
const standalone = "standalone";

interface StoredEvent {
  readonly id: string;
  readonly stream: string;
  readonly data: string;
}

/** Number of stored events; the oldest ones are dropped first. */
const eventMaxCount = 1000;
/** Milliseconds that a client has to wait before it resumes a stream. */
const retryMs = 50;

export interface HttpSessionOptions {
  readonly answers: AnswerForm;
  /** Adds ids to the events and stores them, so that a stream can be resumed. */
  readonly isResumable: boolean;
  /** The session id; undefined for a session that belongs to one request. */
  readonly sessionId: string | undefined;
  /** Returns the HTTP status of an error that is sent as one JSON body. @default 200 */
  readonly statusOf?: (answer: JsonRpcMessage) => number;
  readonly onExpire: () => void;
}

export class HttpSession {
  readonly connection: EchoConnection;
  readonly #options: HttpSessionOptions;
  readonly #events: StoredEvent[] = [];
  readonly #streams = new Map<string, ServerResponse>();
  #eventCount = 0;

  constructor(server: EchoServer, request: IncomingMessage, options: HttpSessionOptions) {
    this.#options = options;
    this.connection = new EchoConnection(server, {
      send: (message, relatedTo) => this.#send(message, relatedTo),
      writeText: (text, relatedTo) => this.#write(streamOf(relatedTo), text),
      breakOff: (relatedTo) => this.#breakOff(streamOf(relatedTo)),
      expireSession: options.onExpire,
      headers: request.headers,
    });
  }

  /** Handles the POST of a request; resolves after the response, or when the connection is closed. */
  post(message: JsonRpcMessage, response: ServerResponse): void {
    const stream = streamOf(message.id ?? undefined);
    this.#streams.set(stream, response);
    response.on("close", () => {
      // The stream can have been resumed on another response meanwhile.
      if (this.#streams.get(stream) === response) this.#streams.delete(stream);
    });
    if (this.#options.answers === "sse") this.#openStream(stream, response);
    this.connection.receive(message);
  }

  /** Opens the GET stream, or resumes a broken stream after `lastEventId`. */
  get(lastEventId: string | undefined, response: ServerResponse): void {
    const stream = lastEventId === undefined ? standalone : lastEventId.slice(lastEventId.indexOf("@") + 1);
    this.#streams.get(stream)?.end();
    this.#streams.set(stream, response);
    response.on("close", () => {
      if (this.#streams.get(stream) === response) this.#streams.delete(stream);
    });
    response.writeHead(200, this.#headers(eventStreamHeaders));
    response.flushHeaders();
    if (lastEventId === undefined) return;
    const missed = this.#events.slice(this.#events.findIndex((event) => event.id === lastEventId) + 1);
    for (const event of missed) {
      if (event.stream !== stream) continue;
      response.write(eventOf(event.data, event.id));
      if (isAnswer(event.data)) response.end();
    }
  }

  close(): void {
    this.connection.close();
    for (const response of this.#streams.values()) response.end();
    this.#streams.clear();
  }

  #send(message: JsonRpcMessage, relatedTo: JsonRpcId | undefined): void {
    const stream = streamOf(relatedTo);
    const response = this.#streams.get(stream);
    const isLast = message.method === undefined;
    if (response === undefined || response.headersSent) {
      this.#write(stream, JSON.stringify(message));
    } else if (isLast) {
      const status = this.#options.statusOf?.(message) ?? 200;
      response.writeHead(status, this.#headers({ "content-type": "application/json" }));
      response.end(JSON.stringify(message));
      this.#streams.delete(stream);
      return;
    } else if (this.#options.answers === "json") {
      // A JSON body contains only the response; messages before it go to the GET stream.
      this.#write(standalone, JSON.stringify(message));
    } else {
      this.#openStream(stream, response);
      this.#write(stream, JSON.stringify(message));
    }
    if (isLast) {
      response?.end();
      this.#streams.delete(stream);
    }
  }

  #write(stream: string, data: string): void {
    const id = this.#store(stream, data);
    const response = this.#streams.get(stream);
    if (response?.headersSent === true) response.write(eventOf(data, id));
  }

  #store(stream: string, data: string): string | undefined {
    if (!this.#options.isResumable) return undefined;
    this.#eventCount += 1;
    const id = `${this.#eventCount}@${stream}`;
    this.#events.push({ id, stream, data });
    if (this.#events.length > eventMaxCount) this.#events.shift();
    return id;
  }

  #openStream(stream: string, response: ServerResponse): void {
    response.writeHead(200, this.#headers(eventStreamHeaders));
    response.flushHeaders();
    // An event without a message contains the id from which the client resumes (SEP-1699).
    const id = this.#store(stream, "");
    if (id !== undefined) response.write(`id: ${id}\nretry: ${retryMs}\ndata: \n\n`);
  }

  /** Breaks a response. A resumable stream is ended instead, so that the client resumes it. */
  #breakOff(stream: string): void {
    const response = this.#streams.get(stream);
    if (this.#options.isResumable && response?.headersSent === true) response.end();
    else response?.socket?.destroy();
    this.#streams.delete(stream);
  }

  #headers(headers: { readonly [name: string]: string }): { readonly [name: string]: string } {
    const { sessionId } = this.#options;
    return sessionId === undefined ? headers : { ...headers, "mcp-session-id": sessionId };
  }
}

function streamOf(relatedTo: JsonRpcId | undefined): string {
  return relatedTo === undefined ? standalone : JSON.stringify(relatedTo);
}

/** Whether a stored event contains the response that ends its stream. */
function isAnswer(data: string): boolean {
  return data !== "" && !data.includes('"method":');
}
