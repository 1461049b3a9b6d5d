/**
 * One session of the streamable HTTP echo server: its connection, the
 * response streams of its requests, its GET stream, and the events that a
 * broken stream can be resumed from. Without a session id it is the whole
 * life of one request.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { EchoConnection } from "./echo-connection.ts";
import type { EchoServer } from "./echo-server.ts";
import { eventOf, eventStreamHeaders } from "./http-options.ts";
import type { JsonRpcId, JsonRpcMessage } from "./json-rpc.ts";

/** How requests are answered: one JSON body, a stream, or a stream only where something precedes the answer. */
export type AnswerForm = "json" | "sse" | "auto";

/** The stream of messages that belong to no request. */
const standalone = "standalone";

interface StoredEvent {
  readonly id: string;
  readonly stream: string;
  readonly data: string;
}

/** Oldest events are forgotten past this many. */
const eventMaxCount = 1000;
/** How long a client is told to wait before it resumes a stream. */
const retryMs = 50;

export interface HttpSessionOptions {
  readonly answers: AnswerForm;
  /** Number the events and keep them, so that a stream can be resumed. */
  readonly isResumable: boolean;
  /** The id clients send back; undefined for a session that lives for one request. */
  readonly sessionId: string | undefined;
  /** The HTTP status of an answer that is an error, where it is sent as one JSON body. @default 200 */
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

  /** Answer a request's POST; resolves when it is answered or its connection is gone. */
  post(message: JsonRpcMessage, response: ServerResponse): void {
    const stream = streamOf(message.id ?? undefined);
    this.#streams.set(stream, response);
    response.on("close", () => {
      // A stream may have been resumed on another response by now.
      if (this.#streams.get(stream) === response) this.#streams.delete(stream);
    });
    if (this.#options.answers === "sse") this.#openStream(stream, response);
    this.connection.receive(message);
  }

  /** Open the GET stream, or resume a broken one after `lastEventId`. */
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
      // One JSON body has no room for what precedes the answer; the GET stream has.
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
    // An event without a message gives the client the id to resume from (SEP-1699).
    const id = this.#store(stream, "");
    if (id !== undefined) response.write(`id: ${id}\nretry: ${retryMs}\ndata: \n\n`);
  }

  /** Break a response: with resumption, end the stream, so that the client comes back for the answer. */
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

/** Whether the text of a stored event is the answer that ends its stream. */
function isAnswer(data: string): boolean {
  return data !== "" && !data.includes('"method":');
}
