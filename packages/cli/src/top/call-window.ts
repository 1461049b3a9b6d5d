/**
 * The calls of the last seconds, and sums of them by server, client and tool. Fed
 * with records of the audit trail in any order. No I/O.
 *
 * Memory is bounded: the newest calls are kept up to a number, which shortens the
 * window under load, and sums are made for a number of names, with the rest as one.
 */

import type { AuditRecord } from "@toolcrib/store";

/** Calls that are kept at most. */
const callsMaxCount = 100_000;
/** Calls in flight that are kept at most; the oldest are dropped. */
const openMaxCount = 10_000;
/** Names that one table sums at most. */
const namesMaxCount = 500;
/** The name of the sum of the rest. */
const othersName = "(others)";

/** A call that has ended. */
interface EndedCall {
  readonly endedAt: number;
  /** Absent for a denied call. */
  readonly durationMs: number | undefined;
  readonly bytes: number;
  readonly server: string;
  readonly client: string;
  readonly tool: string;
  readonly isInner: boolean;
  readonly isFailed: boolean;
}

/** The groups by which calls are summed. */
export type CallGroup = "server" | "client" | "tool";

/** The sums of a name. */
export interface CallSums {
  readonly name: string;
  readonly calls: number;
  readonly callsPerSecond: number;
  /** Calls with another outcome than `ok`, denied ones included. */
  readonly errors: number;
  /** Absent where no call was executed. */
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly inFlight: number;
  readonly resultBytes: number;
  /** A quarter of the bytes: what a model pays for results, about. */
  readonly resultTokens: number;
}

/** The time that sums are about. */
export interface WindowSpan {
  readonly from: number;
  readonly to: number;
}

const bytesPerToken = 4;

/** The calls of the last `windowMs` milliseconds. */
export class CallWindow {
  readonly #windowMs: number;
  readonly #calls: (EndedCall | undefined)[] = [];
  /** Place of the next call, once the array is full. */
  #next = 0;
  readonly #open = new Map<string, Pick<EndedCall, "server" | "client" | "tool" | "isInner">>();

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Adds a record. Records that are not about calls are ignored. */
  add(record: AuditRecord): void {
    if (record.type === "call.intent") {
      this.#open.set(record.data.callId, subjectOf(record.data));
      const [oldest] = this.#open.keys();
      if (this.#open.size > openMaxCount && oldest !== undefined) this.#open.delete(oldest);
      return;
    }
    if (record.type !== "call.completed" && record.type !== "call.denied") return;
    const { data } = record;
    this.#open.delete(data.callId);
    const bytes = data.outcome === "denied" ? 0 : (data.resultBytes ?? 0);
    this.#push({
      ...subjectOf(data),
      endedAt: Date.parse(record.time),
      durationMs: data.outcome === "denied" ? undefined : data.durationMs,
      bytes,
      isFailed: data.outcome !== "ok",
    });
  }

  /** Ends a call that was in flight, without counting it. */
  end(callId: string): void {
    this.#open.delete(callId);
  }

  #push(call: EndedCall): void {
    if (this.#calls.length < callsMaxCount) this.#calls.push(call);
    else this.#calls[this.#next] = call;
    this.#next = (this.#next + 1) % callsMaxCount;
  }

  /** The time that sums at `now` are about: the window, or less where more calls were made than are kept. */
  span(now: number): WindowSpan {
    const from = now - this.#windowMs;
    const oldest = this.#calls.length < callsMaxCount ? undefined : this.#calls[this.#next];
    return { from: Math.max(from, oldest?.endedAt ?? from), to: now };
  }

  /**
   * Returns the sums by `group`. Inner calls of composites count for servers and tools, and not for clients.
   *
   * @param hasOpen whether a gateway runs; otherwise nothing is in flight.
   */
  sums(group: CallGroup, now: number, hasOpen: boolean): readonly CallSums[] {
    const { from, to } = this.span(now);
    const seconds = Math.max(1, (to - from) / 1000);
    const all = new Map<string, Sum>();
    const sumOf = (name: string): Sum => {
      const key = all.has(name) || all.size < namesMaxCount ? name : othersName;
      const sum = all.get(key) ?? { calls: 0, errors: 0, durations: [], inFlight: 0, bytes: 0 };
      all.set(key, sum);
      return sum;
    };
    const counts = ({ isInner }: { readonly isInner: boolean }) => !(isInner && group === "client");
    for (const call of this.#calls) {
      if (call === undefined || call.endedAt <= from || call.endedAt > to || !counts(call)) continue;
      const sum = sumOf(call[group]);
      sum.calls += 1;
      sum.bytes += call.bytes;
      if (call.isFailed) sum.errors += 1;
      if (call.durationMs !== undefined) sum.durations.push(call.durationMs);
    }
    if (hasOpen) for (const call of this.#open.values()) if (counts(call)) sumOf(call[group]).inFlight += 1;
    return [...all].map(([name, sum]) => toSums(name, sum, seconds));
  }
}

interface Sum {
  calls: number;
  errors: number;
  readonly durations: number[];
  inFlight: number;
  bytes: number;
}

function toSums(name: string, { calls, errors, durations, inFlight, bytes }: Sum, seconds: number): CallSums {
  const sorted = Float64Array.from(durations).sort();
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
  const [p50Ms, p99Ms] = [at(0.5), at(0.99)];
  return {
    name,
    calls,
    callsPerSecond: Math.round((calls / seconds) * 100) / 100,
    errors,
    ...(p50Ms === undefined ? {} : { p50Ms }),
    ...(p99Ms === undefined ? {} : { p99Ms }),
    inFlight,
    resultBytes: bytes,
    resultTokens: Math.round(bytes / bytesPerToken),
  };
}

type CallSubject = Pick<
  AuditRecord<"call.intent">["data"],
  "server" | "tool" | "client" | "depth" | "parentId"
>;

/** A record of a later version can lack any field. */
function subjectOf({ server, tool, client, parentId }: Partial<CallSubject>) {
  const id = String(tool ?? "unknown");
  return {
    tool: id,
    server: server ?? id.split(":")[0] ?? id,
    client: String(client?.name ?? "unknown"),
    isInner: parentId !== undefined,
  };
}
