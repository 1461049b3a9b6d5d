/**
 * The index of the segments: indexes new records in small slices and runs
 * queries. Rows are pointers: every returned record is read from its segment, and
 * a row that does not match its record causes the segment to be indexed again.
 *
 * Several processes can index the same segments into the same database: the
 * indexed position is read and moved in one transaction with the rows. All calls
 * are synchronous and may wait for the disk; a server keeps them off its event
 * loop (index-worker.ts).
 */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "@toolcrib/diagnostics";
import type { AuditRecord } from "./audit-event.ts";
import type { AuditCall, AuditListQuery, AuditProblem } from "./audit-query.ts";
import { problemMax, toListSql } from "./audit-query.ts";
import { showCall } from "./call-tree.ts";
import { type UnfinishedQuery, unfinishedMax } from "./close-killed-runs.ts";
import { type HomeLayout, listSegments, newestSegments, type SegmentName } from "./home-layout.ts";
import {
  type IndexDatabase,
  isDamage,
  isOutOfSpace,
  moveDamagedAway,
  openIndexDatabase,
  openInMemory,
} from "./index-database.ts";
import { indexLines } from "./index-lines.ts";
import {
  deleteSliceRows,
  type IndexStatements,
  type PointerRow,
  pointerColumns,
  prepareStatements,
  type SegmentRow,
} from "./index-statements.ts";
import { RecordFiles, StalePointer } from "./record-files.ts";
import { readFully } from "./segment-end.ts";
import { openSegmentIfPresent } from "./segment-file.ts";
import { StoreError } from "./store-error.ts";

/** Bytes that are indexed in one transaction: about 2,000 records, 20 to 50 ms. Smaller slices write more pages. */
const sliceBytes = 1024 * 1024;

/** A task that is done slice by slice. */
type Work =
  | {
      readonly kind: "follow";
      readonly segment: SegmentName;
      readonly size: number;
      readonly finished: boolean;
    }
  | { readonly kind: "forget"; readonly row: SegmentRow };

/** A database and its statements. */
interface OpenedIndex {
  readonly file: IndexDatabase;
  readonly statements: IndexStatements;
}

/** Behaviour of an index. */
export interface AuditIndexOptions {
  /**
   * Whether an index that the disk has no space for is built in memory. A process that
   * writes the trail waits for space instead: an index in memory grows with the trail.
   * @default false
   */
  readonly usesMemoryWhenFull?: boolean;
}

/** An open index. */
export class AuditIndex {
  readonly #layout: HomeLayout;
  readonly #problem: (problem: StoreError) => void;
  readonly #usesMemoryWhenFull: boolean;
  #opened: OpenedIndex | undefined;
  #work: Work[] = [];
  /**
   * The slice that is indexed. Each slice in a buffer of its own would take tens of megabytes until V8 collects them, in
   * memory of the thread that its allocator does not give back.
   */
  #slice: Buffer | undefined;
  /** Segments that are no regular files. */
  readonly #special = new Set<string>();

  /** No I/O: the first use opens the database. */
  constructor(
    layout: HomeLayout,
    problem: (problem: StoreError) => void,
    { usesMemoryWhenFull = false }: AuditIndexOptions = {},
  ) {
    this.#layout = layout;
    this.#problem = problem;
    this.#usesMemoryWhenFull = usesMemoryWhenFull;
  }

  /**
   * Index a slice of the new records.
   *
   * @returns whether more are left.
   * @throws {StoreError} `AUDIT_INDEX_FAILED`.
   */
  step(): boolean {
    return this.#guard(() => {
      if (this.#work.length === 0) this.#work = this.#plan();
      this.#doSlice();
      return this.#work.length > 0;
    });
  }

  /** Returns the records of `query`, newest first. @throws {StoreError} */
  list(query: AuditListQuery): readonly AuditRecord[] {
    const { where, parameters, limit } = toListSql(query);
    return this.#read((opened) => {
      // The join comes after the limit, so that the walk touches one table.
      const rows = opened.file.database
        .prepare(
          `SELECT ${pointerColumns} FROM
             (SELECT * FROM audit_event WHERE ${where} ORDER BY time DESC, writer DESC, sequence DESC LIMIT ?)
             AS audit_event JOIN audit_segment ON audit_segment.id = audit_event.segment
           ORDER BY 1 DESC, 2 DESC, 3 DESC`,
        )
        .all(...parameters, limit) as unknown as PointerRow[];
      return this.#readRecords((files) =>
        rows.map((row) => files.read(row)).filter((each) => each !== undefined),
      );
    });
  }

  /** Returns the call `callId` with its inner calls; `undefined` when it has no records. @throws {StoreError} */
  show(callId: string): AuditCall | undefined {
    return this.#read(({ statements }) => this.#readRecords((files) => showCall(statements, files, callId)));
  }

  /** Returns the defects of the segments, at most 1,000. @throws {StoreError} */
  problems(): readonly AuditProblem[] {
    return this.#read(({ statements }) => {
      const problems = statements.problems.all(problemMax) as unknown as AuditProblem[];
      const rows = statements.segments.all() as unknown as SegmentRow[];
      return [...problems, ...this.#unfinished(rows)].slice(0, problemMax);
    });
  }

  /** Returns the first intents of `query` without a completion, at most 1,000. @throws {StoreError} */
  unfinished({ writer, after, through }: UnfinishedQuery): readonly AuditRecord<"call.intent">[] {
    return this.#read(({ statements }) => {
      const rows = statements.unfinished.all(writer, after, through, unfinishedMax);
      return this.#readRecords((files) =>
        (rows as unknown as PointerRow[])
          .map((row) => files.read(row))
          .filter((record) => record?.type === "call.intent"),
      );
    });
  }

  /** Closes the database. The next use opens it again. */
  close(): void {
    this.#opened?.file.close();
    this.#opened = undefined;
    this.#slice = undefined;
    this.#work = [];
  }

  #read<Result>(query: (opened: OpenedIndex) => Result): Result {
    return this.#guard(() => {
      // Sizes are read once: a busy writer must not delay the result without end.
      this.#work = this.#plan();
      while (this.#work.length > 0) this.#doSlice();
      return query(this.#open());
    });
  }

  #readRecords<Result>(read: (files: RecordFiles) => Result): Result {
    using files = new RecordFiles(this.#layout.auditDirectory);
    return read(files);
  }

  /** Runs `action`. After damage or a changed segment, rebuilds that part and runs it once more. */
  #guard<Result>(action: () => Result): Result {
    for (let attempt = 0; ; attempt += 1) {
      try {
        if (this.#opened?.file.isCurrent() === false) this.close();
        return action();
      } catch (error) {
        if (attempt === 0 && this.#usesMemoryWhenFull && isOutOfSpace(error)) {
          this.#useMemory();
          continue;
        }
        if (error instanceof StoreError && error.code !== "AUDIT_INDEX_FAILED") throw error;
        if (attempt === 0 && error instanceof StalePointer) this.#forgetSegment(error.segment);
        else if (attempt === 0 && isDamage(error)) this.#rebuild(error);
        else throw this.#failure(error);
      }
    }
  }

  #open(): OpenedIndex {
    this.#opened ??= prepared(openIndexDatabase(this.#layout));
    return this.#opened;
  }

  #rebuild(cause: unknown): void {
    this.close();
    const isMoved = moveDamagedAway(this.#layout);
    if (!isMoved) this.#useMemory();
    this.#problem(
      new StoreError(
        "AUDIT_INDEX_REBUILT",
        isMoved
          ? `The audit index "${this.#layout.databasePath}" was damaged and is rebuilt; the damaged file is kept next to it`
          : `The audit index "${this.#layout.databasePath}" is damaged and in use by another process; this process uses an index in memory`,
        { cause },
      ),
    );
  }

  #useMemory(): void {
    this.close();
    this.#opened = prepared(openInMemory());
  }

  #failure(cause: unknown): StoreError {
    if (cause instanceof StoreError) return cause;
    return new StoreError("AUDIT_INDEX_FAILED", `Cannot use the audit index: ${messageOf(cause)}`, {
      cause,
      hint: "the audit segments are not affected",
    });
  }

  #plan(): Work[] {
    const { statements } = this.#open();
    const rows = new Map<string, SegmentRow>();
    for (const row of statements.segments.all() as unknown as SegmentRow[]) rows.set(row.name, row);
    const segments = listSegments(this.#layout.auditDirectory);
    const newest = newestSegments(segments);
    const work: Work[] = [];
    for (const segment of segments) {
      const row = rows.get(segment.name);
      rows.delete(segment.name);
      const status = lstatSync(join(this.#layout.auditDirectory, segment.name), { throwIfNoEntry: false });
      if (status === undefined) continue;
      if (!status.isFile()) {
        this.#reportSpecial(segment.name);
        continue;
      }
      // A segment that became shorter was replaced after it was indexed.
      if (row !== undefined && status.size < row.position) work.push({ kind: "forget", row });
      if (status.size !== (row?.position ?? 0)) {
        const finished = newest.get(segment.writer)?.name !== segment.name;
        work.push({ kind: "follow", segment, size: status.size, finished });
      }
    }
    for (const row of rows.values()) work.push({ kind: "forget", row });
    return work;
  }

  /** Reports a segment that is a pipe, a device or a link, once: it is not read. */
  #reportSpecial(name: string): void {
    if (this.#special.has(name)) return;
    this.#special.add(name);
    this.#problem(
      new StoreError("AUDIT_UNREADABLE", `Audit segment "${name}" is not a regular file and was not read`, {
        hint: "see toolcrib audit verify; move the file out of the folder audit of the home",
      }),
    );
  }

  #doSlice(): void {
    const work = this.#work[0];
    if (work === undefined) return;
    const { file, statements } = this.#open();
    file.database.exec("BEGIN IMMEDIATE");
    try {
      const done =
        work.kind === "follow" ? this.#follow(statements, work) : forgetSlice(statements, work.row);
      file.database.exec("COMMIT");
      if (done) this.#work.shift();
    } catch (error) {
      if (file.database.isOpen && file.database.isTransaction) file.database.exec("ROLLBACK");
      this.#work = [];
      throw error;
    }
  }

  /** Index the next slice of a segment. @returns whether nothing more can be indexed now */
  #follow(
    statements: IndexStatements,
    { segment, size, finished }: Work & { readonly kind: "follow" },
  ): boolean {
    const row = this.#segmentRow(statements, segment);
    // Another process may have indexed it meanwhile.
    if (row.position >= size) return true;
    const path = join(this.#layout.auditDirectory, segment.name);
    const length = Math.min(size - row.position, sliceBytes);
    this.#slice ??= Buffer.allocUnsafeSlow(sliceBytes);
    const chunk = readSlice(path, row.position, length, this.#slice);
    if (chunk === undefined) return true;
    const reachesEnd = row.position + chunk.length >= size;
    const consumed = indexLines(statements, row, chunk, {
      // A line without its line feed is left for later, unless the segment is complete.
      takeUnfinished: reachesEnd ? finished : chunk.indexOf(0x0a) === -1,
    });
    return consumed === 0 || row.position + consumed >= size;
  }

  #segmentRow(statements: IndexStatements, segment: SegmentName): SegmentRow {
    const known = statements.segment.get(segment.name) as unknown as SegmentRow | undefined;
    if (known !== undefined) return known;
    statements.addSegment.run(segment.name, this.#sequenceBefore(statements, segment));
    return statements.segment.get(segment.name) as unknown as SegmentRow;
  }

  /** Returns the last sequence number of the previous segment, so that a gap between segments is found. */
  #sequenceBefore(statements: IndexStatements, segment: SegmentName): number | null {
    if (segment.number === 1) return 0;
    const before = listSegments(this.#layout.auditDirectory).findLast(
      ({ writer, number }) => writer === segment.writer && number < segment.number,
    );
    if (before === undefined) return null;
    const row = statements.segment.get(before.name) as unknown as SegmentRow | undefined;
    return row?.last_sequence ?? null;
  }

  #forgetSegment(name: string): void {
    const { statements } = this.#open();
    const row = statements.segment.get(name) as unknown as SegmentRow | undefined;
    if (row === undefined) return;
    this.#work = [{ kind: "forget", row }];
    while (this.#work.length > 0) this.#doSlice();
  }

  #unfinished(rows: readonly SegmentRow[]): AuditProblem[] {
    const problems: AuditProblem[] = [];
    for (const { name, position } of rows) {
      const status = lstatSync(join(this.#layout.auditDirectory, name), { throwIfNoEntry: false });
      if (status === undefined || !status.isFile() || status.size <= position) continue;
      const tail = readSlice(join(this.#layout.auditDirectory, name), position, sliceBytes);
      if (tail === undefined || tail.includes(0x0a)) continue;
      problems.push({ kind: "unfinished", segment: name, position, bytes: status.size - position });
    }
    return problems;
  }
}

/** Prepares the statements of a database; closes one whose tables they do not fit. */
function prepared(file: IndexDatabase): OpenedIndex {
  try {
    return { file, statements: prepareStatements(file.database) };
  } catch (error) {
    file.close();
    throw error;
  }
}

function forgetSlice(statements: IndexStatements, { name }: SegmentRow): boolean {
  // Read again: another process may have changed it meanwhile.
  const row = statements.segment.get(name) as unknown as SegmentRow | undefined;
  if (row === undefined) return true;
  const { changes } = statements.deleteEvents.run(row.first_time, row.last_time, row.id);
  if (Number(changes) >= deleteSliceRows) return false;
  statements.deleteProblems.run(row.id);
  statements.deleteSegment.run(row.id);
  return true;
}

/** Reads up to `length` bytes of the file at `path`, into `buffer` if given; `undefined` when it does not exist. */
function readSlice(path: string, position: number, length: number, buffer?: Buffer): Buffer | undefined {
  using segment = openSegmentIfPresent(path);
  return segment === undefined ? undefined : readFully(segment.descriptor, position, length, buffer);
}
