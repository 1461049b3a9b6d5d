/**
 * The events that sessions sent on their streams, for clients that reconnect after a restart. Events wait a moment
 * before they are written, together; those of a call that its client has received by then are not written at all.
 *
 * Bounded by number and bytes of each stream, of each session and of all sessions, with a share for each client.
 * Nothing waits for a write, and none throws: a full disk is reported, and calls go on.
 */

import { FairShare } from "@toolcrib/lifecycle";
import {
  appendLines,
  eventPathOf,
  newestOf,
  readEvents,
  replaceLines,
  type SessionEvent,
  type StoredEvents,
  toLine,
} from "./event-file.ts";
import type { Seal } from "./seal.ts";
import type { SessionStoreLimits } from "./session-options.ts";

/** Dependencies of `EventFiles`. */
export interface EventFilesDeps {
  readonly folder: string;
  /** Opens the key of the home; creates the folder. */
  readonly seal: () => Promise<Seal>;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly onProblem: (problem: Error) => void;
}

/** The events of one session of this gateway. */
interface Log {
  readonly name: string;
  /** The `identityKey` of its client. */
  readonly client: string;
  /** Events that wait to be written. */
  pending: SessionEvent[];
  /** Of the file. */
  bytes: number;
  count: number;
  /** Whether the file must be replaced before lines are appended. */
  isDamaged: boolean;
  /** Streams with events in the file, as far as they have not ended. */
  readonly written: Set<number>;
  isOver: boolean;
}

/** Bytes of a line besides those of its data, about. */
const lineBytes = 64;

/** The events of all sessions of one gateway. */
export class EventFiles {
  readonly #deps: EventFilesDeps;
  readonly #limits: Required<SessionStoreLimits>;
  readonly #logs = new Map<string, Log>();
  /** Bytes of all files, of other gateways of the home too, by client. */
  readonly shares: FairShare;
  #pendingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: EventFilesDeps, limits: Required<SessionStoreLimits>) {
    this.#deps = deps;
    this.#limits = limits;
    this.shares = new FairShare(limits.maxAllEventBytes);
  }

  /** Begins to keep the events of session `id`. @param stored what its file holds; counted already. @default nothing */
  open(id: string, name: string, client: string, stored?: StoredEvents): void {
    const { bytes = 0, events = [], isDamaged = false } = stored ?? {};
    const log = { name, client, pending: [], bytes, count: events.length, isDamaged };
    this.#logs.set(id, { ...log, written: new Set(), isOver: false });
  }

  /** Keeps no further events of session `id`. @returns bytes of its file, and the client that they count for */
  close(id: string): { readonly client: string; readonly bytes: number } | undefined {
    const log = this.#logs.get(id);
    if (log === undefined) return undefined;
    this.#logs.delete(id);
    log.isOver = true;
    this.#drop(log, () => true);
    return log;
  }

  append(id: string, event: SessionEvent): void {
    const log = this.#logs.get(id);
    const size = event.data.length;
    if (log === undefined || size > this.#limits.maxStreamBytes) return;
    if (this.#pendingBytes + size > this.#limits.maxPendingBytes) {
      this.#deps.onProblem(new Error("Events for clients that reconnect are lost: the disk is too slow"));
      return;
    }
    log.pending.push(event);
    this.#pendingBytes += size + lineBytes;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.flush();
    }, this.#limits.writeDelayMs).unref();
  }

  /** Forgets the events of a stream that the client has read to its end, if none is written. */
  delivered(id: string, stream: number): void {
    const log = this.#logs.get(id);
    if (log === undefined || log.written.delete(stream)) return;
    this.#drop(log, (event) => event.stream === stream);
  }

  /** Writes what waits. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // One file after the other: nobody waits for the end.
    this.#writing = this.#writing.then(async () => {
      for (const log of [...this.#logs.values()]) {
        if (log.pending.length === 0) continue;
        try {
          await this.#write(log);
        } catch (error) {
          this.#deps.onProblem(error as Error);
        }
      }
    });
    return this.#writing;
  }

  async #write(log: Log): Promise<void> {
    const seal = await this.#deps.seal();
    if (log.isOver) return;
    const events = log.pending;
    this.#drop(log, () => true);
    for (const { stream } of events) log.written.add(stream);
    const text = events.map((event) => toLine(seal, log.name, event)).join("");
    const size = Buffer.byteLength(text);
    const { maxEventBytes, maxEvents } = this.#limits;
    const isOver = log.bytes + size > 2 * maxEventBytes || log.count + events.length > 2 * maxEvents;
    const isFull = this.shares.refusalFor(log.client) !== undefined;
    if (isOver || isFull || log.isDamaged) {
      await this.#replace(log, events, seal, isFull);
      return;
    }
    await appendLines(eventPathOf(this.#deps.folder, log.name), text);
    this.#count(log, log.bytes + size, log.count + events.length);
  }

  /** Replaces a file by its newest events. @param isFull keeps none of the earlier ones: there is no room for more */
  async #replace(log: Log, added: readonly SessionEvent[], seal: Seal, isFull: boolean): Promise<void> {
    const { folder, randomBytes } = this.#deps;
    const { events } = isFull ? { events: [] } : await this.read(log.name, seal);
    // Half of the limit, so that not each of the next writes replaces the file again.
    const kept = newestOf([...events, ...added], this.#limits, isFull ? 1 / 8 : 1 / 2);
    const text = kept.map((event) => toLine(seal, log.name, event)).join("");
    if (isFull && Buffer.byteLength(text) > log.bytes) return;
    if (log.isOver) return;
    await replaceLines(eventPathOf(folder, log.name), text, randomBytes);
    log.isDamaged = false;
    const streams = new Set(kept.map(({ stream }) => stream));
    for (const stream of log.written) if (!streams.has(stream)) log.written.delete(stream);
    this.#count(log, Buffer.byteLength(text), kept.length);
  }

  /** Reads the events of the file `name`. @throws the file system's error */
  read(name: string, seal: Seal): Promise<StoredEvents> {
    const { folder } = this.#deps;
    // A file is replaced when it has twice as many bytes as are kept; one write can be as long as what waits.
    return readEvents(folder, name, seal, 4 * this.#limits.maxEventBytes + this.#limits.maxPendingBytes);
  }

  /** Returns the events that a client can get again. */
  kept(events: readonly SessionEvent[]): readonly SessionEvent[] {
    return newestOf(events, this.#limits);
  }

  #count(log: Log, bytes: number, count: number): void {
    const change = bytes - log.bytes;
    if (change >= 0) this.shares.take(log.client, change);
    else this.shares.giveBack(log.client, -change);
    log.bytes = bytes;
    log.count = count;
  }

  #drop(log: Log, isDropped: (event: SessionEvent) => boolean): void {
    const kept: SessionEvent[] = [];
    for (const event of log.pending) {
      if (isDropped(event)) this.#pendingBytes -= event.data.length + lineBytes;
      else kept.push(event);
    }
    log.pending = kept;
  }
}
