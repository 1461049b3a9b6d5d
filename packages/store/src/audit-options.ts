/** Behaviour of the audit trail, with every limit and its default in one place. */

import assert from "node:assert/strict";

/** When a record counts as written. */
export type AuditDurability = "process" | "fsync";

/** Behaviour of the audit trail. */
export interface AuditOptions {
  /** CloudEvents `source` of the records: a URI reference. @default "/toolcrib" */
  readonly source?: string;
  /**
   * `process`: handed to the operating system; survives a crash of the process.
   * `fsync`: on the disk; survives a crash of the machine, at the cost of one
   * `fdatasync` for each batch. @default "process"
   */
  readonly durability?: AuditDurability;
  /** Size in bytes at which a segment is complete and a new one starts. @default 67,108,864 (64 MiB) */
  readonly segmentMaxBytes?: number;
  /** Age of the first record at which a segment is complete and a new one starts. @default 604,800,000 (7 days) */
  readonly segmentMaxAgeMs?: number;
  /**
   * Maximum number of bytes of all segments of all writers together; beyond this limit the oldest
   * segments are deleted. The newest segment of each writer always stays.
   * @default 4,294,967,296 (4 GiB)
   */
  readonly retainMaxBytes?: number;
  /** A segment that was finished this long ago is deleted. A jump of the clock counts as at most one day. @default 34,560,000,000 (400 days) */
  readonly retainMaxAgeMs?: number;
  /**
   * Bytes of records that the calls of one client may cause in 24 hours, counted in UTF-16
   * units; beyond this limit its calls are refused. @default half of `retainMaxBytes`
   */
  readonly clientMaxBytesPerDay?: number;
  /** Longest record in UTF-16 units. Longer ones lose their preview, then the ends of their texts. @default 65,536 */
  readonly recordMaxLength?: number;
  /**
   * Maximum number of UTF-16 units of pending records. Beyond this limit intents are
   * refused and other records are discarded, counted and reported. @default 33,554,432
   */
  readonly pendingMaxLength?: number;
}

/** `AuditOptions` with defaults. */
export type ResolvedAuditOptions = Required<AuditOptions>;

const retainMaxBytes = 4 * 1024 ** 3;
const dayMs = 24 * 60 * 60 * 1000;

/** Returns `options` with defaults. A limit that is not a positive integer is a programming error. */
export function resolveAuditOptions(options: AuditOptions = {}): ResolvedAuditOptions {
  const resolved: ResolvedAuditOptions = {
    source: options.source ?? "/toolcrib",
    durability: options.durability ?? "process",
    segmentMaxBytes: options.segmentMaxBytes ?? 64 * 1024 * 1024,
    segmentMaxAgeMs: options.segmentMaxAgeMs ?? 7 * dayMs,
    retainMaxBytes: options.retainMaxBytes ?? retainMaxBytes,
    retainMaxAgeMs: options.retainMaxAgeMs ?? 400 * dayMs,
    clientMaxBytesPerDay:
      options.clientMaxBytesPerDay ?? Math.ceil((options.retainMaxBytes ?? retainMaxBytes) / 2),
    recordMaxLength: options.recordMaxLength ?? 64 * 1024,
    pendingMaxLength: options.pendingMaxLength ?? 32 * 1024 * 1024,
  };
  for (const [name, value] of Object.entries(resolved)) {
    if (typeof value === "number") {
      assert(Number.isSafeInteger(value) && value > 0, `${name} must be a positive integer`);
    }
  }
  assert(resolved.recordMaxLength >= 4096, "recordMaxLength must be at least 4096");
  return resolved;
}
