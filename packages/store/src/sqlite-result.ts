/** Primary result codes of SQLite (https://sqlite.org/rescode.html). */
export const sqliteResult = {
  busy: 5,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
} as const;

/** Returns the primary result code of an error of node:sqlite; `undefined` for other errors. */
export function sqliteResultOf(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : undefined;
}
