/**
 * The GET stream of the legacy era, on which a server sends messages that
 * belong to no request. It is reopened while the session lives, after pauses
 * that grow while the stream delivers nothing.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { isEventStream, networkError, readErrorBody, readEvents, retryAfterOf } from "./http-request.ts";
import { deliverEvent, sessionVerdict } from "./received-messages.ts";
import {
  defaultRetryMs,
  isTemporary,
  maxRetryMs,
  minRetryMs,
  type StreamContext,
} from "./response-stream.ts";

export class ListenStream {
  readonly #context: StreamContext;
  readonly #signal: AbortSignal;
  readonly #onAttempted: () => void;
  readonly #onOpen: (isResumed: boolean) => void;
  #lastEventId = "";
  #retryMs = defaultRetryMs;
  #pauseMs = defaultRetryMs;
  /** The wait that the server asked for with the last status. */
  #retryAfterMs = 0;
  /** Whether the server has offered the stream in this session. */
  #wasOpen = false;
  #isOpen = false;

  /**
   * @param onAttempted called when the stream is open for the first time, or was refused or broke
   * @param onOpen called each time that it is open, before its first event; `isResumed` where the server was asked for
   * what it sent since the last event
   */
  constructor(
    context: StreamContext,
    signal: AbortSignal,
    onAttempted: () => void,
    onOpen: (isResumed: boolean) => void,
  ) {
    this.#context = context;
    this.#signal = signal;
    this.#onAttempted = onAttempted;
    this.#onOpen = onOpen;
  }

  /** Whether the server can send messages on the stream now. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Delivers messages until the signal aborts or the server refuses the stream. Never rejects. */
  async run(): Promise<void> {
    const { requester, receiver } = this.#context;
    for (; !this.#signal.aborted; this.#pauseMs = Math.min(this.#pauseMs * 2, maxRetryMs)) {
      try {
        const end = await this.#readOnce();
        this.#onAttempted();
        if (end === "refused") return;
      } catch (cause) {
        this.#onAttempted();
        if (!this.#signal.aborted)
          receiver.invalid(`the GET stream broke: ${networkError(requester.shownUrl, cause).message}`);
      }
      const pauseMs = Math.max(this.#pauseMs, this.#retryAfterMs);
      this.#retryAfterMs = 0;
      this.#isOpen = false;
      await sleep(pauseMs, undefined, { signal: this.#signal }).catch(() => {});
    }
  }

  async #readOnce(): Promise<"refused" | "ended"> {
    const { requester, receiver, onSessionDoubtful } = this.#context;
    const resume = this.#lastEventId === "" ? undefined : { "last-event-id": this.#lastEventId };
    const response = await requester.openStream(resume ?? {}, this.#signal);
    if (response.statusCode !== 200 || !isEventStream(response.headers)) {
      // The server offers no such stream: 405, or 404 of a server whose route accepts POST only.
      const text = await readErrorBody(response.body);
      const verdict = sessionVerdict(response.statusCode, text, undefined);
      if (this.#wasOpen && verdict !== "unaffected") onSessionDoubtful();
      const retryAfterMs = retryAfterOf(response.headers);
      const mayOpenLater = isTemporary(response.statusCode) && (this.#wasOpen || retryAfterMs !== undefined);
      this.#retryAfterMs = retryAfterMs ?? 0;
      return mayOpenLater ? "ended" : "refused";
    }
    this.#wasOpen = true;
    this.#isOpen = true;
    this.#onOpen(resume !== undefined);
    this.#onAttempted();
    await readEvents(response.body, this.#context, {
      event: (event) => {
        // A stream that delivers messages is reopened without growing pauses.
        if (event.data !== "") this.#pauseMs = this.#retryMs;
        this.#lastEventId = event.id ?? this.#lastEventId;
        deliverEvent(receiver, event, undefined, this.#context);
      },
      id: (value) => {
        this.#lastEventId = value;
      },
      retry: (milliseconds) => {
        this.#retryMs = Math.max(minRetryMs, Math.min(milliseconds, maxRetryMs));
        this.#pauseMs = Math.max(this.#pauseMs, this.#retryMs);
      },
    });
    return "ended";
  }
}
