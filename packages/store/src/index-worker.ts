/**
 * The thread that indexes: SQLite waits for the disk and a question can walk a
 * whole index, neither of which may hold up the event loop that serves calls.
 * Between two slices it takes messages, so that a question waits for one slice.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { CodedError, messageOf } from "@toolcrib/diagnostics";
import { AuditIndex } from "./audit-index.ts";
import type { AuditListQuery } from "./audit-query.ts";
import { auditIndexFailed } from "./codes.ts";
import type { FromIndexThread, IndexThreadData, ThreadError, ToIndexThread } from "./index-protocol.ts";

const port = parentPort!;
const { layout } = workerData as IndexThreadData;
const index = new AuditIndex(layout, (problem) => send({ kind: "problem", error: toThreadError(problem) }));
let isFollowing = false;
let isClosing = false;
let failedBefore = false;

port.on("message", (message: ToIndexThread) => {
  if (message.kind === "ask") void answer(message);
  else if (message.kind === "follow") void follow();
  else close();
});

async function answer({ id, question, asked }: ToIndexThread & { readonly kind: "ask" }): Promise<void> {
  try {
    // Catching up can take long; the end of the store must not wait for it.
    while (!isClosing && index.step()) await nextTurn();
    if (!isClosing) send({ kind: "answer", id, answer: ask(question, asked) });
  } catch (error) {
    send({ kind: "refused", id, error: toThreadError(error) });
  }
}

function ask(question: (ToIndexThread & { readonly kind: "ask" })["question"], asked: unknown): unknown {
  switch (question) {
    case "list":
      return index.list(asked as AuditListQuery);
    case "show":
      return index.show(asked as string);
    case "problems":
      return index.problems();
  }
}

async function follow(): Promise<void> {
  if (isFollowing) return;
  isFollowing = true;
  try {
    while (!isClosing && index.step()) await nextTurn();
    failedBefore = false;
  } catch (error) {
    // It is tried again with the next message; one report of a lasting failure is enough.
    if (!failedBefore) send({ kind: "problem", error: toThreadError(error) });
    failedBefore = true;
  }
  isFollowing = false;
  send({ kind: "idle" });
}

function close(): void {
  isClosing = true;
  index.close();
  port.close();
}

function send(message: FromIndexThread): void {
  if (!isClosing) port.postMessage(message);
}

function toThreadError(error: unknown): ThreadError {
  const coded = error instanceof CodedError ? error : undefined;
  return {
    code: coded?.code ?? auditIndexFailed,
    message: messageOf(error),
    hint: coded?.hint,
    cause: coded?.cause === undefined ? undefined : messageOf(coded.cause),
  };
}
