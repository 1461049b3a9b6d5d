/**
 * The event stream that answers one request. A stream of the legacy era that
 * breaks is resumed with `Last-Event-ID`, a limited number of times without
 * progress. The stream ends with the response to its request.
 */

import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { RpcId } from "../json-rpc.ts";
import { McpError } from "../mcp-error.ts";
import {
  type EventLimits,
  isEventStream,
  readErrorBody,
  readEvents,
  retryAfterOf,
  statusError,
} from "./http-request.ts";
import type { HttpRequester, HttpResponse } from "./http-requester.ts";
import { deliverEvent, sessionVerdict } from "./received-messages.ts";
import type { TransportReceiver } from "./transport.ts";

/** Wait before a broken stream is reopened, unless the server sets another. */
export const defaultRetryMs = 1000;
/** Longest wait before a broken stream is reopened, in milliseconds. @limit server */
export const maxRetryMs = 30_000;
/** Shortest wait before a broken stream is reopened, whatever the server sets, in milliseconds. @limit server */
export const minRetryMs = 100;
/** Longest wait for the end of a stream after the response that should end it. */
const lingerMs = 1000;

/** Dependencies of the streams of one transport. */
export interface StreamContext extends EventLimits {
  readonly requester: HttpRequester;
  readonly receiver: TransportReceiver;
  /** Called when a GET was refused in a way that can mean that the server no longer knows the session. */
  readonly onSessionDoubtful: () => void;
}

export class ResponseStream {
  readonly #context: StreamContext;
  readonly #id: RpcId;
  readonly #signal: AbortSignal;
  readonly #maxResumptions: number;
  #lastEventId = "";
  #retryMs = defaultRetryMs;
  #isAnswered = false;
  /** Attempts since the last event. */
  #fruitless = 0;
  /** Shortest wait before the next attempt: grows to `defaultRetryMs` while no message arrives. */
  #minPauseMs = minRetryMs;
  /** The wait that the server asked for with the last status. */
  #retryAfterMs = 0;
  #linger: NodeJS.Timeout | undefined;
  /** The error that broke the stream last. */
  #cause: unknown;

  constructor(
    context: StreamContext,
    request: { readonly id: RpcId; readonly signal: AbortSignal; readonly maxResumptions: number },
  ) {
    this.#context = context;
    this.#id = request.id;
    this.#signal = request.signal;
    this.#maxResumptions = request.maxResumptions;
  }

  /** Delivers the events of the stream until it ends for good. @throws the signal's reason. */
  async follow(first: Readable): Promise<void> {
    let body: Readable | undefined = first;
    for (; ; this.#fruitless += 1) {
      if (body !== undefined) await this.#read(body);
      clearTimeout(this.#linger);
      if (this.#isAnswered || this.#signal.aborted) return;
      if (!this.#canResume()) {
        this.#fail();
        return;
      }
      const pauseMs = Math.max(this.#retryMs, this.#minPauseMs, this.#retryAfterMs);
      this.#minPauseMs = Math.min(this.#minPauseMs * 2, defaultRetryMs);
      this.#retryAfterMs = 0;
      await sleep(pauseMs, undefined, { signal: this.#signal });
      const resumed = await this.#reopen();
      if (resumed === "refused") return;
      body = resumed;
    }
  }

  async #read(body: Readable): Promise<void> {
    const { receiver } = this.#context;
    try {
      await readEvents(body, this.#context, {
        event: (event) => {
          this.#fruitless = 0;
          // An empty event only sets the id.
          if (event.data !== "") this.#minPauseMs = minRetryMs;
          this.#lastEventId = event.id ?? this.#lastEventId;
          this.#isAnswered = deliverEvent(receiver, event, this.#id, this.#context) || this.#isAnswered;
          // A stream that stays open after the response would hold its connection for nothing.
          if (this.#isAnswered) this.#linger ??= setTimeout(() => body.destroy(), lingerMs);
        },
        id: (value) => {
          this.#lastEventId = value;
        },
        retry: (milliseconds) => {
          this.#retryMs = Math.min(milliseconds, maxRetryMs);
        },
      });
    } catch (cause) {
      this.#cause = cause;
    }
  }

  get #oversized(): McpError | undefined {
    const cause = this.#cause;
    return cause instanceof McpError && cause.code === "MCP_MESSAGE_TOO_LARGE" ? cause : undefined;
  }

  #canResume(): boolean {
    return (
      this.#oversized === undefined &&
      this.#lastEventId !== "" &&
      this.#context.requester.isLegacy &&
      this.#fruitless < this.#maxResumptions
    );
  }

  #fail(): void {
    const lost = this.#lost("ended before the answer came", this.#cause);
    const oversized = this.#oversized;
    if (oversized !== undefined) this.#context.receiver.invalid(oversized.message, oversized);
    this.#context.receiver.failed(this.#id, oversized ?? lost);
  }

  /** Reopens the stream. Returns undefined when the server could not be reached. */
  async #reopen(): Promise<Readable | "refused" | undefined> {
    const { requester } = this.#context;
    try {
      const response = await requester.openStream({ "last-event-id": this.#lastEventId }, this.#signal);
      if (response.statusCode === 200 && isEventStream(response.headers)) return response.body;
      if (isTemporary(response.statusCode)) {
        this.#retryAfterMs = Math.min(retryAfterOf(response.headers) ?? 0, maxRetryMs);
        this.#cause = statusError(response, requester, await readErrorBody(response.body));
        return undefined;
      }
      await this.#refused(response);
      return "refused";
    } catch (cause) {
      // The server may be restarting. The next round tries again, within the limit.
      this.#cause = cause;
      return undefined;
    }
  }

  /** The server does not resume the stream: it received the request, but the response is lost. */
  async #refused(response: HttpResponse): Promise<void> {
    const { requester, receiver, onSessionDoubtful } = this.#context;
    const text = await readErrorBody(response.body);
    const refusal = statusError(response, requester, text);
    receiver.failed(this.#id, this.#lost("broke and cannot be resumed", refusal));
    // A server that has no GET streams can answer 404 too.
    if (sessionVerdict(response.statusCode, text, undefined) !== "unaffected") onSessionDoubtful();
  }

  #lost(what: string, cause: unknown): McpError {
    const { shownUrl } = this.#context.requester;
    return new McpError("MCP_CONNECTION_CLOSED", `The response of the server at ${shownUrl} ${what}`, {
      cause,
    });
  }
}

/** Whether a status says that a later attempt can succeed: 429, or an error of the server or of a proxy. */
export function isTemporary(status: number): boolean {
  return status === 429 || status >= 500;
}
