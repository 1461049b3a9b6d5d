/**
 * Limits how many refusals and alarms are recorded, so that a program cannot flush evidence
 * out of the audit trail by connections that are refused. The first one of each source, host
 * and cause is recorded at once. Repetitions are counted, and their count is recorded about once
 * a minute. Requests of calls are not limited here: the budget of the client bounds its calls.
 */

import type { StartTimer } from "@toolcrib/lifecycle";
import type { EgressEvent } from "./egress-types.ts";

/** A refusal or an alarm. */
export type RefusalEvent = Extract<EgressEvent, { readonly kind: "egress.denied" | "egress.alarm" }>;

/** Hosts and causes of one source that are recorded each by itself. */
const maxPerSource = 256;
/** Those of all sources. */
const maxEntries = 4096;
/** Milliseconds after which the same host and cause is a first one again. */
const entryLifeMs = 24 * 60 * 60 * 1000;
const summaryMs = 60_000;
/** Summaries of one minute; those beyond it follow in the next minutes. */
const maxSummaries = 64;
/** Stands for the sources, hosts and places that are not recorded each by itself. */
const anyOther = "*";

/** Dependencies of a limit. */
export interface RefusalLimitDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly startTimer: StartTimer;
  /** Records an event. @param count the repetitions that it stands for; undefined for a first one. Must not throw. */
  readonly record: (event: RefusalEvent, count: number | undefined) => void;
}

interface Entry {
  readonly event: RefusalEvent;
  readonly at: number;
  count: number;
}

/** The limit of one egress. Disposal records the repetitions that were counted and not recorded. */
export class RefusalLimit implements Disposable {
  readonly #deps: RefusalLimitDeps;
  /** By kind and source, then by host and cause. */
  readonly #known = new Map<string, Map<string, Entry>>();
  /** What has no entry of its own, by kind, source and code. */
  readonly #others = new Map<string, Entry>();
  /** Entries with a count, in the order in which they are recorded. */
  readonly #pending = new Set<Entry>();
  #size = 0;
  #sweptAt = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;
  #isDisposed = false;

  constructor(deps: RefusalLimitDeps) {
    this.#deps = deps;
  }

  /** Records or counts `event`. */
  add(event: RefusalEvent): void {
    const entry = event.callId === undefined ? this.#entryOf(event) : undefined;
    if (entry === undefined || this.#isDisposed) {
      this.#deps.record(event, undefined);
      return;
    }
    entry.count += 1;
    this.#pending.add(entry);
    this.#cancelTimer ??= this.#deps.startTimer(summaryMs, () => this.#recordSummaries());
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#cancelTimer?.();
    for (const entry of this.#pending) this.#recordCount(entry);
  }

  /** Returns the entry that counts `event`; undefined for one that is recorded at once. */
  #entryOf(event: RefusalEvent): Entry | undefined {
    const source = `${event.kind} ${event.source}`;
    const cause = JSON.stringify([event.host, ...causeOf(event)]);
    const known = this.#known.get(source)?.get(cause);
    if (known !== undefined && !this.#isOver(known)) return known;
    if (known === undefined) {
      const isFull = () => this.#size >= maxEntries || (this.#known.get(source)?.size ?? 0) >= maxPerSource;
      if (isFull()) this.#sweep();
      if (isFull()) return this.#otherOf(event);
      this.#size += 1;
    }
    const entries = this.#known.get(source) ?? new Map<string, Entry>();
    entries.set(cause, { event, at: this.#deps.now(), count: 0 });
    this.#known.set(source, entries);
    return undefined;
  }

  /** Returns the entry of the hosts that have none. Sources share one when there are too many entries of all. */
  #otherOf(event: RefusalEvent): Entry {
    const source = this.#size >= maxEntries ? anyOther : event.source;
    const key = JSON.stringify([event.kind, source, "code" in event ? event.code : ""]);
    const known = this.#others.get(key);
    if (known !== undefined) return known;
    const entry: Entry = {
      event:
        event.kind === "egress.denied"
          ? { ...event, source, host: anyOther, reason: "Refused requests to further hosts" }
          : { ...event, source, host: anyOther, where: anyOther, credential: undefined, owner: undefined },
      at: this.#deps.now(),
      count: 0,
    };
    this.#others.set(key, entry);
    return entry;
  }

  /** After a jump of the clock to the past, an entry lasts no longer than it was meant to. */
  #isOver({ at, count }: Entry): boolean {
    return count === 0 && Math.abs(this.#deps.now() - at) >= entryLifeMs;
  }

  /** Forgets entries that are too old, at most once a minute. */
  #sweep(): void {
    const now = this.#deps.now();
    if (Math.abs(now - this.#sweptAt) < summaryMs) return;
    this.#sweptAt = now;
    for (const [source, entries] of this.#known) {
      for (const [cause, entry] of entries) {
        if (!this.#isOver(entry)) continue;
        entries.delete(cause);
        this.#size -= 1;
      }
      if (entries.size === 0) this.#known.delete(source);
    }
    for (const [key, entry] of this.#others) if (this.#isOver(entry)) this.#others.delete(key);
  }

  #recordSummaries(): void {
    this.#cancelTimer = undefined;
    for (const entry of [...this.#pending.values().take(maxSummaries)]) this.#recordCount(entry);
    if (this.#pending.size === 0) return;
    this.#cancelTimer = this.#deps.startTimer(summaryMs, () => this.#recordSummaries());
  }

  #recordCount(entry: Entry): void {
    const { count } = entry;
    entry.count = 0;
    this.#pending.delete(entry);
    this.#deps.record(entry.event, count);
  }
}

function causeOf(event: RefusalEvent): readonly (string | undefined)[] {
  return event.kind === "egress.denied" ? [event.code] : [event.where, event.credential, event.owner];
}
