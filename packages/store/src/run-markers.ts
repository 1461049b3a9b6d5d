/**
 * The runs of the writers of a home that have not ended properly. A run is marked by
 * an empty file, and the marker is removed when the run ends. A marker of a writer
 * number that no process holds belongs to a process that was killed: the calls that
 * were in flight then have an intent and no completion.
 *
 *     locks/audit-writer-001-0000000000000042.open   writer 1, run after record 42
 *
 * The name contains everything, so that a marker needs no space on the disk.
 */

import { closeSync, constants, openSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type HomeLayout, toWriterId } from "./home-layout.ts";

// Never through a link, and never waiting for the reader of a pipe. Windows has neither flag.
const markFlags =
  constants.O_WRONLY | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** A run that has not ended properly. */
export interface RunMarker {
  /** File name without folder. */
  readonly name: string;
  readonly writer: number;
  /** Sequence number of the last record before the run; 0 if there was none. */
  readonly after: number;
}

/** Marks a run of `writer` that continues after record `after`. Safe to repeat. @throws the file system's error. */
export function markRun({ lockDirectory }: HomeLayout, writer: number, after: number): RunMarker {
  const name = `audit-writer-${toWriterId(writer)}-${String(after).padStart(16, "0")}.open`;
  closeSync(openSync(join(lockDirectory, name), markFlags, 0o600));
  return { name, writer, after };
}

/** Removes a marker, if it still exists. @throws the file system's error. */
export function unmarkRun({ lockDirectory }: HomeLayout, { name }: RunMarker): void {
  rmSync(join(lockDirectory, name), { force: true });
}

/** Returns the markers of the home, by writer and record. */
export function listRunMarkers({ lockDirectory }: HomeLayout): readonly RunMarker[] {
  return readdirSync(lockDirectory)
    .sort()
    .flatMap((name) => {
      const match = /^audit-writer-(\d{3})-(\d{16})\.open$/.exec(name);
      return match === null ? [] : [{ name, writer: Number(match[1]), after: Number(match[2]) }];
    });
}
