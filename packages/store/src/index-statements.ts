/** The SQL of the index, prepared once for each open database. */

import type { DatabaseSync, StatementSync } from "node:sqlite";

/** Progress of indexing a segment. */
export interface SegmentRow {
  readonly id: number;
  readonly name: string;
  /** Number of indexed bytes. */
  readonly position: number;
  /** Sequence number of the last record before `position`; null when it is unknown. */
  readonly last_sequence: number | null;
  /** Range of the times of the indexed records, in milliseconds since the epoch. */
  readonly first_time: number;
  readonly last_time: number;
}

/** Location of a record. */
export interface PointerRow {
  readonly time: number;
  readonly writer: number;
  readonly sequence: number;
  readonly name: string;
  readonly position: number;
  readonly bytes: number;
}

/** The columns of `PointerRow`, from an event and its segment. */
export const pointerColumns = `
  audit_event.time AS time, writer, sequence, name,
  audit_event.position AS position, audit_event.bytes AS bytes`;

/** The prepared statements. */
export interface IndexStatements {
  readonly segments: StatementSync;
  readonly segment: StatementSync;
  readonly addSegment: StatementSync;
  readonly moveSegment: StatementSync;
  readonly deleteSegment: StatementSync;
  readonly addEvent: StatementSync;
  readonly deleteEvents: StatementSync;
  readonly addProblem: StatementSync;
  readonly deleteProblems: StatementSync;
  readonly problems: StatementSync;
  readonly callRecords: StatementSync;
  readonly innerCalls: StatementSync;
  readonly unfinished: StatementSync;
}

/** Maximum number of rows that `deleteEvents` deletes at a time. */
export const deleteSliceRows = 1000;

/** Prepares everything for `database`. */
export function prepareStatements(database: DatabaseSync): IndexStatements {
  return {
    segments: database.prepare("SELECT * FROM audit_segment ORDER BY name"),
    segment: database.prepare("SELECT * FROM audit_segment WHERE name = ?"),
    addSegment: database.prepare(
      `INSERT INTO audit_segment (name, position, last_sequence, first_time, last_time)
       VALUES (?, 0, ?, 9007199254740991, 0)`,
    ),
    moveSegment: database.prepare(
      "UPDATE audit_segment SET position = ?, last_sequence = ?, first_time = ?, last_time = ? WHERE id = ?",
    ),
    deleteSegment: database.prepare("DELETE FROM audit_segment WHERE id = ?"),
    addEvent: database.prepare(
      "INSERT OR REPLACE INTO audit_event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    deleteEvents: database.prepare(
      `DELETE FROM audit_event WHERE (time, writer, sequence) IN (
         SELECT time, writer, sequence FROM audit_event
         WHERE time BETWEEN ? AND ? AND segment = ? LIMIT ${deleteSliceRows})`,
    ),
    addProblem: database.prepare("INSERT OR IGNORE INTO audit_problem VALUES (?, ?, ?, ?)"),
    deleteProblems: database.prepare("DELETE FROM audit_problem WHERE segment = ?"),
    problems: database.prepare(
      `SELECT kind, name AS segment, audit_problem.position AS position, bytes
       FROM audit_problem JOIN audit_segment ON audit_segment.id = audit_problem.segment
       ORDER BY name, audit_problem.position LIMIT ?`,
    ),
    callRecords: database.prepare(
      `SELECT ${pointerColumns} FROM audit_event JOIN audit_segment ON audit_segment.id = audit_event.segment
       WHERE call = ? ORDER BY 1, 2, 3 LIMIT 100`,
    ),
    innerCalls: database.prepare(
      `SELECT call, min(time) AS began, min(sequence) AS number FROM audit_event
       WHERE parent = ? AND call IS NOT NULL GROUP BY call ORDER BY began, number LIMIT ?`,
    ),
    unfinished: database.prepare(
      `SELECT ${pointerColumns} FROM audit_event JOIN audit_segment ON audit_segment.id = audit_event.segment
       WHERE writer = ? AND sequence > ? AND sequence <= ? AND type = 'call.intent' AND NOT EXISTS
         (SELECT 1 FROM audit_event AS ended WHERE ended.call = audit_event.call AND ended.type = 'call.completed')
       ORDER BY sequence LIMIT ?`,
    ),
  };
}
