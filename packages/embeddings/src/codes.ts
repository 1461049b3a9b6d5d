/** Codes of this package's errors and findings, each with its meaning. */
export const embeddingsCodes = {
  EMBEDDINGS_UNAVAILABLE:
    "The embeddings endpoint cannot be reached or refused a request. Search goes by words meanwhile.",
  EMBEDDINGS_ANSWER_INVALID:
    "The embeddings endpoint answered with something other than one vector for each text. Search goes by words meanwhile.",
  EMBEDDINGS_FILE_UNREADABLE: "A file of kept vectors cannot be read or is damaged. It is fetched again.",
  EMBEDDINGS_UNWRITABLE: "Vectors of definitions cannot be stored. They are fetched again after a restart.",
  EMBEDDINGS_TOO_MANY: "There are more definitions than vectors are kept. Search finds the others by words.",
} as const;

/** A key of `embeddingsCodes`. */
export type EmbeddingsCode = keyof typeof embeddingsCodes;
