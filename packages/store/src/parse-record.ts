/**
 * Parses a line of a segment. A line that is not a complete record (torn, edited,
 * or foreign) is `undefined`; the caller reports it.
 */

import { isJsonObject, JsonError, parseJson } from "@toolcrib/json";
import type { AuditRecord } from "./audit-event.ts";

/** Longest line in UTF-16 units. Writers stay far below it. */
export const lineMaxLength = 1024 * 1024;

/** Length of the shortest record. */
const lineMinLength =
  '{"specversion":"1.0","id":"","source":"","type":"","time":"2026-01-01T00:00:00.000Z","writer":"001","sequence":"0000000000000001","data":{}}'
    .length;

/** Returns the record in `line`, or `undefined` when it is not a record. Never throws. */
export function parseRecord(line: string): AuditRecord | undefined {
  // The parser takes microseconds to describe what is wrong with a line, and a file can have millions of short ones.
  if (line.length < lineMinLength || !line.startsWith("{")) return undefined;
  let value: unknown;
  try {
    value = parseJson(line, { maxLength: lineMaxLength });
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
  if (!isJsonObject(value) || value["specversion"] !== "1.0" || !isJsonObject(value["data"]))
    return undefined;
  const { id, source, type, time, writer, sequence } = value;
  if (typeof id !== "string" || typeof source !== "string" || typeof type !== "string") return undefined;
  if (typeof time !== "string" || !timePattern.test(time) || Number.isNaN(Date.parse(time))) return undefined;
  if (typeof writer !== "string" || !/^\d{3}$/.test(writer)) return undefined;
  if (typeof sequence !== "string" || !/^\d{16}$/.test(sequence)) return undefined;
  return value as unknown as AuditRecord;
}

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Compares records by time, then writer, then sequence; oldest first. */
export function compareRecords(a: AuditRecord, b: AuditRecord): number {
  if (a.time !== b.time) return a.time < b.time ? -1 : 1;
  if (a.writer !== b.writer) return a.writer < b.writer ? -1 : 1;
  if (a.sequence !== b.sequence) return a.sequence < b.sequence ? -1 : 1;
  return 0;
}
