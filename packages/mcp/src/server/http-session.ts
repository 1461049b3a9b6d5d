/**
 * A legacy session over Streamable HTTP: which message goes out on which
 * response. An answer goes to the POST that asked; it is plain JSON unless
 * something had to be said before it, then the response is an event stream.
 * Messages that belong to no request go to the GET stream, and wait in a
 * bounded log while there is none.
 */

import type { ServerResponse } from "node:http";
import { formatSseEvent } from "../framing/sse.ts";
import type { RpcId, RpcMessage } from "../json-rpc.ts";
import { EventLog } from "./event-log.ts";
import { openEventStream, sendJson } from "./http-io.ts";
import { LegacySession, type LegacySessionOptions } from "./legacy-session.ts";
import type { McpService } from "./service.ts";

/** Most messages that wait for a GET stream. */
const maxWaiting = 256;

/** One stream of events to the client, alive across reconnections. */
interface EventStream {
  readonly streamId: number;
  response: ServerResponse | undefined;
}

/** A POST whose requests are being worked on. */
interface Exchange {
  /** Ids of requests without an answer yet. */
  readonly open: Set<RpcId>;
  readonly isBatch: boolean;
  readonly acceptsEvents: boolean;
  /** Answers of a batch, gathered until the last one. */
  readonly answers: RpcMessage[];
  response: ServerResponse | undefined;
  stream: EventStream | undefined;
}

export class HttpSession {
  readonly session: LegacySession;
  /** Milliseconds since the epoch of the last request; the owner keeps it. */
  lastUsedAt: number;
  readonly #log = new EventLog();
  readonly #exchanges = new Map<RpcId, Exchange>();
  readonly #streams = new Map<number, EventStream>();
  #standalone: EventStream | undefined;
  readonly #waiting: RpcMessage[] = [];

  /** Requests in flight in all sessions of the endpoint, counted together. */
  readonly #inFlight: { count: number };

  constructor(service: McpService, options: LegacySessionOptions, inFlight: { count: number }, now: number) {
    this.#inFlight = inFlight;
    this.session = new LegacySession(
      service,
      (message, relatedTo) => this.#send(message, relatedTo),
      options,
    );
    this.lastUsedAt = now;
  }

  /** Whether a client holds a stream or waits for an answer. */
  get isBusy(): boolean {
    return this.#exchanges.size > 0 || this.#standalone?.response !== undefined;
  }

  /** Take the parsed body of a POST that holds at least one request. */
  post(value: unknown, ids: readonly RpcId[], response: ServerResponse, acceptsEvents: boolean): void {
    const exchange: Exchange = {
      open: new Set(ids),
      isBatch: Array.isArray(value),
      acceptsEvents,
      answers: [],
      response,
      stream: undefined,
    };
    for (const id of ids) this.#exchanges.set(id, exchange);
    this.#inFlight.count += ids.length;
    response.on("close", () => {
      // Losing the connection does not cancel a legacy request; its deadline ends it.
      exchange.response = undefined;
      if (exchange.stream !== undefined) exchange.stream.response = undefined;
    });
    this.session.receive(value);
  }

  /** Whether a request with this id is being worked on. */
  isOpen(id: RpcId): boolean {
    return this.#exchanges.has(id);
  }

  /** Open the GET stream, or continue the stream of `lastEventId`. */
  get(
    response: ServerResponse,
    lastEventId: string | undefined,
    headers: { readonly [name: string]: string },
  ): void {
    openEventStream(response, headers);
    const replay = lastEventId === undefined ? undefined : this.#log.after(lastEventId);
    if (replay !== undefined) {
      const stream = this.#streams.get(replay.streamId);
      for (const { id, data } of replay.events) response.write(formatSseEvent(data, { id }));
      if (stream === undefined) {
        // Everything that the stream had to say has been said.
        response.end();
        return;
      }
      stream.response?.end();
      this.#attach(stream, response);
      return;
    }
    // The newest GET stream takes over: the old one belongs to a connection that is gone or idle.
    this.#standalone?.response?.end();
    const stream = this.#openStream(response);
    this.#standalone = stream;
    this.#prime(stream);
    for (const message of this.#waiting.splice(0)) this.#write(stream, message);
  }

  /** Write a comment to every open stream, so that idle connections stay open. */
  keepAlive(): void {
    for (const { response } of this.#streams.values()) response?.write(": keep-alive\n\n");
  }

  /**
   * Turn answers that take long into event streams, so that the client's
   * time limit for response headers does not end them.
   */
  openSlowExchanges(): void {
    for (const exchange of this.#exchanges.values()) {
      if (exchange.acceptsEvents && exchange.stream === undefined && exchange.response !== undefined) {
        this.#streamOf(exchange);
      }
    }
  }

  /** End the session and all its streams. */
  close(reason: string): void {
    this.session.close(reason);
    for (const exchange of new Set(this.#exchanges.values())) exchange.response?.end();
    for (const { response } of this.#streams.values()) response?.end();
    this.#inFlight.count -= this.#exchanges.size;
    this.#exchanges.clear();
    this.#streams.clear();
  }

  #send(message: RpcMessage, relatedTo: RpcId | undefined): void {
    const exchange = relatedTo === undefined ? undefined : this.#exchanges.get(relatedTo);
    if (exchange === undefined) {
      this.#sendStandalone(message);
      return;
    }
    const isAnswer = !("method" in message);
    if (!isAnswer) {
      if (exchange.acceptsEvents) this.#write(this.#streamOf(exchange), message);
      else this.#sendStandalone(message);
      return;
    }
    this.#exchanges.delete(relatedTo as RpcId);
    this.#inFlight.count -= 1;
    exchange.open.delete(relatedTo as RpcId);
    if (exchange.stream !== undefined) {
      this.#write(exchange.stream, message);
      if (exchange.open.size === 0) this.#closeStream(exchange.stream);
      return;
    }
    exchange.answers.push(message);
    if (exchange.open.size > 0 || exchange.response === undefined) return;
    const body = exchange.isBatch ? exchange.answers : message;
    const isInitialize = this.session.isOpen && "result" in message && "protocolVersion" in message.result;
    sendJson(
      exchange.response,
      200,
      JSON.stringify(body),
      isInitialize ? { "mcp-session-id": this.session.id } : undefined,
    );
  }

  #sendStandalone(message: RpcMessage): void {
    if (this.#standalone !== undefined) {
      this.#write(this.#standalone, message);
      return;
    }
    this.#waiting.push(message);
    if (this.#waiting.length > maxWaiting) this.#waiting.shift();
  }

  #streamOf(exchange: Exchange): EventStream {
    if (exchange.stream !== undefined) return exchange.stream;
    const { response } = exchange;
    if (response !== undefined) openEventStream(response, { "mcp-session-id": this.session.id });
    const stream = this.#openStream(response);
    exchange.stream = stream;
    this.#prime(stream);
    for (const answer of exchange.answers) this.#write(stream, answer);
    return stream;
  }

  /** An event with an id and no data lets the client resume before anything was said (2025-11-25). */
  #prime(stream: EventStream): void {
    if (this.session.protocolVersion !== "2025-11-25") return;
    const id = this.#log.append(stream.streamId, "");
    stream.response?.write(`id: ${id}\ndata: \n\n`);
  }

  #openStream(response: ServerResponse | undefined): EventStream {
    const stream: EventStream = { streamId: this.#log.openStream(), response: undefined };
    this.#streams.set(stream.streamId, stream);
    if (response !== undefined) this.#attach(stream, response);
    return stream;
  }

  #attach(stream: EventStream, response: ServerResponse): void {
    stream.response = response;
    response.on("close", () => {
      if (stream.response === response) stream.response = undefined;
    });
  }

  #closeStream(stream: EventStream): void {
    stream.response?.end();
    this.#streams.delete(stream.streamId);
  }

  #write(stream: EventStream, message: RpcMessage): void {
    const data = JSON.stringify(message);
    const id = this.#log.append(stream.streamId, data);
    stream.response?.write(formatSseEvent(data, { id, event: "message" }));
  }
}
