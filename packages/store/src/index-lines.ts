/**
 * Indexes the lines of a segment. A line that is not a record is stored as a problem
 * and skipped. A gap in the sequence is stored as a problem; its record is indexed.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { clientIdentityOf } from "./audit-client.ts";
import type { AuditRecord } from "./audit-event.ts";
import type { IndexStatements, SegmentRow } from "./index-statements.ts";
import { parseRecord } from "./parse-record.ts";
import { lineFeed } from "./segment-end.ts";

/** Maximum number of UTF-16 units of a text column. */
const columnMaxLength = 300;

/**
 * Index the lines of `chunk`, which starts at the indexed position of `row`, and move that position.
 *
 * @param takeUnfinished whether the rest after the last line feed is indexed as a line.
 * @returns the number of indexed bytes of `chunk`.
 */
export function indexLines(
  statements: IndexStatements,
  row: SegmentRow,
  chunk: Buffer,
  { takeUnfinished }: { readonly takeUnfinished: boolean },
): number {
  let lineStart = 0;
  let lastSequence = row.last_sequence;
  let firstTime = row.first_time;
  let lastTime = row.last_time;
  while (lineStart < chunk.length) {
    let lineEnd = chunk.indexOf(lineFeed, lineStart);
    if (lineEnd === -1) {
      if (!takeUnfinished) break;
      lineEnd = chunk.length;
    }
    const position = row.position + lineStart;
    const bytes = lineEnd - lineStart;
    const record = parseRecord(chunk.toString("utf8", lineStart, lineEnd));
    if (record === undefined) {
      statements.addProblem.run(row.id, position, bytes, "unreadable");
    } else {
      const sequence = Number(record.sequence);
      if (lastSequence !== null && sequence !== lastSequence + 1) {
        statements.addProblem.run(row.id, position, bytes, "gap");
      }
      const time = Date.parse(record.time);
      addEvent(statements, record, [time, Number(record.writer), sequence, row.id, position, bytes]);
      lastSequence = sequence;
      firstTime = Math.min(firstTime, time);
      lastTime = Math.max(lastTime, time);
    }
    lineStart = lineEnd + 1;
  }
  const consumed = Math.min(lineStart, chunk.length);
  statements.moveSegment.run(row.position + consumed, lastSequence, firstTime, lastTime, row.id);
  return consumed;
}

function addEvent(statements: IndexStatements, record: AuditRecord, place: readonly number[]): void {
  // A file can contain types and data that this version does not know: only text fields are indexed.
  const data = record.data as unknown as JsonObject;
  const client = data["client"];
  const identity = clientIdentityOf(client);
  statements.addEvent.run(
    ...place,
    text(record.type) ?? "",
    text(data["callId"]),
    text(data["parentId"]),
    text(isJsonObject(client) ? client["name"] : undefined),
    text(identity?.issuer),
    text(identity?.subject),
    text(data["tool"]),
    text(data["outcome"]),
  );
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value.slice(0, columnMaxLength) : null;
}
