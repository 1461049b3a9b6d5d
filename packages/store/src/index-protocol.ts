/** What the event loop's side of the index (index-host.ts) and its thread (index-worker.ts) say to each other. */

import type { AuditRecord } from "./audit-event.ts";
import type { AuditCall, AuditListQuery, AuditProblem } from "./audit-query.ts";
import type { StoreCode } from "./codes.ts";
import type { HomeLayout } from "./home-layout.ts";

/** Each question about the trail: what is asked and what the answer is. */
export interface IndexQuestions {
  readonly list: { readonly asked: AuditListQuery; readonly answer: readonly AuditRecord[] };
  readonly show: { readonly asked: string; readonly answer: AuditCall | undefined };
  readonly problems: { readonly asked: undefined; readonly answer: readonly AuditProblem[] };
}

export type IndexQuestion = keyof IndexQuestions;

/** To the thread. `follow`: index what is new. `close`: finish the slice, close the database and end. */
export type ToIndexThread =
  | { readonly kind: "follow" | "close" }
  | { readonly kind: "ask"; readonly id: number; readonly question: IndexQuestion; readonly asked: unknown };

/** A StoreError on its way between threads; the cause stays where it is, as text. */
export interface ThreadError {
  readonly code: StoreCode;
  readonly message: string;
  readonly hint: string | undefined;
  readonly cause: string | undefined;
}

/** From the thread. `idle`: everything that was there is indexed, or could not be. */
export type FromIndexThread =
  | { readonly kind: "idle" }
  | { readonly kind: "answer"; readonly id: number; readonly answer: unknown }
  | { readonly kind: "refused"; readonly id: number; readonly error: ThreadError }
  | { readonly kind: "problem"; readonly error: ThreadError };

/** What the thread is started with. */
export interface IndexThreadData {
  readonly layout: HomeLayout;
}
