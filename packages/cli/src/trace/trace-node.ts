/** The tree of a trace: a call, what happened in it, and its inner calls, with their places on one time line. Types only. */

import type { AuditCall, AuditRecord } from "@toolcrib/store";

/** A call or an event of the tree. */
export interface TraceNode {
  readonly kind: "call" | "hook" | "event" | "approval";
  /** Name for people: the tool, the hook, the type of the event. Foreign text. */
  readonly name: string;
  /** Id of the call; of the call around it for anything else. */
  readonly callId: string;
  /** Milliseconds since the epoch. */
  readonly start: number;
  /** Absent for events, and for calls that are not completed. */
  readonly durationMs?: number;
  /** Outcome of a call, decision of a hook or an approval. */
  readonly outcome?: string;
  /** Whether it is a call without a completion. */
  readonly isOpen?: boolean;
  /** Further facts, for people. Foreign text. */
  readonly details: readonly string[];
  /** The same about a call, for programs. */
  readonly facts?: { readonly [name: string]: unknown };
  readonly children: readonly TraceNode[];
  /** Whether inner calls are left out. */
  readonly isTruncated?: boolean;
}

/** The records about one call besides its intent and its completion, by the id of the call. */
export type CallEvents = ReadonlyMap<string, readonly AuditRecord[]>;

/** The records of a call and its inner calls. */
export interface CallHistory {
  readonly call: AuditCall;
  readonly events: CallEvents;
  /** Decisions about the approvals that calls of the tree used or wait for, by the id of the approval. */
  readonly decisions: ReadonlyMap<string, AuditRecord<"approval.call.granted" | "approval.call.denied">>;
}
