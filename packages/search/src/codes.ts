/** Codes of this package's errors and findings, each with its meaning. */
export const searchCodes = {
  SEARCH_QUERY_TOO_LONG: "A query has more than 1,000 terms or more than 32,768 characters.",
  SEARCH_LIMIT_INVALID: "The requested number of results is not an integer from 1 to 1,000.",
  SEARCH_OPTION_INVALID: "A parameter of the ranking (k1, b or a boost) is not a number within its range.",
  SEARCH_INDEX_FULL: "The index contains the maximum number of documents and accepts no other.",
} as const;

/** A key of `searchCodes`. */
export type SearchCode = keyof typeof searchCodes;
