/** The names of the formats of `toolcrib audit export`, for its definition, which loads nothing else. */

export const exportFormats = ["jsonl", "csv", "otlp-json"] as const;

/** Name of a format. */
export type ExportFormat = (typeof exportFormats)[number];
