/**
 * The messages between the event loop of a gateway and the thread that executes
 * composites. Both run the same code and trust each other.
 */

import type { JsonObject } from "@toolcrib/json";
import type { ExecutionOutcome } from "../execute-composite.ts";
import type { InnerReply } from "../inner-reply.ts";
import type { ExecutionOptions } from "../outcome.ts";
import type { CallableTool } from "../tool-directory.ts";

/** Data of the thread at its start. */
export interface ExecutionThreadData {
  /** Bytes of all simulated heaps together. */
  readonly totalBytes: number;
  /** Answers to `explain`. */
  readonly explanations: MessagePort;
  /** An `Int32` for each member of `sharedIndex`. */
  readonly shared: SharedArrayBuffer;
}

/** The places of shared numbers. */
export const sharedIndex = {
  /** Counts the answers to `explain`, so that the thread can wait for one. */
  explained: 0,
  /** 1 while clients that run no program have calls in flight. */
  isBusy: 1,
} as const;

/** Port type of `node:worker_threads`. */
type MessagePort = import("node:worker_threads").MessagePort;

/** To the thread. */
export type ToExecutionThread =
  /** Keeps a program and the tools that it can call, under a number. */
  | {
      readonly kind: "prepare";
      readonly program: number;
      readonly source: { readonly name: string; readonly text: string };
      readonly tools: readonly CallableTool[];
    }
  | { readonly kind: "forget"; readonly program: number }
  | {
      readonly kind: "execute";
      readonly execution: number;
      readonly program: number;
      /** `identityKey` of the client. */
      readonly client: string;
      readonly params: JsonObject;
      readonly options: ExecutionOptions;
      readonly startedNs: bigint;
      /** The signal had aborted before. */
      readonly cancelled: ThreadReason | undefined;
    }
  | { readonly kind: "reply"; readonly execution: number; readonly call: number; readonly reply: InnerReply }
  | { readonly kind: "cancel"; readonly execution: number; readonly reason: ThreadReason };

/** The reason with which the signal of an execution aborted. */
export interface ThreadReason {
  readonly message: string;
  readonly code: string | undefined;
}

/** From the thread. */
export type FromExecutionThread =
  /** Calls the tool with this index in `tools` of `prepare`. */
  | {
      readonly kind: "call";
      readonly execution: number;
      readonly call: number;
      readonly tool: number;
      readonly params: JsonObject;
    }
  /** Asks why a name is not among the tools; the thread waits for the answer. */
  | { readonly kind: "explain"; readonly execution: number; readonly question: number; readonly name: string }
  | { readonly kind: "outcome"; readonly execution: number; readonly outcome: ExecutionOutcome };

/** The answer to `explain`. */
export interface Explanation {
  readonly question: number;
  readonly reason: string | undefined;
}
