/** Which records of the audit trail are wanted, as the options of `toolcrib audit` say it. Pure. */

import type { AuditListQuery, AuditRecord } from "@toolcrib/store";
import { InvalidArgumentError } from "commander";

/** Options of the commands that show records. */
export interface AuditFlags {
  readonly client?: string;
  readonly tool?: string;
  readonly outcome?: string;
  /** Milliseconds before now, or since the epoch. */
  readonly since?: AuditTime;
  readonly limit: number;
}

/** A moment, relative to now or not. */
export type AuditTime = { readonly agoMs: number } | { readonly at: number };

/** What a call can come to. */
export const auditOutcomes: readonly string[] = ["ok", "tool_error", "failed", "cancelled", "denied"];

const unitsMs: { readonly [unit: string]: number } = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Read `--since`: `90s`, `15m`, `1h`, `7d`, `2w`, or a date and time (RFC 3339; a date alone is its midnight UTC). */
export function parseSince(text: string): AuditTime {
  const [, number, unit] = /^(\d{1,6})\s*([smhdw])$/.exec(text.trim()) ?? [];
  if (number !== undefined && unit !== undefined) return { agoMs: Number(number) * (unitsMs[unit] ?? 0) };
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at)) return { at };
  throw new InvalidArgumentError("It is a time such as 15m, 1h, 7d, or 2026-01-31T12:00:00Z.");
}

/** Read `--limit`. */
export function parseAuditLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit;
  throw new InvalidArgumentError("It is a whole number from 1 to 1000.");
}

/** The options as a query of the store. */
export function toQuery(flags: AuditFlags, now: number): AuditListQuery {
  const { since, ...query } = flags;
  return { ...query, since: since === undefined ? undefined : "at" in since ? since.at : now - since.agoMs };
}

/** Whether `record` meets the conditions of `query`, as `AuditQueries.list` would say; for records as they come. */
export function isWanted(record: AuditRecord, query: AuditListQuery): boolean {
  const { client, tool, outcome } = record.data as {
    readonly client?: { readonly name?: string };
    readonly tool?: string;
    readonly outcome?: string;
  };
  if (query.since !== undefined && Date.parse(record.time) < query.since) return false;
  if (query.client !== undefined && client?.name !== query.client) return false;
  if (query.outcome !== undefined && outcome !== query.outcome) return false;
  return query.tool === undefined || (tool !== undefined && toPattern(query.tool).test(tool));
}

/** `*` stands for any characters, `?` for one. */
function toPattern(glob: string): RegExp {
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*+/g, ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "su");
}
