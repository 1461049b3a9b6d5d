/**
 * The GET stream of the legacy era, on which a server sends messages that
 * belong to no request. It is reopened while the session lives, after pauses
 * that grow while the stream delivers nothing.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { isEventStream, networkError, readErrorBody, readEvents } from "./http-request.ts";
import { deliverEvent, sessionVerdict } from "./received-messages.ts";
import { defaultRetryMs, maxRetryMs, type StreamContext } from "./response-stream.ts";

/** Shortest pause before the stream is reopened, which happens as long as the session lives. */
const minPauseMs = 100;

export class ListenStream {
  readonly #context: StreamContext;
  readonly #signal: AbortSignal;
  #lastEventId = "";
  #retryMs = defaultRetryMs;
  #pauseMs = defaultRetryMs;
  /** Whether the server has offered the stream in this session. */
  #wasOpen = false;

  constructor(context: StreamContext, signal: AbortSignal) {
    this.#context = context;
    this.#signal = signal;
  }

  /** Delivers messages until the signal aborts or the server refuses the stream. Never rejects. */
  async run(): Promise<void> {
    const { requester, receiver } = this.#context;
    for (; !this.#signal.aborted; this.#pauseMs = Math.min(this.#pauseMs * 2, maxRetryMs)) {
      try {
        if ((await this.#readOnce()) === "refused") return;
      } catch (cause) {
        if (!this.#signal.aborted)
          receiver.invalid(`the GET stream broke: ${networkError(requester.shownUrl, cause).message}`);
      }
      await sleep(this.#pauseMs, undefined, { signal: this.#signal }).catch(() => {});
    }
  }

  async #readOnce(): Promise<"refused" | "ended"> {
    const { requester, receiver, maxLength, onSessionDoubtful } = this.#context;
    const resume = this.#lastEventId === "" ? undefined : { "last-event-id": this.#lastEventId };
    const headers = { accept: "text/event-stream", ...resume };
    const response = await requester.send("GET", headers, this.#signal);
    if (response.statusCode !== 200 || !isEventStream(response.headers)) {
      // The server offers no such stream: 405, or 404 of a server whose route accepts POST only.
      const text = await readErrorBody(response.body);
      const verdict = sessionVerdict(response.statusCode, text, undefined);
      if (this.#wasOpen && verdict !== "unaffected") onSessionDoubtful();
      return "refused";
    }
    this.#wasOpen = true;
    await readEvents(response.body, maxLength, {
      event: (event) => {
        // A stream that delivers events is reopened without growing pauses.
        this.#pauseMs = this.#retryMs;
        this.#lastEventId = event.id ?? this.#lastEventId;
        deliverEvent(receiver, event.data, undefined, maxLength);
      },
      id: (value) => {
        this.#lastEventId = value;
      },
      retry: (milliseconds) => {
        this.#retryMs = Math.max(minPauseMs, Math.min(milliseconds, maxRetryMs));
        this.#pauseMs = this.#retryMs;
      },
    });
    return "ended";
  }
}
