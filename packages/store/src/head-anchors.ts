/**
 * Hands the signed ends of the audit trail to places outside the home: a file, a
 * command, or both. Each place has a bounded queue of its own and a time limit. A place that fails is
 * a warning and tried again after a minute or with the next end; calls never wait for it.
 *
 * A later end proves everything that an earlier one does, so a full queue loses its oldest.
 */

import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { appendAnchor } from "./anchor-file.ts";

/** Ends that wait for one place: those of more than an hour. */
const queueMaxCount = 100;
/** Milliseconds that a place may take for one end. */
const sendMaxMs = 5000;
/** Milliseconds until a place that failed is tried again, unless a new end tries it earlier. */
const retryMs = 60_000;
/** Milliseconds that places get to take the last ends at shutdown. */
const drainMaxMs = 8000;

/** A place outside the home that keeps the signed ends of the audit trail. */
export interface AnchorStatus {
  /** `file PATH` or `command NAME`. */
  readonly place: string;
  /** Ends that it took since the start of the gateway. */
  readonly anchored: number;
  /** RFC 3339 time of the last one. */
  readonly lastAt?: string;
  /** Ends that were discarded because it failed or was too slow. */
  readonly dropped: number;
  /** Why the last attempt failed; absent when it succeeded. */
  readonly reason?: string;
}

/** The places of `audit.anchor`. */
export interface AnchorSettings {
  readonly file?: string | undefined;
  readonly command?: readonly string[] | undefined;
}

/** Dependencies of the anchors. */
export interface AnchorDeps {
  /**
   * Runs a command with `line` on its standard input, and waits for its end.
   *
   * @throws when it cannot be started or fails.
   */
  readonly runCommand: (command: readonly string[], line: string, signal: AbortSignal) => Promise<void>;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The folder that `~/` stands for. */
  readonly userHome: string;
}

/** Returns the anchors of a configuration. Starts nothing before the first end. */
export function openAnchors({ file, command }: AnchorSettings, deps: AnchorDeps): HeadAnchors {
  const places: AnchorPlace[] = [];
  if (file !== undefined) {
    const path = /^~[\\/]/.test(file) ? join(deps.userHome, file.slice(2)) : file;
    places.push(new AnchorPlace(`file ${path}`, (line, signal) => appendAnchor(path, line, signal), deps));
  }
  if (command !== undefined) {
    const send: Send = (line, signal) => deps.runCommand(command, line, signal);
    places.push(new AnchorPlace(`command ${command[0]}`, send, deps));
  }
  return new HeadAnchors(places);
}

/** The places of one gateway. Disposal waits for the queues, up to 8 s. */
export class HeadAnchors implements AsyncDisposable {
  readonly #places: readonly AnchorPlace[];

  constructor(places: readonly AnchorPlace[]) {
    this.#places = places;
  }

  /** Queues a signed end. @param line with its line feed */
  add(line: string): void {
    for (const place of this.#places) place.add(line);
  }

  status(): readonly AnchorStatus[] {
    return this.#places.map((place) => place.status());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#places.map((place) => place.drain(drainMaxMs)));
  }
}

type Send = (line: string, signal: AbortSignal) => Promise<void>;

/** One place and its queue. */
class AnchorPlace {
  readonly #place: string;
  readonly #send: Send;
  readonly #deps: Pick<AnchorDeps, "logger" | "now">;
  readonly #ending = new AbortController();
  readonly #queue: string[] = [];
  #sending: Promise<void> | undefined;
  /** The last send, until it settles. */
  #unsettled: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isDraining = false;
  #anchored = 0;
  #dropped = 0;
  #lastAt: number | undefined;
  #reason: string | undefined;

  constructor(place: string, send: Send, deps: Pick<AnchorDeps, "logger" | "now">) {
    this.#place = place;
    this.#send = send;
    this.#deps = deps;
  }

  add(line: string): void {
    if (this.#queue.length >= queueMaxCount) {
      this.#queue.shift();
      this.#dropped += 1;
    }
    this.#queue.push(line);
    this.#start();
  }

  #start(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  status(): AnchorStatus {
    return {
      place: this.#place,
      anchored: this.#anchored,
      dropped: this.#dropped,
      ...(this.#lastAt === undefined ? {} : { lastAt: new Date(this.#lastAt).toISOString() }),
      ...(this.#reason === undefined ? {} : { reason: this.#reason }),
    };
  }

  /** Tries to empty the queue once more. Resolves when that ends, or `maxMs` later. */
  async drain(maxMs: number): Promise<void> {
    this.#isDraining = true;
    this.#start();
    const timer = new AbortController();
    const late = delay(maxMs, undefined, { signal: timer.signal }).then(
      () => this.#ending.abort(new Error("the gateway is stopped")),
      () => undefined,
    );
    await Promise.race([this.#sending, late]);
    timer.abort();
  }

  /** Never rejects. */
  async #sendAll(): Promise<void> {
    for (let line = this.#queue[0]; line !== undefined; line = this.#queue[0]) {
      if (this.#ending.signal.aborted) return;
      try {
        await this.#sendWithin(line);
        this.#anchored += 1;
        this.#lastAt = this.#deps.now();
        this.#succeed();
      } catch (error) {
        this.#fail(messageOf(error));
        // The next end proves this one too. Those that wait are kept for it.
        return;
      }
      // A full queue may have lost this line meanwhile.
      if (this.#queue[0] === line) this.#queue.shift();
    }
  }

  async #sendWithin(line: string): Promise<void> {
    const signal = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(sendMaxMs)]);
    await new Promise<void>((resolve, reject) => {
      const late = () => reject(new Error(`it took longer than ${sendMaxMs / 1000} s`));
      signal.addEventListener("abort", late, { once: true });
      this.#sendAfterLast(line, signal)
        .then(resolve, reject)
        .finally(() => signal.removeEventListener("abort", late));
    });
  }

  /** Waits for a send that took too long, so that a place which hangs gets one at a time. */
  async #sendAfterLast(line: string, signal: AbortSignal): Promise<void> {
    await this.#unsettled;
    signal.throwIfAborted();
    const sending = this.#send(line, signal);
    const unsettled = sending
      .catch(() => {})
      .finally(() => {
        this.#unsettled = undefined;
      });
    this.#unsettled = unsettled;
    await sending;
  }

  #succeed(): void {
    if (this.#reason === undefined) return;
    this.#reason = undefined;
    this.#deps.logger.info({ anchor: this.#place }, "the audit trail is anchored again");
  }

  #fail(reason: string): void {
    // One warning for each cause: a place that is gone fails once a minute.
    if (this.#reason !== reason) {
      const fields = { anchor: this.#place, reason };
      this.#deps.logger.warn(fields, "the audit trail could not be anchored; calls are not affected");
    }
    this.#reason = reason;
    if (!this.#isDraining) this.#retry ??= setTimeout(() => this.#start(), retryMs).unref();
  }
}
