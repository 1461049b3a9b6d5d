/** Selects records of the audit trail by the options of `toolcrib audit`. Pure. */

import { type AuditEvents, type AuditRecord, type AuditStore, clientIdentityOf } from "@toolcrib/store";
import { InvalidArgumentError } from "commander";

/** What `AuditStore.list` selects by. */
type TrailQuery = NonNullable<Parameters<AuditStore["list"]>[0]>;

/** Options of the commands that show records. */
export interface AuditFlags {
  readonly client?: string;
  /** The whole issuer, or a local one without `toolcrib:`. */
  readonly issuer?: string;
  readonly subject?: string;
  readonly tool?: string;
  readonly outcome?: string;
  readonly type?: readonly (keyof AuditEvents)[];
  /** Start of the time range. */
  readonly since?: AuditTime;
  /** End of the time range, exclusive. */
  readonly until?: AuditTime;
  readonly limit: number;
}

/** A time: milliseconds before now, or since the epoch. */
export type AuditTime = { readonly agoMs: number } | { readonly at: number };

/** Outcomes of a call. */
export const auditOutcomes = ["ok", "tool_error", "failed", "cancelled", "unknown", "denied"] as const;

const unitsMs: { readonly [unit: string]: number } = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Parses `--since` and `--until`: `90s`, `15m`, `1h`, `7d`, `2w`, or a date and time (RFC 3339; a date alone means midnight UTC). */
export function parseSince(text: string): AuditTime {
  const [, number, unit] = /^(\d{1,6})\s*([smhdw])$/.exec(text.trim()) ?? [];
  if (number !== undefined && unit !== undefined) return { agoMs: Number(number) * (unitsMs[unit] ?? 0) };
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at)) return { at };
  throw new InvalidArgumentError("It must be a time such as 15m, 1h, 7d, or 2026-01-31T12:00:00Z.");
}

/** Converts the options to a query of the store. */
export function toQuery(flags: Omit<AuditFlags, "limit">, now: number): TrailQuery {
  const { since, until, issuer, ...query } = flags;
  return {
    ...query,
    ...(issuer === undefined ? {} : { issuer: toIssuer(issuer) }),
    since: toTime(since, now),
    until: toTime(until, now),
  };
}

function toTime(time: AuditTime | undefined, now: number): number | undefined {
  if (time === undefined) return undefined;
  return "at" in time ? time.at : now - time.agoMs;
}

/** Returns the issuer that a person names: `token` is `toolcrib:token`. An issuer of another program is a URL. */
function toIssuer(text: string): string {
  return text.includes(":") ? text : `toolcrib:${text}`;
}

/** Whether `record` matches `query`, with the same rules as `AuditQueries.list`; for new records. */
export function isWanted(record: AuditRecord, query: TrailQuery): boolean {
  const { client, tool, outcome } = record.data as {
    readonly client?: { readonly name?: string };
    readonly tool?: string;
    readonly outcome?: string;
  };
  if (query.type !== undefined && !query.type.includes(record.type)) return false;
  if (query.since !== undefined && Date.parse(record.time) < query.since) return false;
  if (query.until !== undefined && Date.parse(record.time) >= query.until) return false;
  if (query.client !== undefined && client?.name !== query.client) return false;
  const identity =
    query.issuer === undefined && query.subject === undefined ? undefined : clientIdentityOf(client);
  if (query.issuer !== undefined && identity?.issuer !== query.issuer) return false;
  if (query.subject !== undefined && identity?.subject !== query.subject) return false;
  if (query.outcome !== undefined && outcome !== query.outcome) return false;
  return query.tool === undefined || (tool !== undefined && toPattern(query.tool).test(tool));
}

/** Converts a pattern in which `*` matches any characters and `?` matches one. */
function toPattern(glob: string): RegExp {
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*+/g, ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "su");
}
