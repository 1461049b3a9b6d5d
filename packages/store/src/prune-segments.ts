/**
 * Retention: deletes the oldest segments beyond the limits of size and age. The
 * record of a deletion is written before the file is deleted; a segment whose
 * deletion cannot be recorded stays. One process of a home prunes at a time.
 *
 * Of one writer, the oldest segment is deleted first, so that one signed number (audit-heads.ts) says what is missing
 * at the beginning of its trail.
 * Its last record is never deleted: the next start continues its numbers and its chain.
 */

import { lstatSync } from "node:fs";
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "@toolcrib/diagnostics";
import type { AuditPruned } from "./audit-event.ts";
import type { Tombstone } from "./audit-heads.ts";
import type { ResolvedAuditOptions } from "./audit-options.ts";
import { followDeletedChain } from "./deleted-chain.ts";
import { type HomeLayout, listSegments, type SegmentName } from "./home-layout.ts";
import { lockHome } from "./home-lock.ts";
import { RetentionClock } from "./retention-clock.ts";
import { readSegmentEnd } from "./segment-end.ts";
import { StoreError } from "./store-error.ts";

/** Dependencies of pruning. */
export interface PruneDeps {
  readonly layout: HomeLayout;
  readonly now: () => number;
  /** Resolves when the record is written. */
  readonly record: (data: AuditPruned) => Promise<void>;
  /** Absent for a trail that is not signed. */
  readonly signed?:
    | {
        /** Returns what was deleted of a writer before. */
        readonly deletedOf: (writer: string) => Tombstone | undefined;
        /** Resolves when it is on record, signed, what was deleted of a writer. */
        readonly sign: (tombstone: Tombstone) => Promise<void>;
      }
    | undefined;
}

interface Candidate {
  readonly name: string;
  readonly bytes: number;
  readonly writtenAt: number;
}

/**
 * Deletes the segments beyond the limits.
 *
 * @throws {StoreError} `AUDIT_RETENTION_FAILED`, or the error of the record.
 */
export async function pruneSegments(
  { layout, now, record, signed }: PruneDeps,
  { retainMaxBytes, retainMaxAgeMs }: ResolvedAuditOptions,
): Promise<void> {
  using lock = lockHome(layout, "audit-prune", "exclusive");
  if (lock === undefined) return;
  try {
    const found = findCandidates(layout.auditDirectory);
    if (found.candidates.length === 0) return;
    const names = found.candidates.map(({ name }) => name);
    const clock = new RetentionClock(layout.retentionPath, now(), names);
    let excess = found.bytes - retainMaxBytes;
    for (const { name, bytes, ageMs } of inOrder(found.candidates, clock)) {
      const isOld = ageMs >= retainMaxAgeMs;
      if (!isOld && excess <= 0) break;
      const path = join(layout.auditDirectory, name);
      const writer = name.slice(0, 3);
      const deleted = signed === undefined ? ("unknown" as const) : signed.deletedOf(writer);
      const nextPath = nextWithRecord(layout.auditDirectory, found.names, name);
      const { firstSequence, end, findings } = await followDeletedChain(path, writer, { deleted, nextPath });
      await record({
        segment: name,
        bytes,
        firstSequence,
        ...(end === undefined ? {} : { lastSequence: end.sequence, lastHash: end.hash }),
        reason: isOld ? "age" : "size",
        ...(findings.length === 0 ? {} : { findings }),
      });
      if (end !== undefined)
        await signed?.sign({ writer, lastSequence: Number(end.sequence), lastHash: end.hash });
      await unlink(path);
      clock.delete(name);
      excess -= bytes;
    }
    await clock.save();
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    throw new StoreError("AUDIT_RETENTION_FAILED", `Cannot delete old audit segments: ${messageOf(cause)}`, {
      cause,
    });
  }
}

/**
 * Returns the path of the next segment after `name` that has a record: a process that was killed leaves segments without one.
 *
 * @param names of all segments, sorted. One that was added since does not come between them.
 */
function nextWithRecord(auditDirectory: string, names: readonly string[], name: string): string | undefined {
  const writer = name.slice(0, 3);
  for (let at = names.indexOf(name) + 1; names[at]?.startsWith(writer) === true; at += 1) {
    const path = join(auditDirectory, names[at] ?? "");
    if (hasRecord(path)) return path;
  }
  return undefined;
}

/**
 * Returns the candidates in the order of deletion, with their ages. Within a writer, a later segment counts as no older
 * than an earlier one, whatever the times of the files say.
 */
function inOrder(
  candidates: readonly Candidate[],
  clock: RetentionClock,
): readonly (Candidate & { readonly ageMs: number })[] {
  const before = new Map<string, { readonly ageMs: number; readonly writtenAt: number }>();
  const aged = candidates
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((candidate) => {
      const writer = candidate.name.slice(0, 3);
      const earlier = before.get(writer);
      const ageMs = Math.min(clock.ageOf(candidate.name), earlier?.ageMs ?? Number.POSITIVE_INFINITY);
      const writtenAt = Math.max(candidate.writtenAt, earlier?.writtenAt ?? 0);
      before.set(writer, { ageMs, writtenAt });
      return { ...candidate, ageMs, writtenAt };
    });
  return aged.toSorted(
    (a, b) => b.ageMs - a.ageMs || a.writtenAt - b.writtenAt || (a.name < b.name ? -1 : 1),
  );
}

/** Returns the segments that may be deleted, and the names and bytes of all segments. */
function findCandidates(auditDirectory: string): {
  readonly candidates: readonly Candidate[];
  /** Of all segments, sorted. */
  readonly names: readonly string[];
  readonly bytes: number;
} {
  const segments = listSegments(auditDirectory);
  const kept = segmentsToKeep(auditDirectory, segments);
  const candidates: Candidate[] = [];
  let bytes = 0;
  for (const { name } of segments) {
    const status = lstatSync(join(auditDirectory, name), { throwIfNoEntry: false });
    if (status?.isFile() !== true) continue;
    bytes += status.size;
    if (!kept.has(name)) candidates.push({ name, bytes: status.size, writtenAt: status.mtimeMs });
  }
  return { candidates, names: segments.map(({ name }) => name), bytes };
}

/**
 * Returns the names of the newest segments of each writer, back to its last record: a process that was killed leaves segments
 * without one, and the next start continues after the last record.
 */
function segmentsToKeep(auditDirectory: string, segments: readonly SegmentName[]): ReadonlySet<string> {
  const kept = new Set<string>();
  const withRecord = new Set<number>();
  for (const { name, writer } of segments.toReversed()) {
    if (withRecord.has(writer)) continue;
    kept.add(name);
    if (hasRecord(join(auditDirectory, name))) withRecord.add(writer);
  }
  return kept;
}

function hasRecord(path: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  return readSegmentEnd(path, 1).records.length > 0;
}
