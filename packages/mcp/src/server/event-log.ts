/**
 * The events sent on the SSE streams of a session, kept for a client that
 * reconnects with `Last-Event-ID` (Streamable HTTP, revisions 2025-03-26 to
 * 2025-11-25). Bounded by count and size, and by the share of the client in the
 * events of all sessions: the oldest events are removed, and an event larger than
 * the whole log is never kept.
 */

import type { FairShare } from "@toolcrib/lifecycle";

/** One sent event. */
interface LoggedEvent {
  readonly streamId: number;
  readonly sequence: number;
  readonly data: string;
}

/** An event to send again. */
export interface ReplayedEvent {
  readonly id: string;
  readonly data: string;
}

/** Limits of an `EventLog`. */
export interface EventLogOptions {
  /** @default 256 */
  readonly maxEvents?: number;
  /** In UTF-16 units. @default 1,048,576 */
  readonly maxLength?: number;
}

/** The events of one session. */
export class EventLog {
  readonly #maxEvents: number;
  readonly #maxLength: number;
  readonly #events: LoggedEvent[] = [];
  readonly #shares: FairShare;
  readonly #client: string;
  #length = 0;
  #lastSequence = 0;
  #lastStreamId = 0;

  /**
   * @param shares counts the UTF-16 units of all logs.
   * @param client the `identityKey` of the client.
   */
  constructor(shares: FairShare, client: string, options: EventLogOptions = {}) {
    this.#shares = shares;
    this.#client = client;
    this.#maxEvents = options.maxEvents ?? 256;
    this.#maxLength = options.maxLength ?? 1024 * 1024;
  }

  /** Number of the newest event of any stream; 0 before the first. */
  get lastSequence(): number {
    return this.#lastSequence;
  }

  /** Returns the number of a new stream. */
  openStream(): number {
    this.#lastStreamId += 1;
    return this.#lastStreamId;
  }

  /** Adds an event and returns the id to send with it. An empty `data` is a priming event. */
  append(streamId: number, data: string): string {
    this.#lastSequence += 1;
    this.#events.push({ streamId, sequence: this.#lastSequence, data });
    this.#length += data.length;
    this.#shares.take(this.#client, data.length);
    while (this.#isOverLimit()) {
      const dropped = this.#events.shift();
      if (dropped === undefined) break;
      this.#length -= dropped.data.length;
      this.#shares.giveBack(this.#client, dropped.data.length);
    }
    return idOf(streamId, this.#lastSequence);
  }

  /** Removes all events. */
  clear(): void {
    this.#shares.giveBack(this.#client, this.#length);
    this.#length = 0;
    this.#events.length = 0;
  }

  #isOverLimit(): boolean {
    return (
      this.#events.length > this.#maxEvents ||
      this.#length > this.#maxLength ||
      (this.#length > 0 && this.#shares.refusalFor(this.#client) !== undefined)
    );
  }

  /** Returns the events of stream `streamId` after number `sequence`, without priming events. */
  since(streamId: number, sequence: number): readonly ReplayedEvent[] {
    return this.#events
      .filter((event) => event.streamId === streamId && event.sequence > sequence && event.data !== "")
      .map((event) => ({ id: idOf(streamId, event.sequence), data: event.data }));
  }

  /** Returns the stream of `lastEventId` and its later events; undefined for an id that this log did not assign. */
  after(lastEventId: string): { streamId: number; events: readonly ReplayedEvent[] } | undefined {
    const match = /^(\d{1,9})-(\d{1,15})$/.exec(lastEventId);
    if (match === null) return undefined;
    const streamId = Number(match[1]);
    const sequence = Number(match[2]);
    if (streamId > this.#lastStreamId || sequence > this.#lastSequence) return undefined;
    return { streamId, events: this.since(streamId, sequence) };
  }
}

function idOf(streamId: number, sequence: number): string {
  return `${streamId}-${sequence}`;
}
