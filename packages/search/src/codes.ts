/** A query has more than 1,000 terms or more than 32,768 characters. */
export const searchQueryTooLong = "SEARCH_QUERY_TOO_LONG";
/** The number of results asked for is not a whole number from 1 to 1,000. */
export const searchLimitInvalid = "SEARCH_LIMIT_INVALID";
/** A parameter of the ranking (k1, b or a boost) is not a number within its range. */
export const searchOptionInvalid = "SEARCH_OPTION_INVALID";
/** The index holds as many documents as it may and cannot take another. */
export const searchIndexFull = "SEARCH_INDEX_FULL";
