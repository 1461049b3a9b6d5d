/**
 * The records after a signed head that a running process signed, and whether a crash can have left them. They are of one
 * run, and cover little time: each start signs the end of the trail as its own before it writes anything but the
 * records of a start, and a writer signs before they cover more. No I/O.
 */

import type { AuditRecord } from "./audit-event.ts";
import { UnsignedSpan, unsignedMaxMs } from "./unsigned-span.ts";

/** Records that a start writes before there is a signed head and an entry in the list of writers. */
const startTypes: ReadonlySet<string> = new Set(["audit.key", "audit.recovered", "audit.damaged"]);

/** Whether a start can have written a record before its writer had a head. */
export function isOfStart(type: string): boolean {
  return startTypes.has(type);
}

/** Returns the id of a run: a writer number has one holder at a time, and a process opens it at most once in a millisecond. */
export function toRunId(writer: string, { timeMs, pid }: { readonly timeMs: number; readonly pid: number }) {
  return `${timeMs.toString(36)}.${pid.toString(36)}.${writer}`;
}

/** Returns the run in the id of a record, `RUN-SEQUENCE`. */
function runOf(id: string): string {
  return id.slice(0, id.lastIndexOf("-"));
}

/** The records of one writer after its signed head. */
export class UnsignedTail {
  readonly #signedAt: string;
  readonly #span = new UnsignedSpan();
  /** The run that continued after the head. */
  #run: string | undefined;
  /** Whether a later start has written: starts that were killed before they signed. */
  #isStartedAgain = false;
  #otherSequence: number | undefined;

  /** @param head without `run`, as earlier versions signed it, the run is that of the first record. */
  constructor(head: { readonly time: string; readonly run?: string } | undefined) {
    this.#signedAt = head?.time ?? "";
    this.#run = head?.run;
  }

  /** Adds the next record. */
  take({ id, type, time, sequence }: Pick<AuditRecord, "id" | "type" | "time" | "sequence">): void {
    const run = runOf(id);
    this.#run ??= run;
    if (run === this.#run && !this.#isStartedAgain) this.#span.take(Date.parse(time));
    else if (isOfStart(type)) this.#isStartedAgain = true;
    else this.#otherSequence ??= Number(sequence);
  }

  /** Why no crash leaves these records; `undefined` when one can. */
  get objection(): string | undefined {
    if (this.#otherSequence !== undefined)
      return `record ${this.#otherSequence} is not of the run that continued after the end signed at ${this.#signedAt}, and each start signs what it finds before it writes`;
    if (this.#span.spanMs > unsignedMaxMs)
      return "they are of more than two minutes and a writer signs each minute";
    return undefined;
  }
}
