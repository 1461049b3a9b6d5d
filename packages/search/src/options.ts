/**
 * The fields of a document, the parameters of the ranking and the limits of the
 * index, with all defaults.
 */

import { SearchError } from "./search-error.ts";

/** The fields of a document, in the order in which explanations list them. */
export const searchFields = [
  "name",
  "title",
  "namespace",
  "description",
  "tags",
  "parameterNames",
  "parameterDescriptions",
  "examples",
] as const;

/** A field of a document; the parameter fields are derived from its `inputSchema`. */
export type SearchField = (typeof searchFields)[number];

/** Weight and length normalization of a field. */
export interface SearchFieldOptions {
  /** Weight of an occurrence in this field, from 0 (ignored). */
  readonly boost?: number;
  /** Length normalization from 0 (length is ignored) to 1. @default 0.75 */
  readonly b?: number;
}

/** The parameters of the ranking. */
export interface SearchOptions {
  /** Saturation of repeated occurrences, from 0 (only the first counts). @default 1.2 */
  readonly k1?: number;
  /**
   * Options by field; an absent field keeps its default. The default boosts are name 3,
   * title 2, namespace 2, description 1, tags 2, parameterNames 0.8,
   * parameterDescriptions 0.4 and examples 0.4.
   */
  readonly fields?: { readonly [field in SearchField]?: SearchFieldOptions };
}

/** `SearchOptions` with all defaults; `boosts` and `bs` are in the order of `searchFields`. */
export interface ResolvedSearchOptions {
  readonly k1: number;
  readonly boosts: readonly number[];
  readonly bs: readonly number[];
}

/** Limits of the index. Text past a limit is not indexed; queries past one are refused. */
export const searchLimits = {
  /** Words of a query, repetitions included. */
  queryMaxTerms: 1_000,
  /** UTF-16 units of a query. */
  queryMaxChars: 32_768,
  /** Results of a search. */
  resultsMax: 1_000,
  /** UTF-16 units of one field of a document (all tags together, all parameter names together, all examples together, …). */
  fieldMaxChars: 16_384,
  /** Characters of a word. The rest of a longer word is not indexed. */
  wordMaxChars: 64,
  /** Parameters read from an input schema. */
  parametersMax: 500,
  /** Nesting of an input schema; the parameters of the tool itself are at depth 1. */
  schemaMaxDepth: 10,
  /** Documents of an index. */
  documentsMax: 1_000_000,
} as const;

const defaultBoosts: { readonly [field in SearchField]: number } = {
  name: 3,
  title: 2,
  namespace: 2,
  description: 1,
  tags: 2,
  parameterNames: 0.8,
  parameterDescriptions: 0.4,
  examples: 0.4,
};

/**
 * Resolves `options` to complete options.
 *
 * @throws {SearchError} `SEARCH_OPTION_INVALID` for a number out of its range.
 */
export function resolveSearchOptions(options: SearchOptions = {}): ResolvedSearchOptions {
  const fields = options.fields ?? {};
  return {
    k1: inRange("k1", options.k1 ?? 1.2, 1_000),
    boosts: searchFields.map((field) =>
      inRange(`fields.${field}.boost`, fields[field]?.boost ?? defaultBoosts[field], 1_000),
    ),
    bs: searchFields.map((field) => inRange(`fields.${field}.b`, fields[field]?.b ?? 0.75, 1)),
  };
}

function inRange(path: string, value: number, max: number): number {
  if (value >= 0 && value <= max) return value;
  throw new SearchError(
    "SEARCH_OPTION_INVALID",
    `Cannot create a search index with ${path} "${value}": it must be a number from 0 to ${max}`,
  );
}
