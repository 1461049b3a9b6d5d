/**
 * Reads the records that rows of the index point to. A record that does not match
 * its row means that the segment was changed after it was indexed.
 */

import { join } from "node:path";
import type { AuditRecord } from "./audit-event.ts";
import type { PointerRow } from "./index-statements.ts";
import { parseRecord } from "./parse-record.ts";
import { readFully } from "./segment-end.ts";
import { type OpenSegment, openSegmentIfPresent } from "./segment-file.ts";

/** A record does not match its row. Never leaves the index. */
export class StalePointer extends Error {
  readonly segment: string;

  constructor(segment: string) {
    super(`Audit segment "${segment}" was changed after it was indexed`);
    this.segment = segment;
  }
}

/** The segments that one query opens. Disposing closes them. */
export class RecordFiles implements Disposable {
  readonly #directory: string;
  readonly #segments = new Map<string, OpenSegment | undefined>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Returns the record at `row`; `undefined` when its segment was deleted meanwhile.
   *
   * @throws {StalePointer}
   */
  read(row: PointerRow): AuditRecord | undefined {
    const segment = this.#open(row.name);
    if (segment === undefined) return undefined;
    const record = parseRecord(readFully(segment.descriptor, row.position, row.bytes).toString("utf8"));
    const fits =
      record !== undefined &&
      Number(record.sequence) === row.sequence &&
      Number(record.writer) === row.writer &&
      Date.parse(record.time) === row.time;
    if (!fits) throw new StalePointer(row.name);
    return record;
  }

  [Symbol.dispose](): void {
    for (const segment of this.#segments.values()) segment?.[Symbol.dispose]();
    this.#segments.clear();
  }

  #open(name: string): OpenSegment | undefined {
    if (!this.#segments.has(name))
      this.#segments.set(name, openSegmentIfPresent(join(this.#directory, name)));
    return this.#segments.get(name);
  }
}
