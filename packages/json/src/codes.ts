/** Codes of this package's errors and findings, each with its meaning. */
export const jsonCodes = {
  JSON_INVALID: "A text is not JSON.",
  JSON_TOO_LARGE: "A JSON text is longer than its limit.",
  JSON_TOO_DEEP: "A JSON text nests deeper than its limit.",
  JSON_TOO_MANY_VALUES: "A JSON text has more values than its limit.",
  JSON_NOT_SERIALIZABLE:
    "A value cannot be written as JSON (a function, a date, a cycle, a number that is not finite).",
} as const;

/** A key of `jsonCodes`. */
export type JsonCode = keyof typeof jsonCodes;
