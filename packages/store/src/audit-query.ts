/**
 * Queries of the audit trail and their limits, checked in one place and turned
 * into conditions on the columns of the index. No I/O.
 */

import type { AuditEventType, AuditPosition, AuditRecord } from "./audit-event.ts";
import { StoreError } from "./store-error.ts";

/** Conditions of `list`. A record must meet all of them. */
export interface AuditListQuery {
  /** Maximum number of records returned, 1 to 1,000. @default 50 */
  readonly limit?: number;
  /** Not before this many milliseconds since the epoch. */
  readonly since?: number;
  /** Before this many milliseconds since the epoch. */
  readonly until?: number;
  /** Older than this record in the order of the list: the last record of the previous page. */
  readonly before?: AuditPosition;
  /** Identity name of the client. Several clients can have one name; `issuer` and `subject` identify one. */
  readonly client?: string;
  /** Authority that authenticated the client, such as `toolcrib:token` or the URL of an identity provider. */
  readonly issuer?: string;
  /** Id of the client at its issuer. */
  readonly subject?: string;
  /** Tool id; `*` stands for any characters and `?` for one. At most 200 characters and 8 `*`. */
  readonly tool?: string;
  /** `ok`, `tool_error`, `failed`, `cancelled`, `unknown` or `denied`. Intents have no outcome. */
  readonly outcome?: string;
  readonly type?: AuditEventType | readonly AuditEventType[];
  /** Start of the call id, at most 200 characters. */
  readonly callId?: string;
}

/** A call with its inner calls. */
export interface AuditCall {
  readonly callId: string;
  /** Absent for a denied call and for one whose segment was deleted. */
  readonly intent?: AuditRecord<"call.intent">;
  /** Absent while the call runs. After a crash the next start completes it with the outcome `unknown`. */
  readonly completion?: AuditRecord<"call.completed" | "call.denied">;
  /** Its inner calls, in the order in which they began. */
  readonly calls: readonly AuditCall[];
  /** Present when inner calls were omitted: below 32 levels or beyond 1,000 calls. */
  readonly truncated?: true;
}

/** A defect of the trail, found while it was indexed. Defective lines are skipped. */
export interface AuditProblem {
  /**
   * `unreadable`: a line is not a record (torn by a crash, or edited). `gap`:
   * sequence numbers are missing or repeated before this record. `unfinished`:
   * the last line has no end: it is being written, or its writer crashed.
   */
  readonly kind: "unreadable" | "gap" | "unfinished";
  /** File name of the segment. */
  readonly segment: string;
  /** Offset in the segment, in bytes. */
  readonly position: number;
  /** Length in bytes. */
  readonly bytes: number;
}

/** Maximum number of problems in one result. */
export const problemMax = 1000;
/** Limits of the tree that `show` returns. */
export const treeMaxDepth = 32;
export const treeMaxCalls = 1000;

/** A checked query as SQL: the conditions, their parameters in order, and the limit. */
export interface ListSql {
  readonly where: string;
  readonly parameters: readonly (string | number)[];
  readonly limit: number;
}

/**
 * Checks `query` and translates it to SQL conditions on `audit_event`.
 *
 * @throws {StoreError} `AUDIT_QUERY_INVALID`.
 */
export function toListSql(query: AuditListQuery): ListSql {
  const limit = checkLimit(query.limit ?? 50);
  const conditions: string[] = [];
  const parameters: (string | number)[] = [];
  const add = (condition: string, ...values: readonly (string | number)[]) => {
    conditions.push(condition);
    parameters.push(...values);
  };
  if (query.since !== undefined) add("time >= ?", checkTime("since", query.since));
  if (query.until !== undefined) add("time < ?", checkTime("until", query.until));
  if (query.before !== undefined) {
    const { time, writer, sequence } = query.before;
    add("(time, writer, sequence) < (?, ?, ?)", ...checkPosition(Date.parse(time), writer, sequence));
  }
  if (query.client !== undefined) add("client = ?", checkText("client", query.client));
  if (query.issuer !== undefined) add("issuer = ?", checkText("issuer", query.issuer));
  if (query.subject !== undefined) add("subject = ?", checkText("subject", query.subject));
  if (query.tool !== undefined) add("tool GLOB ?", toGlob(query.tool));
  if (query.outcome !== undefined) add("outcome = ?", checkText("outcome", query.outcome));
  if (query.type !== undefined) {
    const types = typeof query.type === "string" ? [query.type] : query.type.slice(0, 100);
    add(`type IN (${types.map(() => "?").join(", ")})`, ...types.map((type) => checkText("type", type)));
  }
  if (query.callId !== undefined) {
    // U+10FFFF sorts after every other character in UTF-8, which is how SQLite compares texts.
    add("call >= ? AND call < ?", checkText("callId", query.callId), `${query.callId}\u{10ffff}`);
  }
  return { where: conditions.length === 0 ? "1" : conditions.join(" AND "), parameters, limit };
}

/**
 * Returns `limit` when it is a whole number from `min` to 1,000.
 *
 * @throws {StoreError} `AUDIT_QUERY_INVALID`.
 */
export function checkLimit(limit: number, min = 1): number {
  if (Number.isInteger(limit) && limit >= min && limit <= 1000) return limit;
  throw invalid(`Cannot return ${limit} audit records; a whole number from ${min} to 1000 is allowed`);
}

function checkTime(name: string, value: number): number {
  if (Number.isFinite(value)) return value;
  throw invalid(`Audit query "${name}" is not a number of milliseconds since the epoch`);
}

function checkPosition(time: number, writer: string, sequence: string): readonly number[] {
  const position = [time, Number(writer), Number(sequence)];
  if (position.every(Number.isSafeInteger)) return position;
  throw invalid('Audit query "before" is not the time, writer and sequence of a record');
}

function checkText(name: string, value: string): string {
  if (value.length <= 200) return value;
  throw invalid(`Audit query "${name}" has ${value.length} characters; at most 200 are allowed`);
}

function toGlob(pattern: string): string {
  checkText("tool", pattern);
  const merged = pattern.replace(/\*+/g, "*");
  if (merged.split("*").length > 9) {
    throw invalid('Audit query "tool" has more than 8 "*"; at most 8 are allowed');
  }
  // A bracket is an ordinary character here. In SQLite it starts a set.
  return merged.replaceAll("[", "[[]");
}

function invalid(message: string): StoreError {
  return new StoreError("AUDIT_QUERY_INVALID", message);
}
