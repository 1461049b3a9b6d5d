/**
 * Search over tools: an in-memory index that supports additions, removals and
 * searches in any order.
 *
 * It never does I/O, never reads a clock and never keeps a document: a search
 * returns ids, scores and reasons. Indexes of the same documents return the same
 * results, independent of their history.
 */

import { bestHits } from "./best-hits.ts";
import { clausesOf } from "./clauses.ts";
import type { SearchDocument } from "./document.ts";
import { InvertedIndex } from "./inverted-index.ts";
import { resolveSearchOptions, type SearchOptions, searchLimits } from "./options.ts";
import { parseQuery } from "./parse-query.ts";
import { Ranker, type SearchReason } from "./ranker.ts";
import { SearchError } from "./search-error.ts";
import type { TaughtWords } from "./taught-words.ts";

/** A document that matches a query. */
export interface SearchHit {
  readonly id: string;
  /** Above 0; comparable within one search only. */
  readonly score: number;
  /** The parts of the score, the greatest first. Their sum is the score, except for rounding. */
  readonly why: readonly SearchReason[];
}

/** Options of one search. */
export interface SearchRequest {
  /** Maximum number of hits returned, from 1 to 1,000. @default 20 */
  readonly limit?: number;
  /** Whether a document may be returned. Called before the limit applies, and only for hits that can be among the results. */
  readonly filter?: (id: string) => boolean;
  /** Words that uses taught tools, besides those of their definitions. A word of a tool in several of them counts once, where it weighs most. @default none */
  readonly taught?: readonly TaughtWords[];
}

/** A search index over tools. */
export class ToolSearch {
  readonly #index = new InvertedIndex();
  readonly #ranker: Ranker;

  /** @throws {SearchError} `SEARCH_OPTION_INVALID` for a number out of its range. */
  constructor(options?: SearchOptions) {
    this.#ranker = new Ranker(this.#index, resolveSearchOptions(options));
  }

  /** Number of documents in the index. */
  get size(): number {
    return this.#index.documentCount;
  }

  /** Whether a document with this id is in the index. */
  has(id: string): boolean {
    return this.#index.has(id);
  }

  /**
   * Adds a document. Replaces the document with the same id, if any.
   * Text past the limits of `searchLimits` is not indexed.
   *
   * @throws {SearchError} `SEARCH_INDEX_FULL` past 1,000,000 documents.
   */
  add(document: SearchDocument): void {
    this.#index.add(document);
  }

  /** Removes the document with this id. Returns `false` if there is none. */
  remove(id: string): boolean {
    return this.#index.remove(id);
  }

  /**
   * Returns the documents with at least one word of `query`, ranked by BM25F.
   *
   * The last word also finds words that begin with it (`gith` finds `github`),
   * unless a character follows it. A word that no document has finds words one
   * typing error away. Stop words are used only if the query has nothing else. A
   * query without words finds nothing.
   *
   * @returns hits with a score above 0, highest first; equal scores in the order of their ids.
   * @throws {SearchError} `SEARCH_QUERY_TOO_LONG` past 1,000 words or 32,768 characters,
   *   `SEARCH_LIMIT_INVALID` for a limit that is not an integer from 1 to 1,000.
   */
  search(query: string, { limit = 20, filter, taught = [] }: SearchRequest = {}): readonly SearchHit[] {
    if (!Number.isInteger(limit) || limit < 1 || limit > searchLimits.resultsMax) {
      throw new SearchError(
        "SEARCH_LIMIT_INVALID",
        `Cannot return "${limit}" results: the limit must be an integer from 1 to ${searchLimits.resultsMax}`,
      );
    }
    const index = this.#index;
    const words = parseQuery(query);
    const isTaught = (term: string): boolean => taught.some((one) => one.has(term));
    const ranking = this.#ranker.rank(clausesOf(query, words, index, isTaught), taught);
    const idOf = (slot: number): string => index.idOf(slot);
    const accepts = filter === undefined ? () => true : (slot: number) => filter(idOf(slot));
    return bestHits(ranking, limit, idOf, accepts).map((slot) => ({
      id: idOf(slot),
      score: ranking.scores[slot]!,
      why: ranking.explain(slot),
    }));
  }
}

/**
 * Creates an empty search index.
 *
 * @throws {SearchError} `SEARCH_OPTION_INVALID` for a number out of its range.
 */
export function createToolSearch(options?: SearchOptions): ToolSearch {
  return new ToolSearch(options);
}
