/** Codes of this package's errors and findings, each with its meaning. */
export const learningCodes = {
  LEARNING_FILE_UNREADABLE:
    "A file of learned words cannot be read or is damaged. Its words do not count, and it is not replaced.",
  LEARNING_UNWRITABLE: "Learned words cannot be stored or forgotten. Search works without them.",
} as const;

/** A key of `learningCodes`. */
export type LearningCode = keyof typeof learningCodes;
