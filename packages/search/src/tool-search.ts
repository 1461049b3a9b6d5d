/**
 * Search over tools: an index in memory that is changed one tool at a time and
 * searched in between.
 *
 * It never does I/O, never reads a clock and never keeps a document: what a
 * search returns are ids, scores and reasons. An index of the same documents
 * gives the same results, however it came about.
 */

import { bestHits } from "./best-hits.ts";
import { clausesOf } from "./clauses.ts";
import type { SearchDocument } from "./document.ts";
import { InvertedIndex } from "./inverted-index.ts";
import { resolveSearchOptions, type SearchOptions, searchLimits } from "./options.ts";
import { parseQuery } from "./parse-query.ts";
import { Ranker, type SearchReason } from "./ranker.ts";
import { SearchError } from "./search-error.ts";

/** A document that answers a query. */
export interface SearchHit {
  readonly id: string;
  /** Above 0; comparable within one search only. */
  readonly score: number;
  /** The parts of the score, the greatest first; they add up to it but for rounding. */
  readonly why: readonly SearchReason[];
}

/** How to search. */
export interface SearchRequest {
  /** The most hits returned, from 1 to 1,000. @default 20 */
  readonly limit?: number;
  /** Whether a document may be returned. Asked before the limit applies, and not for hopeless hits. */
  readonly filter?: (id: string) => boolean;
}

/** A search index over tools. */
export class ToolSearch {
  readonly #index = new InvertedIndex();
  readonly #ranker: Ranker;

  /** @throws {SearchError} `SEARCH_OPTION_INVALID` for a number out of its range. */
  constructor(options?: SearchOptions) {
    this.#ranker = new Ranker(this.#index, resolveSearchOptions(options));
  }

  /** How many documents the index has. */
  get size(): number {
    return this.#index.documentCount;
  }

  /** Whether a document with this id is in the index. */
  has(id: string): boolean {
    return this.#index.has(id);
  }

  /**
   * Add a document, in place of the one with the same id if there is one.
   * Text past the limits of `searchLimits` is not indexed.
   *
   * @throws {SearchError} `SEARCH_INDEX_FULL` past 1,000,000 documents.
   */
  add(document: SearchDocument): void {
    this.#index.add(document);
  }

  /** Remove the document with this id; `false` when there is none. */
  remove(id: string): boolean {
    return this.#index.remove(id);
  }

  /**
   * The documents that have at least one word of `query`, by BM25F.
   *
   * The last word also finds words that it begins (`gith` finds `github`)
   * unless something follows it, and a word that no document has finds words
   * one typing error away. Stop words are searched for only when the query has
   * nothing else. A query without words finds nothing.
   *
   * @returns hits with a score above 0, highest first; equal scores in the order of their ids.
   * @throws {SearchError} `SEARCH_QUERY_TOO_LONG` past 1,000 words or 32,768 characters,
   *   `SEARCH_LIMIT_INVALID` for a limit that is not a whole number from 1 to 1,000.
   */
  search(query: string, { limit = 20, filter }: SearchRequest = {}): readonly SearchHit[] {
    if (!Number.isInteger(limit) || limit < 1 || limit > searchLimits.resultsMax) {
      throw new SearchError(
        "SEARCH_LIMIT_INVALID",
        `Cannot return "${limit}" results: the limit must be a whole number from 1 to ${searchLimits.resultsMax}`,
      );
    }
    const index = this.#index;
    const words = parseQuery(query);
    const ranking = this.#ranker.rank(clausesOf(query, words, index));
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
 * An empty search index.
 *
 * @throws {SearchError} `SEARCH_OPTION_INVALID` for a number out of its range.
 */
export function createToolSearch(options?: SearchOptions): ToolSearch {
  return new ToolSearch(options);
}
