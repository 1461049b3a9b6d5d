/**
 * The event stream that answers one request. A stream of the legacy era that
 * breaks is resumed with `Last-Event-ID`, a limited number of times without
 * progress. The stream ends with the response to its request.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { Dispatcher } from "undici";
import type { RpcId } from "../json-rpc.ts";
import { McpError } from "../mcp-error.ts";
import { isEventStream, type ResponseBody, readErrorBody, readEvents, statusError } from "./http-request.ts";
import type { HttpRequester } from "./http-requester.ts";
import { deliverEvent, sessionVerdict } from "./received-messages.ts";
import type { TransportReceiver } from "./transport.ts";

/** Wait before a broken stream is reopened, unless the server sets another. */
export const defaultRetryMs = 1000;
/** Longest wait before a broken stream is reopened. */
export const maxRetryMs = 30_000;
/** Longest wait for the end of a stream after the response that should end it. */
const lingerMs = 1000;

/** Dependencies of the streams of one transport. */
export interface StreamContext {
  readonly requester: HttpRequester;
  readonly receiver: TransportReceiver;
  /** Largest event in characters. */
  readonly maxLength: number;
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
  async follow(first: ResponseBody): Promise<void> {
    let body: ResponseBody | undefined = first;
    for (; ; this.#fruitless += 1) {
      if (body !== undefined) await this.#read(body);
      clearTimeout(this.#linger);
      if (this.#isAnswered || this.#signal.aborted) return;
      if (!this.#canResume()) {
        this.#fail();
        return;
      }
      await sleep(this.#retryMs, undefined, { signal: this.#signal });
      const resumed = await this.#reopen();
      if (resumed === "refused") return;
      body = resumed;
    }
  }

  async #read(body: ResponseBody): Promise<void> {
    const { receiver, maxLength } = this.#context;
    try {
      await readEvents(body, maxLength, {
        event: (event) => {
          this.#fruitless = 0;
          this.#lastEventId = event.id ?? this.#lastEventId;
          this.#isAnswered = deliverEvent(receiver, event.data, this.#id, maxLength) || this.#isAnswered;
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
    this.#context.receiver.failed(this.#id, this.#oversized ?? lost);
  }

  /** Reopens the stream. Returns undefined when the server could not be reached. */
  async #reopen(): Promise<ResponseBody | "refused" | undefined> {
    try {
      const headers = { accept: "text/event-stream", "last-event-id": this.#lastEventId };
      const response = await this.#context.requester.send("GET", headers, this.#signal);
      if (response.statusCode === 200 && isEventStream(response.headers)) return response.body;
      await this.#refused(response);
      return "refused";
    } catch (cause) {
      // The server may be restarting. The next round tries again, within the limit.
      this.#cause = cause;
      return undefined;
    }
  }

  /** The server does not resume the stream: it received the request, but the response is lost. */
  async #refused(response: Dispatcher.ResponseData): Promise<void> {
    const { requester, receiver, onSessionDoubtful } = this.#context;
    const text = await readErrorBody(response.body);
    const refusal = statusError(response.statusCode, requester.shownUrl, text);
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
