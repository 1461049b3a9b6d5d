/**
 * The event loop's side of the index thread: starts the thread when it is needed,
 * notifies it of new records, forwards queries, and ends the thread when it has
 * nothing to do. A thread that crashed is restarted with the next message; its
 * pending queries are rejected.
 */

import { Worker } from "node:worker_threads";
import type { HomeLayout } from "./home-layout.ts";
import type {
  FromIndexThread,
  IndexQuestion,
  IndexQuestions,
  IndexThreadData,
  ThreadError,
  ToIndexThread,
} from "./index-protocol.ts";
import { StoreError } from "./store-error.ts";

/**
 * Number of new records that are indexed when calls pause. Fewer wait for a query, which indexes them in about half a
 * second: the thread takes a third of the CPU time of a call and 100 MB, and most records are never queried.
 */
const pauseCount = 50_000;
/** Milliseconds without a new record that count as a pause. */
const quietMs = 250;
/** Number of new records that are indexed although calls do not pause. */
const followCount = 250_000;
/** Milliseconds without work after which the thread ends. */
const idleMs = 10_000;
/** Maximum number of pending queries. */
const questionMax = 1000;

interface Waiter {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The client of the index thread. */
export class IndexHost implements AsyncDisposable {
  readonly #layout: HomeLayout;
  readonly #problem: (problem: StoreError) => void;
  readonly #waiters = new Map<number, Waiter>();
  #thread: Worker | undefined;
  /** The ends of all threads that have not ended. */
  readonly #ends = new Set<Promise<void>>();
  #lastId = 0;
  #newCount = 0;
  #isFollowing = false;
  #delay: NodeJS.Timeout | undefined;
  /** Runs while the thread has no work. */
  #idle: NodeJS.Timeout | undefined;
  #closed = false;
  /** Whether a failure of the thread was reported, so that it is reported once. */
  #isBroken = false;

  /** No I/O: the thread starts when it is needed, which does not happen in a short-lived process. */
  constructor(layout: HomeLayout, problem: (problem: StoreError) => void) {
    this.#layout = layout;
    this.#problem = problem;
  }

  /** Reports that `count` records were written. Never throws: writing does not depend on the index. */
  notify(count: number): void {
    this.#newCount += count;
    if (this.#isFollowing || this.#closed) return;
    if (this.#newCount >= followCount) {
      this.#follow();
    } else if (this.#newCount < pauseCount) {
      return;
    } else if (this.#delay === undefined) {
      // Calls take precedence: records are indexed when calls pause.
      this.#delay = setTimeout(() => this.#follow(), quietMs);
      this.#delay.unref();
    } else {
      this.#delay.refresh();
    }
  }

  /**
   * Runs a query, after everything in the segments is indexed.
   *
   * @throws {StoreError} the error of the query, or `AUDIT_INDEX_FAILED` when the thread ended.
   */
  ask<Question extends IndexQuestion>(
    question: Question,
    asked: IndexQuestions[Question]["asked"],
  ): Promise<IndexQuestions[Question]["answer"]> {
    return new Promise((resolve, reject) => {
      if (this.#closed)
        throw new StoreError("STORE_CLOSED", "Cannot read the audit trail: the store is closed");
      if (this.#waiters.size >= questionMax) {
        throw new StoreError(
          "AUDIT_INDEX_FAILED",
          `Cannot read the audit trail: ${questionMax} queries are pending`,
        );
      }
      this.#lastId += 1;
      const id = this.#lastId;
      this.#waiters.set(id, { resolve: resolve as (answer: unknown) => void, reject });
      try {
        this.#send({ kind: "ask", id, question, asked });
      } catch (error) {
        // The thread did not start, or the query cannot be sent to it: no answer will come.
        this.#settle(id);
        throw error;
      }
    });
  }

  /** End the thread after its current slice or query. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#delay);
    // The process must stay alive until the thread has ended.
    this.#thread?.ref();
    this.#endThread();
    await Promise.all(this.#ends);
  }

  /** Ends the thread; its pending queries are rejected when it has ended. */
  #endThread(): void {
    clearTimeout(this.#idle);
    this.#thread?.postMessage({ kind: "close" } satisfies ToIndexThread);
  }

  /** Ends the thread after a while without work. The next message starts another one. */
  #rest(): void {
    if (this.#closed || this.#isFollowing || this.#waiters.size > 0) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      // It ends soon, and a disposal can begin to wait for that.
      this.#thread?.ref();
      this.#endThread();
      this.#thread = undefined;
    }, idleMs).unref();
  }

  #follow(): void {
    clearTimeout(this.#delay);
    this.#delay = undefined;
    this.#newCount = 0;
    this.#isFollowing = true;
    try {
      this.#send({ kind: "follow" });
    } catch (cause) {
      this.#isFollowing = false;
      this.#reportBroken(
        new StoreError("AUDIT_INDEX_FAILED", "Cannot start the thread of the audit index", { cause }),
      );
    }
  }

  #reportBroken(problem: StoreError): void {
    if (!this.#isBroken) this.#problem(problem);
    this.#isBroken = true;
  }

  #send(message: ToIndexThread): void {
    clearTimeout(this.#idle);
    this.#thread ??= this.#start();
    if (message.kind === "ask") this.#thread.ref();
    this.#thread.postMessage(message);
  }

  #start(): Worker {
    // The build keeps the module of the thread as a file of its own, next to this one.
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const thread = new Worker(new URL(`./index-worker.${extension}`, import.meta.url), {
      name: "toolcrib-audit-index",
      workerData: { layout: this.#layout } satisfies IndexThreadData,
    });
    // Only a pending query keeps the process alive.
    thread.unref();
    let failure: unknown;
    thread.on("message", (message: FromIndexThread) => this.#receive(message));
    thread.on("error", (error) => {
      failure = error;
    });
    const end = new Promise<void>((resolve) => {
      thread.on("exit", () => {
        this.#ends.delete(end);
        // A thread that was ended because it had no work has no queries, and another one may have started.
        if (this.#thread === thread) this.#afterEnd(failure);
        resolve();
      });
    });
    this.#ends.add(end);
    return thread;
  }

  #receive(message: FromIndexThread): void {
    switch (message.kind) {
      case "idle":
        this.#isFollowing = false;
        this.#isBroken = false;
        this.#rest();
        if (this.#newCount > 0) this.notify(0);
        break;
      case "answer":
        this.#settle(message.id)?.resolve(message.answer);
        break;
      case "refused":
        this.#settle(message.id)?.reject(toStoreError(message.error));
        break;
      case "problem":
        this.#problem(toStoreError(message.error));
    }
  }

  #settle(id: number): Waiter | undefined {
    const waiter = this.#waiters.get(id);
    this.#waiters.delete(id);
    // A disposal waits for the end of the thread.
    if (this.#waiters.size === 0 && !this.#closed) {
      this.#thread?.unref();
      this.#rest();
    }
    return waiter;
  }

  #afterEnd(cause: unknown): void {
    this.#thread = undefined;
    this.#isFollowing = false;
    const waiters = [...this.#waiters.values()];
    this.#waiters.clear();
    const error = this.#closed
      ? new StoreError("STORE_CLOSED", "Cannot read the audit trail: the store is closed")
      : new StoreError("AUDIT_INDEX_FAILED", "Cannot read the audit index: its thread ended", { cause });
    for (const { reject } of waiters) reject(error);
    if (!this.#closed) this.#reportBroken(error);
  }
}

function toStoreError({ code, message, hint, cause }: ThreadError): StoreError {
  return new StoreError(code, message, { hint, cause });
}
