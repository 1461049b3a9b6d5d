/**
 * A legacy session over Streamable HTTP: assigns each message to an HTTP
 * response. The answer to a request goes to its POST, as plain JSON or, if a
 * message precedes it, as an event stream. Messages that belong to no request
 * go to the GET stream, and wait in the bounded log while there is none.
 *
 * A client that does not read its streams never holds more than
 * `unreadMaxBytes` plus one message on each.
 *
 * A session of an earlier run of the gateway continues with its streams. Requests
 * that were in flight then are answered with an error where their stream is resumed.
 */

import { isJsonObject } from "@toolcrib/json";
import type { SessionStore } from "@toolcrib/store";
import { identityKey } from "@toolcrib/tool";
import { formatSseEvent } from "../framing/sse.ts";
import type { ClassifiedMessage, RpcId, RpcMessage, RpcRequest } from "../json-rpc.ts";
import { invalidRequest, McpError, toRpcError } from "../mcp-error.ts";
import { rpcCodes } from "../protocol.ts";
import { RequestTable } from "../request-table.ts";
import type { ClientCounts } from "./client-counts.ts";
import {
  EventLog,
  idOf,
  type LoggedStream,
  type ReplayedEvent,
  requestsOf,
  type StoredEvent,
  tagOf,
} from "./event-log.ts";
import { openEventStream, sendError, sendJson, shuttingDown, traceOf, writeEvent } from "./http-io.ts";
import type { HttpResponse } from "./http-messages.ts";
import { LegacySession, type LegacySessionOptions } from "./legacy-session.ts";
import type { ServerMemory } from "./server-memory.ts";
import type { McpService } from "./service.ts";
import type { UnreadBytes } from "./unread-bytes.ts";

/** Options of an `HttpSession`. */
export interface HttpSessionOptions extends LegacySessionOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Counts the requests of all sessions of the endpoint. */
  readonly inFlight: ClientCounts;
  readonly memory: ServerMemory;
  readonly unreadMaxBytes: number;
  /** The store for sessions that outlive the gateway. @default the session ends with it */
  readonly left?: SessionStore["left"];
  /** The messages that the session sent in earlier runs. @default it is new */
  readonly events?: readonly StoredEvent[];
}

/** The forms of a response that a client accepts. */
export interface AcceptedForms {
  readonly json: boolean;
  readonly events: boolean;
}

/** One event stream to the client. It survives reconnections. */
interface EventStream extends LoggedStream {
  response: HttpResponse | undefined;
  /** The last event before the client disconnected; it may have missed later ones. */
  seenSequence: number;
}

/** The body of a POST. */
export interface PostedBody {
  readonly messages: readonly ClassifiedMessage[];
  /** The requests among the messages. */
  readonly requests: readonly RpcRequest[];
  readonly isBatch: boolean;
  /** Answers to members of a batch that are no messages, as JSON texts. @default none */
  readonly refusals?: readonly string[];
  /** The memory of the body, disposed after the last answer. @default none is counted */
  readonly held?: Disposable | undefined;
}

/** A POST with requests in flight. */
interface Exchange {
  /** Number of requests without an answer. */
  openCount: number;
  readonly isBatch: boolean;
  readonly accepts: AcceptedForms;
  /** Answers as JSON text, collected until the last one (a batch has several). */
  readonly answers: string[];
  /** The memory of the body and of the collected answers, to be freed with the last answer. */
  readonly held: Disposable[];
  /** A lost connection does not cancel a legacy request; its deadline does. */
  readonly response: HttpResponse;
  stream: EventStream | undefined;
}

export class HttpSession {
  readonly session: LegacySession;
  /** Milliseconds since the epoch of the last request; the owner updates it. */
  lastUsedAt: number;
  readonly #client: string;
  readonly #inFlight: ClientCounts;
  readonly #unread: UnreadBytes;
  readonly #unreadMaxBytes: number;
  readonly #log: EventLog;
  readonly #exchanges = new RequestTable<Exchange>();
  readonly #streams = new Map<number, EventStream>();
  /** The GET stream. It exists before a client opens it. */
  readonly #standalone: EventStream;
  readonly #id: string;
  readonly #left: SessionStore["left"];
  /** The streams up to this number are those of earlier runs; 0 for a new session. */
  readonly #lastLeftStream: number;

  constructor(service: McpService, options: HttpSessionOptions) {
    this.#client = identityKey(options.identity);
    this.#inFlight = options.inFlight;
    this.#unread = options.memory.unread;
    this.#log = new EventLog(options.memory.events, this.#client);
    this.#unreadMaxBytes = options.unreadMaxBytes;
    this.#id = options.id;
    this.#left = options.left;
    this.#standalone = this.#openStream(undefined);
    this.#lastLeftStream = options.continues?.lastRequestId ?? 0;
    this.#restore(options.events ?? []);
    this.session = new LegacySession(
      service,
      (message, relatedTo) => this.#send(message, relatedTo),
      // A cancelled request gets no answer that would end its HTTP response.
      {
        ...options,
        onCancelled: (id) => this.#settle(id, undefined),
        traceOf: (id) => traceOf(this.#exchanges.get(id)?.response.req.headers ?? {}),
      },
    );
    this.lastUsedAt = options.now;
  }

  /** Whether the client has an open stream or a request without an answer. */
  get isBusy(): boolean {
    return this.#exchanges.size > 0 || this.#standalone.response !== undefined;
  }

  /** Continues with the events of earlier runs. Nobody waits for the answers to their requests any more. */
  #restore(stored: readonly StoredEvent[]): void {
    const standalone = this.#standalone;
    const events = stored.filter(({ data }) => messageIn(data)?.["id"] === undefined || isAnswer(data));
    if (this.#lastLeftStream > 0) this.#log.restore(events, this.#lastLeftStream);
    // The client has what was sent while it had the stream open.
    const sent = events.findLast((event) => event.stream === standalone.streamId && !event.isWaiting);
    standalone.seenSequence = sent?.sequence ?? 0;
  }

  /** Processes the body of a POST with at least one request. Their ids are distinct and not in use. */
  post(body: PostedBody, response: HttpResponse, accepts: AcceptedForms): void {
    const { messages, requests, isBatch } = body;
    const exchange: Exchange = {
      openCount: requests.length,
      isBatch,
      accepts,
      answers: body.refusals === undefined ? [] : [...body.refusals],
      held: body.held === undefined ? [] : [body.held],
      response,
      stream: undefined,
    };
    for (const { id } of requests) this.#exchanges.set(id, exchange);
    this.#inFlight.enter(this.#client, requests.length);
    if (!accepts.json) this.#streamOf(exchange);
    for (const message of messages) this.session.router.receiveClassified(message);
  }

  /** Whether the request with this id is pending. */
  isOpen(id: RpcId): boolean {
    return this.#exchanges.has(id);
  }

  /** Opens the GET stream, or resumes the stream of `lastEventId`. */
  get(response: HttpResponse, lastEventId: string | undefined): void {
    const replay = lastEventId === undefined ? undefined : this.#log.after(lastEventId);
    const isStandalone = replay === undefined || replay.stream.streamId === this.#standalone.streamId;
    const stream = isStandalone ? this.#standalone : this.#streams.get(replay.stream.streamId);
    const missed = replay?.events ?? this.#missed();
    const events =
      stream === undefined && replay !== undefined
        ? [...missed, ...this.#lostAnswers(replay.stream)]
        : missed;
    if (stream === undefined && events.length === 0) {
      // The stream is complete. Status 204 stops the client from reconnecting (WHATWG HTML).
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

  /** Returns errors for the requests of a stream of an earlier run that were not answered. */
  #lostAnswers(stream: LoggedStream): readonly ReplayedEvent[] {
    if (stream.streamId > this.#lastLeftStream) return [];
    const answers = this.#log.since(stream, 0).map(({ data }) => messageIn(data));
    const open = requestsOf(stream.tag).filter((id) => !answers.some((answer) => answer?.["id"] === id));
    return open.map((id) => {
      const data = JSON.stringify({ jsonrpc: "2.0", id, error: toRpcError(lostWithGateway()) });
      return { id: this.#append(stream, data), data };
    });
  }

  /** Returns the events of the GET stream since the client last disconnected from it. */
  #missed(): readonly ReplayedEvent[] {
    const { seenSequence, response } = this.#standalone;
    return response === undefined ? this.#log.since(this.#standalone, seenSequence) : [];
  }

  /** Writes a comment to every open stream, so that idle connections stay open. */
  keepAlive(): void {
    for (const { response } of this.#streams.values()) {
      if (response !== undefined) writeEvent(response, ": keep-alive\n\n", this.#unreadMaxBytes);
    }
  }

  /**
   * Turns slow responses into event streams, so that they do not exceed the
   * client's time limit for response headers.
   */
  openSlowExchanges(): void {
    for (const exchange of this.#exchanges.values()) {
      if (exchange.accepts.events && !exchange.response.destroyed) this.#streamOf(exchange);
    }
  }

  /**
   * Ends the session and all its streams. Requests without an answer get the error of an unknown session, or that of a
   * gateway that stops if the session continues after it `isSuspended`.
   */
  close(reason: string, { isSuspended = false } = {}): void {
    this.session.close(reason);
    const error = isSuspended ? shuttingDown() : invalidRequest(reason, rpcCodes.sessionNotFound, 404);
    // Under its id, because the request was begun: without it, a client takes the status to say that it was not.
    const idsByExchange = new Map(this.#exchanges.ids().map((id) => [this.#exchanges.get(id), id]));
    for (const [exchange, id] of idsByExchange) {
      if (exchange === undefined) continue;
      free(exchange.held);
      if (exchange.stream === undefined) sendError(exchange.response, error, exchange.isBatch ? null : id);
    }
    for (const { response } of this.#streams.values()) response?.end();
    this.#inFlight.leave(this.#client, this.#exchanges.size);
    this.#exchanges.clear();
    this.#streams.clear();
    this.#log.clear();
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

  /** Ends request `id` with its answer as JSON text, or without one if it was cancelled. */
  #settle(id: RpcId, given: string | undefined): void {
    const answer = given === undefined ? undefined : this.#unread.admit(this.#client, id, given);
    const exchange = this.#exchanges.get(id);
    if (exchange === undefined) return;
    this.#exchanges.delete(id);
    this.#inFlight.leave(this.#client);
    exchange.openCount -= 1;
    try {
      this.#answer(exchange, answer);
    } finally {
      if (exchange.openCount === 0) free(exchange.held);
    }
  }

  /** Sends an answer, or keeps it until the others of its batch are there. @param answer undefined for a cancelled request */
  #answer(exchange: Exchange, answer: string | undefined): void {
    const { stream, response, answers, held } = exchange;
    if (stream !== undefined) {
      if (answer !== undefined) this.#writeAnswer(stream, answer);
      if (exchange.openCount === 0) this.#closeStream(stream);
      return;
    }
    if (answer !== undefined) {
      answers.push(answer);
      if (exchange.openCount > 0) held.push(this.#unread.hold(this.#client, answer.length));
    }
    if (exchange.openCount > 0 || response.destroyed) return;
    if (answers.length === 0) {
      // The response to a request needs a body. An empty stream is one without an answer.
      if (exchange.accepts.events) openEventStream(response, this.#headers());
      response.end();
      return;
    }
    const text = exchange.isBatch ? `[${answers.join(",")}]` : (answers[0] as string);
    sendJson(response, 200, text, this.#headers());
    this.#unread.count(this.#client, response);
  }

  #streamOf(exchange: Exchange): EventStream {
    if (exchange.stream !== undefined) return exchange.stream;
    const { response } = exchange;
    const stream = this.#openStream(exchange);
    exchange.stream = stream;
    if (!response.destroyed) {
      openEventStream(response, this.#headers());
      this.#attach(stream, response);
    }
    this.#prime(stream);
    for (const answer of exchange.answers) this.#writeAnswer(stream, answer);
    return stream;
  }

  /** Sends an event with an id and no data, from which the client can resume before the first message (2025-11-25). */
  #prime(stream: EventStream): void {
    if (this.session.protocolVersion !== "2025-11-25") return;
    const id = this.#append(stream, "");
    stream.response?.write(`id: ${id}\ndata: \n\n`);
  }

  /** Adds an event to the log. @returns its id */
  #append(stream: LoggedStream & Partial<EventStream>, data: string): string {
    const sequence = this.#log.append(stream, data);
    if (data !== "") {
      const isWaiting = stream.response === undefined;
      this.#left?.append(this.#id, { stream: stream.streamId, sequence, data, isWaiting });
    }
    return idOf(stream, sequence);
  }

  /** @param exchange whose requests the stream answers; undefined for the GET stream */
  #openStream(exchange: Exchange | undefined): EventStream {
    let tag = "";
    if (this.#left !== undefined && exchange !== undefined) {
      tag = tagOf([...this.#exchanges.ids()].filter((id) => this.#exchanges.get(id) === exchange));
    }
    const stream = { ...this.#log.openStream(tag), response: undefined, seenSequence: 0 };
    this.#streams.set(stream.streamId, stream);
    return stream;
  }

  #attach(stream: EventStream, response: HttpResponse): void {
    stream.response = response;
    response.on("close", () => {
      if (stream.response !== response) return;
      stream.response = undefined;
      stream.seenSequence = this.#log.lastSequence;
    });
  }

  #closeStream(stream: EventStream): void {
    const { response, streamId } = stream;
    if (this.#left !== undefined && response?.destroyed === false) {
      response.once("finish", () => this.#left?.delivered(this.#id, streamId));
    }
    response?.end();
    this.#streams.delete(streamId);
  }

  /** Sends a request or notification. These can pile up, so a client that does not read is disconnected. */
  #write(stream: EventStream, message: RpcMessage): void {
    const data = JSON.stringify(message);
    const id = this.#append(stream, data);
    const { response } = stream;
    if (response === undefined) return;
    writeEvent(response, formatSseEvent(data, { id, event: "message" }), this.#unreadMaxBytes);
    this.#unread.count(this.#client, response);
  }

  /** Sends an answer. The limit of requests in flight also limits the number of answers. */
  #writeAnswer(stream: EventStream, data: string): void {
    const id = this.#append(stream, data);
    const { response } = stream;
    if (response === undefined || response.destroyed) return;
    response.write(formatSseEvent(data, { id, event: "message" }));
    this.#unread.count(this.#client, response);
  }

  #headers(): { readonly [name: string]: string } {
    return this.session.isOpen ? { "mcp-session-id": this.session.id } : {};
  }
}

function free(held: readonly Disposable[]): void {
  for (const one of held) one[Symbol.dispose]();
}

function messageIn(data: string): { readonly [name: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isAnswer(data: string): boolean {
  return messageIn(data)?.["method"] === undefined;
}

/** Creates the error of a request that was in flight when the gateway ended. */
function lostWithGateway(): McpError {
  const text = "The gateway was restarted before it answered, and the call may have been executed";
  return new McpError("MCP_CONNECTION_CLOSED", text, { hint: "check the effect before you repeat it" });
}
