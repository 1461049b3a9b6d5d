/**
 * The events sent on the SSE streams of a session, kept for a client that
 * reconnects with `Last-Event-ID` (Streamable HTTP, revisions 2025-03-26 to
 * 2025-11-25). Bounded by count and size, of each stream and of the session, and by
 * the share of the client in the events of all sessions: the oldest events are
 * removed, and an event larger than the whole log is never kept.
 *
 * The id of an event names its stream, its number and, where sessions outlive their
 * gateway, the requests that the stream answers. So a stream that a killed gateway
 * left can be ended with an error even if nothing about it was stored.
 */

import type { FairShare } from "@toolcrib/lifecycle";
import type { SessionStore } from "@toolcrib/store";
import type { RpcId } from "../json-rpc.ts";

/** An event of an earlier run of the gateway. */
export type StoredEvent = Parameters<NonNullable<SessionStore["left"]>["append"]>[1];

/** A stream, as the ids of its events name it. */
export interface LoggedStream {
  readonly streamId: number;
  /** The ids of the requests that it answers, encoded; empty for none. */
  readonly tag: string;
}

/** One sent event. */
interface LoggedEvent extends LoggedStream {
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
  /** Events of one stream. @default 128 */
  readonly maxStreamEvents?: number;
}

/** Longest tag, in characters; the ids of a stream with longer ones do not name its requests. */
const tagMaxLength = 512;
const idPattern = new RegExp(`^(\\d{1,15})-(\\d{1,15})(?:-([\\w-]{1,${tagMaxLength}}))?$`);

/** Returns the tag of a stream that answers `requests`. */
export function tagOf(requests: readonly RpcId[]): string {
  const text = JSON.stringify(requests);
  // Four characters for three bytes.
  if (text.length > (tagMaxLength * 3) / 4) return "";
  const tag = Buffer.from(text).toString("base64url");
  return tag.length > tagMaxLength ? "" : tag;
}

/** Returns the requests of a tag. A client sent it: it can name any ids. */
export function requestsOf(tag: string): readonly RpcId[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(tag, "base64url").toString("utf8"));
    return Array.isArray(value) ? value.filter((id) => typeof id === "string" || typeof id === "number") : [];
  } catch {
    return [];
  }
}

/** The events of one session. */
export class EventLog {
  readonly #maxEvents: number;
  readonly #maxLength: number;
  readonly #maxStreamEvents: number;
  readonly #events: LoggedEvent[] = [];
  readonly #counts = new Map<number, number>();
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
    this.#maxStreamEvents = options.maxStreamEvents ?? 128;
  }

  /** Number of the newest event of any stream; 0 before the first. */
  get lastSequence(): number {
    return this.#lastSequence;
  }

  /** Returns a new stream. @param tag the requests that it answers. @default none */
  openStream(tag = ""): LoggedStream {
    this.#lastStreamId += 1;
    return { streamId: this.#lastStreamId, tag };
  }

  /**
   * Continues the log of an earlier run.
   *
   * @param base a number above those of all events and streams of earlier runs, also of those that were not stored.
   */
  restore(events: readonly StoredEvent[], base: number): void {
    for (const { stream, sequence, data } of events) this.#add({ streamId: stream, tag: "", sequence, data });
    this.#lastSequence = Math.max(base, this.#lastSequence);
    this.#lastStreamId = Math.max(base, this.#lastStreamId);
  }

  /** Adds an event and returns its number. An empty `data` is a priming event. */
  append({ streamId, tag }: LoggedStream, data: string): number {
    this.#add({ streamId, tag, sequence: this.#lastSequence + 1, data });
    return this.#lastSequence;
  }

  #add(event: LoggedEvent): void {
    this.#lastSequence = Math.max(this.#lastSequence, event.sequence);
    this.#events.push(event);
    this.#length += event.data.length;
    this.#shares.take(this.#client, event.data.length);
    const count = (this.#counts.get(event.streamId) ?? 0) + 1;
    this.#counts.set(event.streamId, count);
    if (count > this.#maxStreamEvents) {
      this.#drop(this.#events.findIndex(({ streamId }) => streamId === event.streamId));
    }
    while (this.#isOverLimit()) this.#drop(0);
  }

  #drop(at: number): void {
    const [dropped] = this.#events.splice(at, 1);
    if (dropped === undefined) return;
    const { streamId, data } = dropped;
    const left = (this.#counts.get(streamId) ?? 0) - 1;
    if (left > 0) this.#counts.set(streamId, left);
    else this.#counts.delete(streamId);
    this.#length -= data.length;
    this.#shares.giveBack(this.#client, data.length);
  }

  /** Removes all events. */
  clear(): void {
    this.#shares.giveBack(this.#client, this.#length);
    this.#length = 0;
    this.#events.length = 0;
    this.#counts.clear();
  }

  #isOverLimit(): boolean {
    if (this.#events.length === 0) return false;
    return (
      this.#events.length > this.#maxEvents ||
      this.#length > this.#maxLength ||
      (this.#length > 0 && this.#shares.refusalFor(this.#client) !== undefined)
    );
  }

  /** Returns the events of a stream after number `sequence`, without priming events. */
  since({ streamId, tag }: LoggedStream, sequence: number): readonly ReplayedEvent[] {
    return this.#events
      .filter((event) => event.streamId === streamId && event.sequence > sequence && event.data !== "")
      .map((event) => ({ id: idOf({ streamId, tag }, event.sequence), data: event.data }));
  }

  /** Returns the stream of `lastEventId` and its later events; undefined for an id that this log did not assign. */
  after(lastEventId: string): { stream: LoggedStream; events: readonly ReplayedEvent[] } | undefined {
    const match = idPattern.exec(lastEventId);
    if (match === null) return undefined;
    const streamId = Number(match[1]);
    const sequence = Number(match[2]);
    if (streamId > this.#lastStreamId || sequence > this.#lastSequence) return undefined;
    const stream = { streamId, tag: match[3] ?? "" };
    return { stream, events: this.since(stream, sequence) };
  }
}

/** Returns the id of event `sequence` of a stream. */
export function idOf({ streamId, tag }: LoggedStream, sequence: number): string {
  return tag === "" ? `${streamId}-${sequence}` : `${streamId}-${sequence}-${tag}`;
}
