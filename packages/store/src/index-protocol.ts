/** Messages between the event loop's side of the index (index-host.ts) and its thread (index-worker.ts). */

import type { AuditRecord } from "./audit-event.ts";
import type { AuditCall, AuditListQuery, AuditProblem } from "./audit-query.ts";
import type { UnfinishedQuery } from "./close-killed-runs.ts";
import type { StoreCode } from "./codes.ts";
import type { HomeLayout } from "./home-layout.ts";

/** The queries: parameter and result of each. */
export interface IndexQuestions {
  readonly list: { readonly asked: AuditListQuery; readonly answer: readonly AuditRecord[] };
  readonly show: { readonly asked: string; readonly answer: AuditCall | undefined };
  readonly problems: { readonly asked: undefined; readonly answer: readonly AuditProblem[] };
  /** The first intents without a completion, at most `unfinishedMax`. */
  readonly unfinished: {
    readonly asked: UnfinishedQuery;
    readonly answer: readonly AuditRecord<"call.intent">[];
  };
}

export type IndexQuestion = keyof IndexQuestions;

/** To the thread. `follow`: index new records. `close`: finish the slice, close the database and end. */
export type ToIndexThread =
  | { readonly kind: "follow" | "close" }
  | { readonly kind: "ask"; readonly id: number; readonly question: IndexQuestion; readonly asked: unknown };

/** A StoreError in a form that can be posted; the cause is a text. */
export interface ThreadError {
  readonly code: StoreCode;
  readonly message: string;
  readonly hint: string | undefined;
  readonly cause: string | undefined;
}

/** From the thread. `idle`: indexing ended, because nothing is left or because it failed. */
export type FromIndexThread =
  | { readonly kind: "idle" }
  | { readonly kind: "answer"; readonly id: number; readonly answer: unknown }
  | { readonly kind: "refused"; readonly id: number; readonly error: ThreadError }
  | { readonly kind: "problem"; readonly error: ThreadError };

/** Start parameters of the thread. */
export interface IndexThreadData {
  readonly layout: HomeLayout;
}
