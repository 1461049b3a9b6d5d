/** The inputs and results of the writer of the audit trail. Types only. */

import type { AuditEvents, AuditEventType } from "./audit-event.ts";
import type { StoreError } from "./store-error.ts";

/** Counters since the store was opened, and the position of the writer. */
export interface AuditStats {
  /** Number of this writer among those of the home, three digits. */
  readonly writer: string;
  /** File name of the segment that is written to. */
  readonly segment: string;
  /** Sequence number of the last written record; 0 before the first. */
  readonly sequence: number;
  /** Records written, intents included. */
  readonly records: number;
  readonly intents: number;
  /** Intents that were refused because they could not be written. */
  readonly refusedIntents: number;
  /** Other records that were discarded. */
  readonly droppedRecords: number;
  /** Records that are not written yet. */
  readonly pendingRecords: number;
  readonly writes: number;
  readonly failedWrites: number;
  readonly bytes: number;
  /** Whether the last write failed. */
  readonly failing: boolean;
}

/** The caller of a record. */
export interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A line to write. An empty body writes nothing and waits for everything before it. */
export interface Entry {
  readonly body: string;
  readonly time: string;
  /** The same in milliseconds since the epoch. */
  readonly timeMs: number;
  readonly waiter: Waiter | undefined;
  readonly isIntent: boolean;
}

/** Events of the writer. */
export interface WriterEvents {
  /** Records were written. */
  readonly written: (count: number) => void;
  /** The lines of these records, each with its line feed. @default no call */
  readonly lines?: ((text: string) => void) | undefined;
  /** A segment was finished. */
  readonly rotated: () => void;
  readonly problem: (problem: StoreError) => void;
}

/** A record of the store itself. */
export type StoreRecord = {
  readonly [Type in AuditEventType]: { readonly type: Type; readonly data: AuditEvents[Type] };
}[AuditEventType & `audit.${string}`];

/** Behaviour of a writer whose trail is signed. */
export interface Signing {
  /** The first records, before all others. */
  readonly opening: readonly StoreRecord[];
  /** Signs the last written record. Rejects when that fails. */
  readonly sign: () => Promise<void>;
}

/** The last written record of a writer. */
export interface TrailEnd {
  /** 0 before the first. */
  readonly sequence: number;
  /** Hash of its line. */
  readonly hash: string;
  /** Milliseconds of unsigned records up to it. */
  readonly spanMs: number;
}
