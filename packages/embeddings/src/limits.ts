/** The limits of embeddings, all together. None of them is a setting. */

const mebibyte = 1024 * 1024;

/** Limits of texts and requests. */
export const requestLimits = {
  /** Characters of the text of a definition; the rest is not sent. */
  definitionMaxChars: 4000,
  /** Characters of a query, in the same way. */
  queryMaxChars: 2000,
  /** Texts of one request. */
  batch: 32,
  /** Milliseconds for a request about definitions. */
  definitionsTimeoutMs: 60_000,
  /** Bytes of an answer about definitions, and about a query. */
  definitionsMaxBytes: 8 * mebibyte,
  queryMaxBytes: mebibyte / 2,
  /** Searches of all clients that wait for the vector of their query. A client gets at most half of the free ones. */
  queriesInFlight: 16,
  /** Queries whose vectors are kept in memory. */
  keptQueries: 256,
  /** Numbers of a vector. */
  vectorMaxLength: 8192,
} as const;

/** Limits of vectors of definitions. */
export const vectorLimits = {
  /** Definitions with a vector. */
  vectors: 20_000,
  /** Bytes of all vectors. */
  bytes: 64 * mebibyte,
  /** Files of other endpoints and models that stay in the home; the one that was written least recently is removed. */
  files: 4,
} as const;

/** Milliseconds of waits. */
export const waits = {
  /** After a change of the tools, until definitions are fetched, with those that change meanwhile. */
  changeMs: 1000,
  /** Between two requests about definitions. */
  batchMs: 20,
  /** After a failure of a request about definitions; each further one doubles it. */
  retryMs: 1000,
  retryMaxMs: 300_000,
  /** After a failure for a query, during which searches go by words at once, in the same way. */
  queryPauseMs: 1000,
  queryPauseMaxMs: 60_000,
  /** Between two writes while vectors arrive. */
  storeMs: 30_000,
  /** For the lock of the files. */
  lockMs: 5000,
} as const;
