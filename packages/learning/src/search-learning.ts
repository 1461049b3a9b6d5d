/**
 * Search that learns from use: observes searches and the calls that follow them, stores the words of those searches
 * for the tools that were called, and returns the words that count for the searches of a client.
 *
 * Nothing is stored in the path of a call: uses wait in memory and are stored together, a little later. What cannot be
 * stored is lost and logged; neither a search nor a call fails because of it.
 *
 * It decides about no access: words are about ids of tools, and the filter of a search decides which of them a client finds.
 */

import type { Logger } from "@toolcrib/diagnostics";
import type { TaughtWords } from "@toolcrib/search";
import { type Identity, identityKey } from "@toolcrib/tool";
import { LearnedFiles } from "./learned-files.ts";
import { dayOf, fade, type LearnedClient, teach, trim, wordCountOf } from "./learned-words.ts";
import type { LearningError } from "./learning-error.ts";
import { observationLimits, wordLimits } from "./limits.ts";
import { ObservedSearches, type Searcher } from "./observed-searches.ts";
import { TaughtIndex } from "./taught-index.ts";
import { wordsOfQuery } from "./words-of-query.ts";

/** Milliseconds after a use at which it is stored, with those that came meanwhile. */
const storeDelayMs = 1000;
/** Milliseconds between two checks for words that others changed. */
const refreshMs = 2000;

/** Dependencies of `SearchLearning`. */
export interface SearchLearningDeps {
  readonly logger: Pick<Logger, "warn">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** Removes known secrets from a text. */
  readonly scrub: (text: string) => string;
  /** Calls back once after a delay, unless it is cancelled. @default a timer that does not keep the process alive */
  readonly startTimer?: (delayMs: number, callback: () => void) => () => void;
  /** Whether nothing is learned from a client, by its `identityKey`. */
  readonly isExcluded: (key: string) => boolean;
}

interface ObservedUse {
  readonly tool: string;
  readonly queries: readonly string[];
}

/** The uses of one client that wait to be stored. */
interface WaitingUses {
  readonly client: LearnedClient;
  readonly uses: ObservedUse[];
}

/** Words that the gateways of a home learned. */
export class SearchLearning implements AsyncDisposable {
  readonly #deps: SearchLearningDeps;
  readonly #startTimer: NonNullable<SearchLearningDeps["startTimer"]>;
  readonly #files: LearnedFiles;
  readonly #index: TaughtIndex;
  readonly #searches = new ObservedSearches();
  readonly #waiting = new Map<string, WaitingUses>();
  readonly #logged = new Set<string>();
  #waitingCount = 0;
  #cancelStore: (() => void) | undefined;
  #cancelRefresh: (() => void) | undefined;
  /** Settles after the last read or write. */
  #turn: Promise<unknown> = Promise.resolve();
  #isDisposed = false;

  private constructor(home: string, deps: SearchLearningDeps) {
    this.#deps = deps;
    this.#startTimer = deps.startTimer ?? startTimer;
    this.#files = new LearnedFiles(home, {
      randomBytes: deps.randomBytes,
      onProblem: (problem) => this.#log(problem),
    });
    this.#index = new TaughtIndex(dayOf(deps.now()));
  }

  /** Reads what the home has. Never rejects for files that cannot be read. */
  static async open(home: string, deps: SearchLearningDeps): Promise<SearchLearning> {
    const learning = new SearchLearning(home, deps);
    await learning.#inTurn(() => learning.#refresh());
    learning.#refreshLater();
    return learning;
  }

  /** The words that count for the searches of a client, besides those of definitions. */
  taughtFor(identity: Identity): readonly TaughtWords[] {
    return this.#index.taughtFor(identityKey(identity));
  }

  /** Whether a call could be one that a search led to. */
  get isObserving(): boolean {
    return !this.#searches.isEmpty;
  }

  /** A client searched, and was shown the tools with the ids `shown`. */
  searched(searcher: Searcher, query: string, shown: readonly string[]): void {
    if (this.#deps.isExcluded(identityKey(searcher.identity))) return;
    this.#searches.add(searcher, query, shown, this.#deps.now());
  }

  /** A call of a client succeeded. */
  called(searcher: Searcher, tool: string): void {
    const queries = this.#searches.take(searcher, tool, this.#deps.now());
    if (queries.length === 0 || this.#isDisposed) return;
    const { issuer, subject, name } = searcher.identity;
    const key = identityKey(searcher.identity);
    const waiting = this.#waiting.get(key) ?? { client: { issuer, subject, name }, uses: [] };
    const isFull = waiting.uses.length >= observationLimits.usesPerClient;
    if (isFull || this.#waitingCount >= observationLimits.uses) return;
    waiting.uses.push({ tool, queries });
    this.#waitingCount += 1;
    this.#waiting.set(key, waiting);
    this.#cancelStore ??= this.#startTimer(storeDelayMs, () => void this.stored());
  }

  /** Stores the uses that wait. Never rejects. */
  stored(): Promise<void> {
    this.#cancelStore?.();
    this.#cancelStore = undefined;
    return this.#inTurn(() => this.#store());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    this.#cancelRefresh?.();
    await this.stored();
  }

  #inTurn(task: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(task).catch((problem: unknown) => this.#log(problem as LearningError));
    this.#turn = turn;
    return turn;
  }

  #refreshLater(): void {
    if (this.#isDisposed) return;
    this.#cancelRefresh = this.#startTimer(refreshMs, () => {
      void this.#inTurn(() => this.#refresh()).then(() => this.#refreshLater());
    });
  }

  async #refresh(): Promise<void> {
    const now = this.#deps.now();
    this.#searches.prune(now);
    this.#index.setDay(dayOf(now));
    for (const { key, learned } of await this.#files.changed()) {
      this.#index.replace(key, this.#deps.isExcluded(key) ? undefined : learned);
    }
  }

  async #store(): Promise<void> {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    this.#waitingCount = 0;
    const day = dayOf(this.#deps.now());
    for (const [key, { client, uses }] of waiting) {
      const taught = uses.flatMap(({ tool, queries }) =>
        queries.map((query) => ({ tool, words: wordsOfQuery(query, this.#deps.scrub) })),
      );
      if (taught.every(({ words }) => words.length === 0)) continue;
      await this.#change(key, client, (learned) => {
        fade(learned, day);
        teach(learned, taught, day);
      });
    }
    await this.#limit();
  }

  async #change(
    key: string,
    client: LearnedClient,
    apply: Parameters<LearnedFiles["change"]>[1],
  ): Promise<void> {
    try {
      const learned = await this.#files.change(client, apply);
      this.#index.replace(key, learned.tools.size === 0 ? undefined : learned);
    } catch (problem) {
      this.#log(problem as LearningError);
    }
  }

  /** Drops what the limits of all clients together do not allow. */
  async #limit(): Promise<void> {
    while (this.#index.clientCount > wordLimits.clients) {
      const { clientCount, oldest } = this.#index;
      if (oldest === undefined) break;
      await this.#change(identityKey(oldest.client), oldest.client, ({ tools }) => tools.clear());
      // What cannot be written is not dropped either.
      if (this.#index.clientCount >= clientCount) break;
    }
    while (this.#index.wordCount > wordLimits.words) {
      const { wordCount, largest } = this.#index;
      if (largest === undefined) break;
      const excess = wordCount - wordLimits.words;
      await this.#change(identityKey(largest.client), largest.client, (learned) => {
        trim(learned, Math.max(0, wordCountOf(learned) - excess));
      });
      if (this.#index.wordCount >= wordCount) break;
    }
  }

  #log(problem: LearningError): void {
    if (this.#logged.has(problem.message) || this.#logged.size >= 100) return;
    this.#logged.add(problem.message);
    this.#deps.logger.warn({ code: problem.code, reason: problem.message }, "learned words of searches");
  }
}

function startTimer(delayMs: number, callback: () => void): () => void {
  const timer = setTimeout(callback, delayMs).unref();
  return () => clearTimeout(timer);
}
