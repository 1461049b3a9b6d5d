/**
 * Reads the records that rows of the index point to. A record that does not match
 * its row means that the segment was changed after it was indexed.
 */

import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import type { AuditRecord } from "./audit-event.ts";
import type { PointerRow } from "./index-statements.ts";
import { parseRecord } from "./parse-record.ts";
import { readFully } from "./segment-end.ts";

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
  readonly #descriptors = new Map<string, number | undefined>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Returns the record at `row`; `undefined` when its segment was deleted meanwhile.
   *
   * @throws {StalePointer}
   */
  read(row: PointerRow): AuditRecord | undefined {
    const descriptor = this.#open(row.name);
    if (descriptor === undefined) return undefined;
    const record = parseRecord(readFully(descriptor, row.position, row.bytes).toString("utf8"));
    const fits =
      record !== undefined &&
      Number(record.sequence) === row.sequence &&
      Number(record.writer) === row.writer &&
      Date.parse(record.time) === row.time;
    if (!fits) throw new StalePointer(row.name);
    return record;
  }

  [Symbol.dispose](): void {
    for (const descriptor of this.#descriptors.values()) if (descriptor !== undefined) closeSync(descriptor);
    this.#descriptors.clear();
  }

  #open(name: string): number | undefined {
    if (this.#descriptors.has(name)) return this.#descriptors.get(name);
    let descriptor: number | undefined;
    try {
      descriptor = openSync(join(this.#directory, name), "r");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
    this.#descriptors.set(name, descriptor);
    return descriptor;
  }
}
