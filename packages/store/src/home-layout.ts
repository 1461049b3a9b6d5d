/**
 * The layout of a home directory, which only its owner can read.
 *
 *     audit/001-00000001.jsonl   segment 1 of writer 1
 *     audit-heads/*.json         signed ends, deletions, and the list of writers (audit-heads.ts)
 *     audit-key.pem              the key that signs them
 *     audit-fingerprints.key     the key of the fingerprints of values
 *     approvals/saved-tools.json approvals of saved tools
 *     pins/*.json                pins of the definitions of one source
 *     seen-labels.json           labels of the data that clients received
 *     search/*.json              words that clients taught search
 *     switches.json              what the operator switched on and off
 *     unwanted-servers.json      servers of clients that the user removed or declined, written by the command
 *     guards/pauses.json         what the operator paused
 *     guards/budgets.json        what was used of budgets
 *     test-history/*.json        results of the tests of packages, and packages that are held back
 *     sessions.key, sessions/    sessions of clients (the package sessions)
 *     tasks/NNN/ID.json          tasks of clients, written by the package `extensions`
 *     locks/*.lock               locks of writers, of pruning, of the index and of records
 *     locks/*.open               runs of writers that have not ended
 *     toolcrib.db                the index of the segments
 *     audit-retention.json       the ages of finished segments
 */

import { readdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { FilesError, makePrivateDirectory, reasonOf } from "@toolcrib/files";
import { StoreError } from "./store-error.ts";

/** Paths below one home. */
export interface HomeLayout {
  readonly home: string;
  readonly auditDirectory: string;
  readonly approvalDirectory: string;
  readonly pinDirectory: string;
  readonly guardDirectory: string;
  readonly testHistoryDirectory: string;
  readonly lockDirectory: string;
  readonly headDirectory: string;
  readonly headKeyPath: string;
  readonly fingerprintKeyPath: string;
  readonly databasePath: string;
  readonly retentionPath: string;
}

/** The parsed name of a segment file. */
export interface SegmentName {
  /** File name without folder. */
  readonly name: string;
  /** From 1. */
  readonly writer: number;
  /** From 1, in the order of writing. */
  readonly number: number;
}

/** Returns the paths below `home`. No I/O. */
export function toHomeLayout(home: string): HomeLayout {
  return {
    home,
    auditDirectory: join(home, "audit"),
    approvalDirectory: join(home, "approvals"),
    pinDirectory: join(home, "pins"),
    guardDirectory: join(home, "guards"),
    testHistoryDirectory: join(home, "test-history"),
    lockDirectory: join(home, "locks"),
    headDirectory: join(home, "audit-heads"),
    headKeyPath: join(home, "audit-key.pem"),
    fingerprintKeyPath: join(home, "audit-fingerprints.key"),
    databasePath: join(home, "toolcrib.db"),
    retentionPath: join(home, "audit-retention.json"),
  };
}

/**
 * Creates missing directories with mode 0700.
 *
 * @throws {StoreError} `STORE_HOME_UNUSABLE`.
 */
export async function createHome(layout: HomeLayout): Promise<void> {
  try {
    // The home itself may be a directory that the user opened to a group.
    await mkdir(layout.home, { recursive: true, mode: 0o700 });
    await makePrivateDirectory(layout.auditDirectory);
    await makePrivateDirectory(layout.lockDirectory);
  } catch (cause) {
    throw new StoreError(
      "STORE_HOME_UNUSABLE",
      `Cannot create the home directory "${layout.home}": ${reasonOf(cause instanceof FilesError ? cause.cause : cause)}`,
      {
        cause,
        hint: "free disk space, give the user who runs toolcrib write access to it, or use another with --home",
      },
    );
  }
}

/** Highest writer number: the most processes that can write to one home at a time. */
export const writerMax = 256;

/** Formats a writer number for records and file names. */
export function toWriterId(writer: number): string {
  return String(writer).padStart(3, "0");
}

/** Returns the file name of segment `number` of `writer`. */
export function toSegmentName(writer: number, number: number): string {
  return `${toWriterId(writer)}-${String(number).padStart(8, "0")}.jsonl`;
}

/** Returns all segments by writer and number; none when the audit directory does not exist. Ignores other files. */
export function listSegments(auditDirectory: string): SegmentName[] {
  let names: string[];
  try {
    names = readdirSync(auditDirectory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  const segments: SegmentName[] = [];
  for (const name of names.sort()) {
    const match = /^(\d{3})-(\d{8})\.jsonl$/.exec(name);
    if (match !== null) segments.push({ name, writer: Number(match[1]), number: Number(match[2]) });
  }
  return segments;
}

/** Returns, for each writer, the segment with the highest number: the one that it writes to. */
export function newestSegments(segments: readonly SegmentName[]): ReadonlyMap<number, SegmentName> {
  const newest = new Map<number, SegmentName>();
  // `segments` is in ascending order, so the last segment of a writer wins.
  for (const segment of segments) newest.set(segment.writer, segment);
  return newest;
}
