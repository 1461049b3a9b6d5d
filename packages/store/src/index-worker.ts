/**
 * The index thread. SQLite waits for the disk, and a query can scan the whole
 * index; neither may block the event loop that serves calls. Messages are handled
 * between two slices, so a query waits for at most one slice.
 */

import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "@toolcrib/diagnostics";
import { AuditIndex } from "./audit-index.ts";
import type { AuditListQuery } from "./audit-query.ts";
import type { UnfinishedQuery } from "./close-killed-runs.ts";
import type { FromIndexThread, IndexThreadData, ThreadError, ToIndexThread } from "./index-protocol.ts";
import { StoreError } from "./store-error.ts";

yieldToCalls();
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

/**
 * Lowers the priority of the thread, so that calls take precedence on a busy
 * machine. Only Linux has a priority for each thread; on other platforms, and
 * without permission, nothing changes.
 */
function yieldToCalls(): void {
  if (process.platform !== "linux") return;
  try {
    const threadId = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    if (threadId !== process.pid) setPriority(threadId, 10);
  } catch {
    // Without /proc the thread cannot be named.
  }
}

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
    case "unfinished":
      return index.unfinished(asked as UnfinishedQuery);
  }
}

async function follow(): Promise<void> {
  if (isFollowing) return;
  isFollowing = true;
  try {
    while (!isClosing && index.step()) await nextTurn();
    failedBefore = false;
  } catch (error) {
    // The next message retries; a lasting failure is reported once.
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
  const coded = error instanceof StoreError ? error : undefined;
  return {
    code: coded?.code ?? "AUDIT_INDEX_FAILED",
    message: messageOf(error),
    hint: coded?.hint,
    cause: coded?.cause === undefined ? undefined : messageOf(coded.cause),
  };
}
