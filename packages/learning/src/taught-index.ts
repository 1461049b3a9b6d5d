/**
 * The learned words in the form that searches use: those of each client for its own searches, and those that
 * `sharedAfter` clients taught the same tool for the searches of all.
 *
 * A client counts once for a shared word, however often it taught the word, and a word that is shared counts the same
 * whether three clients taught it or a hundred. So one client alone changes nothing in the searches of another one.
 */

import { TaughtWords } from "@toolcrib/search";
import { type LearnedWords, weightOn, wordCountOf } from "./learned-words.ts";
import { sharedAfter, wordLimits } from "./limits.ts";

/** A word of a client with less weight does not count for others. */
const voteMinWeight = 0.25;

interface Entry {
  readonly learned: LearnedWords;
  readonly wordCount: number;
  /** The words that count for others, by tool. */
  readonly votes: ReadonlyMap<string, readonly string[]>;
  /** Made by its first search. */
  own: TaughtWords | undefined;
}

/** The words of all clients. */
export class TaughtIndex {
  /** By `identityKey`; the client that taught last comes last. */
  readonly #entries = new Map<string, Entry>();
  /** By tool and word: the number of clients. */
  readonly #votes = new Map<string, Map<string, number>>();
  /** Those of `#votes` that are shared. */
  readonly #sharedVotes = new Map<string, Map<string, number>>();
  readonly #shared = new TaughtWords("shared");
  #day: number;

  constructor(day: number) {
    this.#day = day;
  }

  /** Number of words of all clients. */
  get wordCount(): number {
    return this.#entries.values().reduce((sum, { wordCount }) => sum + wordCount, 0);
  }

  get clientCount(): number {
    return this.#entries.size;
  }

  /** The client that taught least recently. */
  get oldest(): LearnedWords | undefined {
    return this.#entries.values().next().value?.learned;
  }

  /** The client with the most words. */
  get largest(): LearnedWords | undefined {
    let largest: Entry | undefined;
    for (const entry of this.#entries.values()) {
      if (entry.wordCount > (largest?.wordCount ?? 0)) largest = entry;
    }
    return largest?.learned;
  }

  /** The words that count for the searches of the client `key`. */
  taughtFor(key: string): readonly TaughtWords[] {
    const entry = this.#entries.get(key);
    if (entry === undefined) return this.#shared.size === 0 ? [] : [this.#shared];
    entry.own ??= this.#ownWords(entry.learned);
    return [entry.own, this.#shared];
  }

  /** Replaces the words of the client `key`; `undefined` removes them. */
  replace(key: string, learned: LearnedWords | undefined): void {
    const before = this.#entries.get(key);
    const votes = learned === undefined ? new Map() : this.#votesOf(learned);
    const touched = new Set([...(before?.votes.keys() ?? []), ...votes.keys()]);
    this.#entries.delete(key);
    for (const [tool, words] of before?.votes ?? []) for (const word of words) this.#vote(tool, word, -1);
    for (const [tool, words] of votes) for (const word of words) this.#vote(tool, word, 1);
    if (learned !== undefined) {
      this.#entries.set(key, { learned, wordCount: wordCountOf(learned), votes, own: undefined });
    }
    for (const tool of touched) this.#share(tool);
  }

  /** Weighs all words as of `day`. */
  setDay(day: number): void {
    if (day === this.#day) return;
    this.#day = day;
    for (const [key, { learned }] of [...this.#entries]) this.replace(key, learned);
  }

  #ownWords({ tools }: LearnedWords): TaughtWords {
    const own = new TaughtWords("learned");
    for (const [tool, words] of tools) {
      own.set(
        tool,
        [...words].map(([word, learned]) => [word, weightOn(this.#day, learned)] as const),
      );
    }
    return own;
  }

  #votesOf({ tools }: LearnedWords): Map<string, readonly string[]> {
    const votes = new Map<string, readonly string[]>();
    for (const [tool, words] of tools) {
      const counted = [...words].filter(([, learned]) => weightOn(this.#day, learned) >= voteMinWeight);
      if (counted.length > 0)
        votes.set(
          tool,
          counted.map(([word]) => word),
        );
    }
    return votes;
  }

  #vote(tool: string, word: string, change: 1 | -1): void {
    const ofTool = this.#votes.get(tool) ?? new Map<string, number>();
    const count = (ofTool.get(word) ?? 0) + change;
    if (count > 0) ofTool.set(word, count);
    else ofTool.delete(word);
    if (ofTool.size > 0) this.#votes.set(tool, ofTool);
    else this.#votes.delete(tool);
    const shared = this.#sharedVotes.get(tool) ?? new Map<string, number>();
    if (count >= sharedAfter) shared.set(word, count);
    else shared.delete(word);
    if (shared.size > 0) this.#sharedVotes.set(tool, shared);
    else this.#sharedVotes.delete(tool);
  }

  #share(tool: string): void {
    const shared = this.#sharedVotes.get(tool)?.keys() ?? [];
    // Neither weight nor choice depends on the number of clients: one more changes nothing.
    const words = [...shared].sort().slice(0, wordLimits.sharedWordsPerTool);
    this.#shared.set(
      tool,
      words.map((word) => [word, sharedAfter] as const),
    );
  }
}
