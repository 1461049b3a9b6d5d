/**
 * Ranks documents for a query by BM25F.
 *
 * BM25F is Okapi BM25 for documents of several weighted fields, as in S. Robertson and
 * H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
 * section 3.6, with a length normalization per field (H. Zaragoza et al.,
 * "Microsoft Cambridge at TREC-13", 2004). For a document d and a term t:
 *
 *     tf'(t, d)  = Σ over fields f of  boost(f) · tf(t, d, f) / (1 − b(f) + b(f) · length(d, f) / average(f))
 *     idf(t)     = ln(1 + (N − df(t) + 0.5) / (df(t) + 0.5))
 *     score(d)   = Σ over terms t of   idf(t) · (k1 + 1) · tf'(t, d) / (k1 + tf'(t, d))
 *
 * `average(f)` is the average over the documents with the field; otherwise a rare
 * field such as `tags` would seem too long wherever it occurs. The `1 +` keeps
 * the idf of frequent terms above zero.
 *
 * The alternative terms of a clause (completions or corrections) count as one
 * term together, at a discount and never with a higher idf than the word itself.
 * A document gets the higher of the two scores, not both.
 *
 * Taught words (taught-words.ts) are one more field: they add to tf' of their term, and
 * df(t) counts the documents that have t in any field. Without taught words for a
 * query, its scores are those of the index alone.
 *
 * Scores are added in the order of the query, so equal contents have equal scores
 * to the last bit. Nothing is sorted here.
 */

import type { Clause, SearchMatch } from "./clauses.ts";
import { withoutSign } from "./exact-name.ts";
import type { InvertedIndex } from "./inverted-index.ts";
import { type ResolvedSearchOptions, type SearchField, searchFields } from "./options.ts";
import { fieldBits, fieldMask } from "./posting-lists.ts";
import type { TaughtField, TaughtWords } from "./taught-words.ts";

/** One part of a score: a word of the query that occurs in one field. */
export interface SearchReason {
  /** The word of the query, folded; for a `name` match, the whole query without its separators. */
  readonly word: string;
  /** The indexed term that matched: the stem of a word of the document. */
  readonly term: string;
  /**
   * `word`: the same word, except for its ending. `prefix`: it begins with the last word of the query.
   * `typo`: one typing error away from a word that no document has. `name`: the query is the tool's name.
   */
  readonly match: SearchMatch;
  /** `learned` and `shared` are words that uses taught the tool. */
  readonly field: SearchField | TaughtField;
  /** The contribution to the score, above 0. */
  readonly contribution: number;
}

/** Weight of a completion or a correction, relative to the word itself. */
const othersWeights = { prefix: 0.6, typo: 0.4 } as const;

/** The scores of one query. Valid until the next ranking of the same ranker. */
export interface Ranking {
  /** The slots of the documents with a score above 0, unordered; only the first `count` entries are valid. */
  readonly slots: Uint32Array;
  readonly count: number;
  /** The score of each slot. */
  readonly scores: Float64Array;
  /** Returns the parts of the score of the document at `slot`, the greatest first. */
  explain(slot: number): readonly SearchReason[];
}

interface WeighedClause extends Clause {
  /** Weight and idf, multiplied by k1 + 1. */
  readonly factor: number;
  readonly othersFactor: number;
}

export class Ranker {
  readonly #index: InvertedIndex;
  readonly #options: ResolvedSearchOptions;
  /** The divisor of a tf in field f is `#bases[f] + #slopes[f] * length`. */
  readonly #bases = new Float64Array(searchFields.length);
  readonly #slopes = new Float64Array(searchFields.length);
  #slots = new Uint32Array(0);
  #count = 0;
  #scores = new Float64Array(0);
  /** Per slot, zero between clauses: the score of the word itself, and the tf' of its alternative terms. */
  #given = new Float64Array(0);
  #othersTfs = new Float64Array(0);
  #othersSlots = new Uint32Array(0);
  /** Per slot, zero between clauses: the tf' of taught words. */
  #taughtTfs = new Float64Array(0);
  #taughtSlots = new Uint32Array(0);
  #taught: readonly TaughtWords[] = [];

  constructor(index: InvertedIndex, options: ResolvedSearchOptions) {
    this.#index = index;
    this.#options = options;
  }

  rank(clauses: readonly Clause[], taught: readonly TaughtWords[] = []): Ranking {
    this.#prepare();
    this.#taught = taught;
    const weighed = clauses.map((clause) => {
      const taughtCount = this.#takeTaught(clause);
      if (clause.others.length === 0 && taughtCount === 0) return this.#rankTerm(clause);
      return this.#rankWithOthers(clause, taughtCount);
    });
    return {
      slots: this.#slots,
      count: this.#count,
      scores: this.#scores,
      explain: (slot) => this.#explain(slot, weighed),
    };
  }

  #prepare(): void {
    const { slotEnd } = this.#index;
    if (slotEnd > this.#scores.length) {
      const length = Math.max(slotEnd, this.#scores.length * 2);
      this.#slots = new Uint32Array(length);
      this.#scores = new Float64Array(length);
      this.#given = new Float64Array(length);
      this.#othersTfs = new Float64Array(length);
      this.#othersSlots = new Uint32Array(length);
      this.#taughtTfs = new Float64Array(length);
      this.#taughtSlots = new Uint32Array(length);
    } else {
      for (let hit = 0; hit < this.#count; hit += 1) this.#scores[this.#slots[hit]!] = 0;
    }
    this.#count = 0;
    for (let field = 0; field < searchFields.length; field += 1) {
      const boost = this.#options.boosts[field]!;
      const b = this.#options.bs[field]!;
      this.#bases[field] = boost === 0 ? Number.POSITIVE_INFINITY : (1 - b) / boost;
      this.#slopes[field] = boost === 0 ? 0 : b / (boost * this.#index.averageLength(field));
    }
  }

  #rankTerm(clause: Clause): WeighedClause {
    const factor = this.#factor(this.#index.postings.dfs[clause.term!]!);
    const { k1 } = this.#options;
    this.#eachTf(clause.term!, (slot, tf) => {
      this.#give(slot, (factor * tf) / (k1 + tf));
    });
    return { ...clause, factor, othersFactor: 0 };
  }

  /** Collects the tf' of taught words. @returns the number of documents that have any */
  #takeTaught({ match, termText }: Clause): number {
    let count = 0;
    if (match !== "word") return count;
    for (const words of this.#taught) {
      words.eachTf(termText, this.#index, (slot, tf) => {
        if (this.#taughtTfs[slot] === 0) this.#taughtSlots[count++] = slot;
        if (tf > this.#taughtTfs[slot]!) this.#taughtTfs[slot] = tf;
      });
    }
    return count;
  }

  /** Number of documents with `term`, in a field or taught. */
  #dfOf(term: number | undefined, taughtCount: number): number {
    if (term === undefined) return taughtCount;
    if (taughtCount === 0) return this.#index.postings.dfs[term]!;
    let df = taughtCount;
    this.#eachTf(term, (slot) => {
      if (this.#taughtTfs[slot] === 0) df += 1;
    });
    return df;
  }

  #rankWithOthers(clause: Clause, taughtCount: number): WeighedClause {
    const { term } = clause;
    const { k1 } = this.#options;
    const df = this.#dfOf(term, taughtCount);
    const factor = df === 0 ? 0 : this.#factor(df);
    const givenSlots: number[] = [];
    const give = (slot: number, tf: number): void => {
      const score = (factor * tf) / (k1 + tf);
      this.#given[slot] = score;
      givenSlots.push(slot);
      this.#give(slot, score);
    };
    if (term !== undefined) {
      this.#eachTf(term, (slot, tf) => {
        give(slot, tf + this.#taughtTfs[slot]!);
        this.#taughtTfs[slot] = 0;
      });
    }
    for (let at = 0; at < taughtCount; at += 1) {
      const slot = this.#taughtSlots[at]!;
      if (this.#taughtTfs[slot]! > 0) give(slot, this.#taughtTfs[slot]!);
      this.#taughtTfs[slot] = 0;
    }
    let othersCount = 0;
    for (const other of clause.others) {
      this.#eachTf(other, (slot, tf) => {
        if (this.#othersTfs[slot] === 0) this.#othersSlots[othersCount++] = slot;
        this.#othersTfs[slot]! += tf;
      });
    }
    const othersFactor = othersWeights[clause.othersMatch] * this.#factor(Math.max(df, othersCount));
    for (let other = 0; other < othersCount; other += 1) {
      const slot = this.#othersSlots[other]!;
      const tf = this.#othersTfs[slot]!;
      const more = (othersFactor * tf) / (k1 + tf) - this.#given[slot]!;
      if (more > 0) this.#give(slot, more);
      this.#othersTfs[slot] = 0;
    }
    for (const slot of givenSlots) this.#given[slot] = 0;
    return { ...clause, factor, othersFactor };
  }

  #factor(df: number): number {
    const count = this.#index.documentCount;
    return (this.#options.k1 + 1) * Math.log(1 + (count - df + 0.5) / (df + 0.5));
  }

  #give(slot: number, score: number): void {
    if (this.#scores[slot] === 0) this.#slots[this.#count++] = slot;
    this.#scores[slot]! += score;
  }

  /** Calls `take` with each document that contains `term` and its tf', if that is above 0. */
  #eachTf(term: number, take: (slot: number, tf: number) => void): void {
    const { postings, lengths } = this.#index;
    const { keys, tfs } = postings;
    const bases = this.#bases;
    const slopes = this.#slopes;
    let at = postings.starts[term]!;
    const end = at + postings.lengths[term]!;
    while (at < end) {
      const slot = keys[at]! >>> fieldBits;
      let tf = 0;
      do {
        const key = keys[at]!;
        tf += tfs[at]! / (bases[key & fieldMask]! + slopes[key & fieldMask]! * lengths[key]!);
        at += 1;
      } while (at < end && keys[at]! >>> fieldBits === slot);
      if (tf > 0) take(slot, tf);
    }
  }

  #explain(slot: number, clauses: readonly WeighedClause[]): readonly SearchReason[] {
    const reasons = clauses.flatMap((clause) => {
      const own = this.#reasons(slot, clause, clause.match, ownTerms(clause), clause.factor);
      const others = this.#reasons(slot, clause, clause.othersMatch, clause.others, clause.othersFactor);
      return sum(others) > sum(own) ? others : own;
    });
    return reasons.sort((a, b) => b.contribution - a.contribution);
  }

  #reasons(
    slot: number,
    clause: Clause,
    match: SearchMatch,
    terms: readonly number[],
    factor: number,
  ): SearchReason[] {
    const { postings, lengths, dictionary } = this.#index;
    const parts: { term: string; field: SearchReason["field"]; tf: number }[] = [];
    const taught = match === "word" ? this.#taughtPart(slot, clause.termText) : undefined;
    if (taught !== undefined) parts.push({ term: clause.termText, ...taught });
    let tf = taught?.tf ?? 0;
    for (const term of terms) {
      const end = postings.starts[term]! + postings.lengths[term]!;
      for (let at = postings.find(term, slot); at < end; at += 1) {
        const key = postings.keys[at]!;
        if (key >>> fieldBits !== slot) break;
        const field = key & fieldMask;
        const part = postings.tfs[at]! / (this.#bases[field]! + this.#slopes[field]! * lengths[key]!);
        const text = withoutSign(dictionary.termText(term));
        if (part > 0) parts.push({ term: text, field: searchFields[field]!, tf: part });
        tf += part;
      }
    }
    return parts.map((part) => ({
      word: clause.word,
      term: part.term,
      match,
      field: part.field,
      contribution: (factor * part.tf) / (this.#options.k1 + tf),
    }));
  }

  /** The taught words that count for the document at `slot`; undefined without. */
  #taughtPart(slot: number, term: string): { readonly field: TaughtField; readonly tf: number } | undefined {
    const id = this.#index.idOf(slot);
    let most: { field: TaughtField; tf: number } | undefined;
    for (const words of this.#taught) {
      const tf = words.tfOf(term, id);
      if (tf > (most?.tf ?? 0)) most = { field: words.field, tf };
    }
    return most;
  }
}

function ownTerms(clause: Clause): readonly number[] {
  return clause.term === undefined ? [] : [clause.term];
}

function sum(reasons: readonly SearchReason[]): number {
  return reasons.reduce((total, { contribution }) => total + contribution, 0);
}
