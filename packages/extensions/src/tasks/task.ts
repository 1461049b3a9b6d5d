/**
 * One task: a call whose client has a handle and collects the result later. It holds the questions of the server
 * until the client answers them, and the outcome until the task expires.
 *
 * It makes no call: it is given how its call ends.
 */

import { type JsonObject, jsonSize } from "@toolcrib/json";
import { type Identity, isSameIdentity } from "@toolcrib/tool";
import { ExtensionsError } from "../extensions-error.ts";
import type { RemoteTask, StoredTask, TaskCall, TaskOutcome } from "./stored-task.ts";

/** A question that waits for its answer. */
interface OpenQuestion {
  readonly method: string;
  readonly params: JsonObject;
  readonly resolve: (answer: JsonObject) => void;
  readonly reject: (reason: unknown) => void;
  /** Whether it was sent to the client as a request. */
  isSent: boolean;
}

/** Questions of one task that can wait at a time. @limit client */
const maxQuestions = 100;
/** Bytes of the arguments that are kept, so that a policy about them applies when the result is read. @limit client */
const argumentsMaxBytes = 16 * 1024;
/** Longest text about a state, in UTF-16 units. */
const statusMaxLength = 2000;
/** Bounds of the pause between two requests for the state, in milliseconds. */
const pollMinMs = 100;
const pollMaxMs = 300_000;
/** Suggested where the server suggests nothing. */
const pollDefaultMs = 1000;

/** The facts of a task that never change. */
export type TaskFacts = Pick<
  StoredTask,
  "id" | "owner" | "era" | "tool" | "server" | "createdAt" | "ttlMs" | "clientCapabilities"
>;

/** A task. */
export class Task {
  readonly facts: TaskFacts;
  /** Ends its call. */
  readonly controller = new AbortController();
  /** Whether the gateway is ending, and the server continues the task. */
  isLeft = false;
  /** Whether its server has not answered about it since the gateway started, or since the connection was lost. */
  isUnheard = false;
  /** Settles when its call has ended in this run. */
  tracked: Promise<unknown> | undefined;
  /** Whether the server answered the cancellation of an ended call; undefined where none was sent. */
  cancelling: Promise<boolean> | undefined;
  readonly #now: () => number;
  readonly #questions = new Map<string, OpenQuestion>();
  readonly #listeners = new Set<() => void>();
  #updatedAt: number;
  #statusMessage: string | undefined;
  #pollIntervalMs: number | undefined;
  #remote: RemoteTask | undefined;
  #call: TaskCall | undefined;
  #outcome: TaskOutcome | undefined;
  #questionCount = 0;

  constructor(task: TaskFacts & Partial<StoredTask>, now: () => number) {
    const { id, owner, era, tool, server, createdAt, ttlMs, clientCapabilities } = task;
    this.facts = { id, owner, era, tool, server, createdAt, ttlMs, clientCapabilities };
    this.#now = now;
    this.#updatedAt = task.updatedAt ?? createdAt;
    this.#statusMessage = task.statusMessage;
    this.#pollIntervalMs = task.pollIntervalMs;
    this.#remote = task.remote;
    this.#call = task.call;
    this.#outcome = task.outcome;
  }

  get id(): string {
    return this.facts.id;
  }

  get outcome(): TaskOutcome | undefined {
    return this.#outcome;
  }

  get remote(): RemoteTask | undefined {
    return this.#remote;
  }

  get call(): TaskCall | undefined {
    return this.#call;
  }

  get updatedAt(): number {
    return this.#updatedAt;
  }

  get statusMessage(): string | undefined {
    return this.#statusMessage;
  }

  /** Milliseconds after which to ask for the state again. */
  get pollIntervalMs(): number {
    return this.#pollIntervalMs ?? pollDefaultMs;
  }

  /** Milliseconds since the epoch from which on it is not kept. */
  get expiresAt(): number {
    return this.facts.createdAt + this.facts.ttlMs;
  }

  /** Whether it waits for answers of the client. */
  get isAsking(): boolean {
    return this.#outcome === undefined && this.#questions.size > 0;
  }

  /** The part of it that is kept in the home. */
  stored(): StoredTask {
    return {
      ...this.facts,
      updatedAt: this.#updatedAt,
      pollIntervalMs: this.#pollIntervalMs,
      statusMessage: this.#statusMessage,
      remote: this.#remote,
      call: this.#call,
      outcome: this.#outcome,
    };
  }

  /** Another token of the same name is not the owner. */
  isOwnedBy(identity: Identity): boolean {
    const { owner } = this.facts;
    return isSameIdentity(owner, identity) && owner.credential === identity.credential;
  }

  /** The call of the task is on record. */
  begun({ subject, startedAt, shownArguments, arguments: args }: TaskCall): void {
    const isKept = args !== undefined && jsonSize(args, argumentsMaxBytes) <= argumentsMaxBytes;
    this.#call = { subject, startedAt, shownArguments, arguments: isKept ? args : undefined };
  }

  /** The server runs the call as a task of its own. */
  accepted(remote: RemoteTask): void {
    this.#remote = remote;
  }

  /** The connection to the server is lost. */
  lost(): void {
    this.isUnheard = true;
  }

  /** The cancellation is sent to the server. @param delivered whether it answered */
  cancels(delivered: Promise<boolean>): void {
    this.cancelling = delivered;
  }

  /** Notes what the server says about its task. Ended tasks do not change. */
  changed({
    statusMessage,
    pollIntervalMs,
  }: {
    readonly statusMessage?: string | undefined;
    readonly pollIntervalMs?: number | undefined;
  }): void {
    if (this.#outcome !== undefined) return;
    if (pollIntervalMs !== undefined)
      this.#pollIntervalMs = Math.min(Math.max(pollIntervalMs, pollMinMs), pollMaxMs);
    const text = statusMessage?.slice(0, statusMaxLength);
    if (text === undefined || text === this.#statusMessage) return;
    this.#statusMessage = text;
    this.#emit();
  }

  /** Ends the task. Only the first end counts. @param statusMessage text about the end */
  end(outcome: TaskOutcome, statusMessage?: string): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = outcome;
    if (statusMessage !== undefined) this.#statusMessage = statusMessage.slice(0, statusMaxLength);
    const over = new ExtensionsError("TASK_ENDED", "The task ended before its question was answered");
    for (const question of this.#questions.values()) question.reject(over);
    this.#questions.clear();
    this.#emit();
  }

  /** Replaces the outcome of an ended task that is not kept. */
  forget(outcome: TaskOutcome): void {
    this.#outcome = outcome;
  }

  /** Asks the client: the question waits until the client fetches and answers it. */
  ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    if (this.#questions.size >= maxQuestions) {
      return Promise.reject(
        new ExtensionsError("TASKS_FULL", `More than ${maxQuestions} questions of one task wait for answers`),
      );
    }
    this.#questionCount += 1;
    const key = `q${this.#questionCount}`;
    return new Promise((resolve, reject) => {
      const settled =
        <Value>(act: (value: Value) => void) =>
        (value: Value) => {
          signal.removeEventListener("abort", aborted);
          act(value);
        };
      const aborted = () => {
        if (!this.#questions.delete(key)) return;
        reject(signal.reason);
        this.#emit();
      };
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      signal.addEventListener("abort", aborted, { once: true });
      this.#questions.set(key, {
        method,
        params,
        resolve: settled(resolve),
        reject: settled(reject),
        isSent: false,
      });
      this.#emit();
    });
  }

  /** The questions that wait, by their keys. */
  questions(): JsonObject {
    const open = [...this.#questions].map(([key, { method, params }]) => [key, { method, params }]);
    return Object.fromEntries(open) as JsonObject;
  }

  /** Answers a question. Answers to others are ignored, as the extension says. */
  answer(key: string, response: JsonObject): void {
    const question = this.#questions.get(key);
    if (question === undefined) return;
    this.#questions.delete(key);
    question.resolve(response);
    this.#emit();
  }

  /** Sends the questions that wait as requests to a client that takes them so. */
  sendQuestions(
    send: (method: string, params: JsonObject) => Promise<JsonObject>,
    signal: AbortSignal,
  ): void {
    for (const [key, question] of this.#questions) {
      if (question.isSent) continue;
      question.isSent = true;
      send(question.method, question.params).then(
        (response) => this.answer(key, response),
        (error: unknown) => {
          // Another request can ask it again when the client only left.
          question.isSent = false;
          if (signal.aborted || !this.#questions.delete(key)) return;
          question.reject(error);
          this.#emit();
        },
      );
    }
  }

  /** Adds a listener for changes of the state. @returns removes it */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves with the next change. @throws the reason of `signal` */
  nextChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = () => {
        remove();
        signal.removeEventListener("abort", aborted);
        resolve();
      };
      const remove = this.onChange(done);
      const aborted = () => {
        remove();
        reject(signal.reason);
      };
      if (signal.aborted) aborted();
      else signal.addEventListener("abort", aborted, { once: true });
    });
  }

  #emit(): void {
    this.#updatedAt = this.#now();
    for (const listener of [...this.#listeners]) listener();
  }
}
