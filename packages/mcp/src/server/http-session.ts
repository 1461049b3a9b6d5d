/**
 * A legacy session over Streamable HTTP: which message goes out on which
 * response. An answer goes to the POST that asked; it is plain JSON unless
 * something had to be said before it, then the response is an event stream.
 * Messages that belong to no request go to the GET stream, and wait in the
 * bounded log while there is none.
 *
 * It never lets a client that does not read its streams hold more than
 * `unreadMaxBytes` on each, one message more at most.
 */

import type { ServerResponse } from "node:http";
import { formatSseEvent } from "../framing/sse.ts";
import { InFlight } from "../in-flight.ts";
import type { ClassifiedMessage, RpcId, RpcMessage, RpcRequest } from "../json-rpc.ts";
import { invalidRequest } from "../mcp-error.ts";
import { rpcCodes } from "../protocol.ts";
import { EventLog, type ReplayedEvent } from "./event-log.ts";
import { openEventStream, sendError, sendJson, writeEvent } from "./http-io.ts";
import { LegacySession, type LegacySessionOptions } from "./legacy-session.ts";
import type { McpService } from "./service.ts";

/** What a session is opened with. */
export interface HttpSessionOptions extends LegacySessionOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Requests in flight in all sessions of the endpoint, counted together. */
  readonly inFlight: { count: number };
  readonly unreadMaxBytes: number;
}

/** What a client accepts as the form of an answer. */
export interface AcceptedForms {
  readonly json: boolean;
  readonly events: boolean;
}

/** One stream of events to the client, alive across reconnections. */
interface EventStream {
  readonly streamId: number;
  response: ServerResponse | undefined;
  /** The newest event when the client was last known to read; later ones it may have missed. */
  seenSequence: number;
}

/** The body of a POST. */
export interface PostedBody {
  readonly messages: readonly ClassifiedMessage[];
  /** Those of the messages that are requests. */
  readonly requests: readonly RpcRequest[];
  readonly isBatch: boolean;
}

/** A POST whose requests are being worked on. */
interface Exchange {
  /** Requests without an answer yet. */
  openCount: number;
  readonly isBatch: boolean;
  readonly accepts: AcceptedForms;
  /** Answers as JSON text, gathered until the last one (a batch has several). */
  readonly answers: string[];
  /** Losing its connection does not cancel a legacy request: the request's deadline ends it. */
  readonly response: ServerResponse;
  stream: EventStream | undefined;
}

export class HttpSession {
  readonly session: LegacySession;
  /** Milliseconds since the epoch of the last request; the owner keeps it. */
  lastUsedAt: number;
  readonly #inFlight: { count: number };
  readonly #unreadMaxBytes: number;
  readonly #log = new EventLog();
  readonly #exchanges = new InFlight<Exchange>();
  readonly #streams = new Map<number, EventStream>();
  /** The GET stream; it exists before a client opens it. */
  readonly #standalone: EventStream;

  constructor(service: McpService, options: HttpSessionOptions) {
    this.#inFlight = options.inFlight;
    this.#unreadMaxBytes = options.unreadMaxBytes;
    this.#standalone = this.#openStream();
    this.session = new LegacySession(
      service,
      (message, relatedTo) => this.#send(message, relatedTo),
      // A cancelled request gets no answer, so nothing else would end its response.
      { ...options, onCancelled: (id) => this.#settle(id, undefined) },
    );
    this.lastUsedAt = options.now;
  }

  /** Whether a client holds a stream or waits for an answer. */
  get isBusy(): boolean {
    return this.#exchanges.size > 0 || this.#standalone.response !== undefined;
  }

  /** Take the body of a POST that holds at least one request. No two of its ids are the same, none is open. */
  post(body: PostedBody, response: ServerResponse, accepts: AcceptedForms): void {
    const { messages, requests, isBatch } = body;
    const exchange: Exchange = {
      openCount: requests.length,
      isBatch,
      accepts,
      answers: [],
      response,
      stream: undefined,
    };
    for (const { id } of requests) this.#exchanges.set(id, exchange);
    this.#inFlight.count += requests.length;
    if (!accepts.json) this.#streamOf(exchange);
    for (const message of messages) this.session.router.take(message);
  }

  /** Whether a request with this id is being worked on. */
  isOpen(id: RpcId): boolean {
    return this.#exchanges.has(id);
  }

  /** Open the GET stream, or continue the stream of `lastEventId`. */
  get(response: ServerResponse, lastEventId: string | undefined): void {
    const replay = lastEventId === undefined ? undefined : this.#log.after(lastEventId);
    const isStandalone = replay === undefined || replay.streamId === this.#standalone.streamId;
    const stream = isStandalone ? this.#standalone : this.#streams.get(replay.streamId);
    const events = replay?.events ?? this.#missed();
    if (stream === undefined && events.length === 0) {
      // Everything that the stream had to say has been said. 204 tells the client not to come back (WHATWG HTML).
      response.writeHead(204).end();
      return;
    }
    openEventStream(response, this.#headers());
    for (const { id, data } of events) response.write(formatSseEvent(data, { id, event: "message" }));
    if (stream === undefined) {
      response.end();
      return;
    }
    // The newest connection takes over: the old one is gone or idle.
    stream.response?.end();
    this.#attach(stream, response);
    if (isStandalone) this.#prime(stream);
  }

  /** What belongs to the GET stream and was said while no client held it. */
  #missed(): readonly ReplayedEvent[] {
    const { streamId, seenSequence, response } = this.#standalone;
    return response === undefined ? this.#log.since(streamId, seenSequence) : [];
  }

  /** Write a comment to every open stream, so that idle connections stay open. */
  keepAlive(): void {
    for (const { response } of this.#streams.values()) {
      if (response !== undefined) writeEvent(response, ": keep-alive\n\n", this.#unreadMaxBytes);
    }
  }

  /**
   * Turn answers that take long into event streams, so that the client's
   * time limit for response headers does not end them.
   */
  openSlowExchanges(): void {
    for (const exchange of this.#exchanges.values()) {
      if (exchange.accepts.events && !exchange.response.destroyed) this.#streamOf(exchange);
    }
  }

  /** End the session and all its streams; who waits for an answer learns that the session is gone. */
  close(reason: string): void {
    this.session.close(reason);
    for (const { stream, response } of new Set(this.#exchanges.values())) {
      if (stream === undefined) sendError(response, invalidRequest(reason, rpcCodes.sessionNotFound, 404));
    }
    for (const { response } of this.#streams.values()) response?.end();
    this.#inFlight.count -= this.#exchanges.size;
    this.#exchanges.clear();
    this.#streams.clear();
  }

  #send(message: RpcMessage, relatedTo: RpcId | undefined): void {
    if (!("method" in message)) {
      if (relatedTo !== undefined) this.#settle(relatedTo, JSON.stringify(message));
      return;
    }
    const exchange = relatedTo === undefined ? undefined : this.#exchanges.get(relatedTo);
    const stream = exchange?.accepts.events ? this.#streamOf(exchange) : this.#standalone;
    this.#write(stream, message);
  }

  /** Request `id` is over: with its answer as JSON text, or with none because it was cancelled. */
  #settle(id: RpcId, answer: string | undefined): void {
    const exchange = this.#exchanges.get(id);
    if (exchange === undefined) return;
    this.#exchanges.delete(id);
    this.#inFlight.count -= 1;
    exchange.openCount -= 1;
    const { stream, response, answers } = exchange;
    if (stream !== undefined) {
      if (answer !== undefined) this.#writeAnswer(stream, answer);
      if (exchange.openCount === 0) this.#closeStream(stream);
      return;
    }
    if (answer !== undefined) answers.push(answer);
    if (exchange.openCount > 0 || response.destroyed) return;
    if (answers.length === 0) {
      // A request must be answered with a body of some kind; an empty stream holds no answer.
      if (exchange.accepts.events) openEventStream(response, this.#headers());
      response.end();
      return;
    }
    const text = exchange.isBatch ? `[${answers.join(",")}]` : (answers[0] as string);
    sendJson(response, 200, text, this.#headers());
  }

  #streamOf(exchange: Exchange): EventStream {
    if (exchange.stream !== undefined) return exchange.stream;
    const { response } = exchange;
    const stream = this.#openStream();
    exchange.stream = stream;
    if (!response.destroyed) {
      openEventStream(response, this.#headers());
      this.#attach(stream, response);
    }
    this.#prime(stream);
    for (const answer of exchange.answers) this.#writeAnswer(stream, answer);
    return stream;
  }

  /** An event with an id and no data lets the client resume before anything was said (2025-11-25). */
  #prime(stream: EventStream): void {
    if (this.session.protocolVersion !== "2025-11-25") return;
    const id = this.#log.append(stream.streamId, "");
    stream.response?.write(`id: ${id}\ndata: \n\n`);
  }

  #openStream(): EventStream {
    const stream = { streamId: this.#log.openStream(), response: undefined, seenSequence: 0 };
    this.#streams.set(stream.streamId, stream);
    return stream;
  }

  #attach(stream: EventStream, response: ServerResponse): void {
    stream.response = response;
    response.on("close", () => {
      if (stream.response !== response) return;
      stream.response = undefined;
      stream.seenSequence = this.#log.lastSequence;
    });
  }

  #closeStream(stream: EventStream): void {
    stream.response?.end();
    this.#streams.delete(stream.streamId);
  }

  /** Send what nobody asked for; as it can pile up, a client that does not read loses the connection. */
  #write(stream: EventStream, message: RpcMessage): void {
    const data = JSON.stringify(message);
    const id = this.#log.append(stream.streamId, data);
    if (stream.response !== undefined)
      writeEvent(stream.response, formatSseEvent(data, { id, event: "message" }), this.#unreadMaxBytes);
  }

  /** Send an answer. There are as many as the client's requests in flight, and their number is limited. */
  #writeAnswer(stream: EventStream, data: string): void {
    const id = this.#log.append(stream.streamId, data);
    if (stream.response?.destroyed === false)
      stream.response.write(formatSseEvent(data, { id, event: "message" }));
  }

  #headers(): { readonly [name: string]: string } {
    return this.session.isOpen ? { "mcp-session-id": this.session.id } : {};
  }
}
