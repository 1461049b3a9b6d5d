/**
 * The saved tools of one directory, as one file each: `tools/{toolName}.json`.
 *
 * Invariant: also when a process is killed, each file has its state from before a
 * change or from after it. A change locks the directory, scans it, checks the
 * change, and replaces one file. Of two processes the later one wins as a whole,
 * and `expectedModified` detects the change of the other. Readers take no lock. A
 * file that is not a usable tool is reported and left alone.
 *
 * It does not know Starlark or how a tool runs: code is a text, a schema an object.
 */

import { join } from "node:path";
import type { Diagnostic } from "@toolcrib/diagnostics";
import { errnoOf, reasonOf } from "@toolcrib/files";
import type {
  SavedTool,
  SavedToolChange,
  SavedToolDefinition,
  SavedToolResult,
  SavedToolStore,
} from "@toolcrib/store";
import type { Unsubscribe } from "@toolcrib/tool";
import { MetatoolError } from "../metatool-error.ts";
import {
  countersFileName,
  type ExecutionTotal,
  formatCounters,
  type PendingExecutions,
  subtractExecutions,
  withExecutions,
} from "./execution-counters.ts";
import { lintSavedTool } from "./lint-saved-tool.ts";
import { lockDirectory } from "./lock-directory.ts";
import { refuseChanged, refuseFirst, refuseNewName, refuseUnusable } from "./refuse-change.ts";
import { formatSavedFile, formatWithCounters, parseSavedFile, type SavedFile } from "./saved-file.ts";
import { nodeFiles } from "./saved-files.ts";
import { lintSavedName, toFileName } from "./saved-name.ts";
import { resolveSavedToolLimits } from "./saved-tool.ts";
import type { SavedToolStoreDeps, SavedToolStoreOptions } from "./saved-tool-store.ts";
import { type DirectoryView, type SeenFile, ToolDirectory } from "./tool-directory.ts";
import { ToolFileWriter } from "./tool-file-writer.ts";

/**
 * Opens the saved tools of a directory. Several processes can do so at the same time.
 *
 * @throws {MetatoolError} `METATOOL_DIRECTORY_UNUSABLE`.
 */
export async function openSavedToolStore(
  deps: SavedToolStoreDeps,
  options: SavedToolStoreOptions,
): Promise<SavedToolStore> {
  const store = new FileSavedToolStore(deps, options);
  try {
    await store.open();
  } catch (error) {
    await store[Symbol.asyncDispose]();
    throw error;
  }
  return store;
}

class FileSavedToolStore implements SavedToolStore {
  readonly #deps: Required<SavedToolStoreDeps>;
  readonly #options: Required<SavedToolStoreOptions>;
  readonly #directory: ToolDirectory;
  readonly #writer: ToolFileWriter;
  readonly #listeners = new Set<(change: SavedToolChange) => void>();
  readonly #pending = new Map<string, PendingExecutions>();
  #view: DirectoryView = {
    tools: new Map(),
    unusable: new Map(),
    totals: new Map(),
    areCountersDamaged: false,
  };
  /** The last change and the last scan in their queues. */
  #lastChange: Promise<unknown> = Promise.resolve();
  #lastScan: Promise<unknown> = Promise.resolve();
  /** A scan that is queued and has not begun. */
  #nextScan: Promise<void> | undefined;
  #scannedAtMs = Number.NEGATIVE_INFINITY;
  #watch: (Disposable & { readonly identity: string }) | undefined;
  #settleTimer: NodeJS.Timeout | undefined;
  #flushTimer: NodeJS.Timeout | undefined;
  /** Executions since the last write of the counters. */
  #unwritten = 0;
  #isFlushing = false;
  /** When the counters were last written by time or number, or the store was created. */
  #flushedAtMs: number;
  #isFlushFailing = false;
  #isOpen = true;
  #disposal: Promise<void> | undefined;

  constructor(deps: SavedToolStoreDeps, options: SavedToolStoreOptions) {
    this.#deps = {
      now: deps.now,
      randomBytes: deps.randomBytes,
      isReserved: deps.isReserved ?? (() => false),
      files: deps.files ?? nodeFiles,
      onProblem: deps.onProblem ?? (() => undefined),
    };
    this.#options = {
      ...resolveSavedToolLimits(options),
      directory: options.directory,
      flushMs: options.flushMs ?? 5000,
      flushCount: options.flushCount ?? 100,
      freshMs: options.freshMs ?? 1000,
      settleMs: options.settleMs ?? 50,
      lockTimeoutMs: options.lockTimeoutMs ?? 10_000,
    };
    this.#flushedAtMs = deps.now();
    this.#writer = new ToolFileWriter(this.#deps, this.#options.directory);
    this.#directory = new ToolDirectory(this.#deps.files, this.#options.directory, this.#options);
  }

  async open(): Promise<void> {
    const { directory } = this.#options;
    try {
      await this.#deps.files.makeDirectory(directory);
    } catch (cause) {
      const message = `Cannot create the directory of saved tools "${directory}": ${reasonOf(cause)}`;
      const hint = "give the user who runs toolcrib write access to it, or use another directory";
      throw new MetatoolError("METATOOL_DIRECTORY_UNUSABLE", message, {
        cause,
        hint,
        data: { errno: errnoOf(cause) },
      });
    }
    try {
      using _lock = await lockDirectory(directory, this.#options.lockTimeoutMs);
      await this.#writer.removeDrafts();
    } catch (error) {
      // A read-only directory can still be read.
      this.#report(error);
    }
    await this.#scan();
    if (this.#view.areCountersDamaged) {
      const path = join(directory, countersFileName);
      const message = `Cannot read the execution counters "${path}"; those in the files of the tools are used`;
      this.#report(new MetatoolError("METATOOL_COUNTERS_DAMAGED", message));
    }
  }

  async list(): Promise<readonly SavedTool[]> {
    await this.#scanIfStale();
    return this.current();
  }

  async get(name: string): Promise<SavedTool | undefined> {
    await this.#scanIfStale();
    const file = this.#view.tools.get(name);
    return file === undefined ? undefined : this.#toTool(file);
  }

  current(): readonly SavedTool[] {
    return [...this.#view.tools.values()].map((file) => this.#toTool(file));
  }

  diagnostics(): readonly Diagnostic[] {
    return [...this.#view.unusable.values()].flat();
  }

  async save(
    definition: SavedToolDefinition,
    { expectedModified, isNew }: { readonly expectedModified?: string; readonly isNew?: boolean } = {},
  ): Promise<SavedToolResult> {
    this.#assertOpen();
    refuseFirst(lintSavedTool({ ...definition }, this.#options));
    return this.#change(async () => {
      const { name } = definition;
      const previous = this.#view.tools.get(name);
      refuseUnusable(this.#view, name);
      if (expectedModified !== undefined) refuseChanged(name, previous, expectedModified);
      if (isNew === true) refuseChanged(name, previous, undefined);
      if (previous === undefined)
        refuseNewName(this.#view, name, this.#deps.isReserved, this.#options.maxTools);
      const text = this.#format(definition, previous);
      // Parsed from the text, so that later changes of the caller's objects have no effect.
      const { value, diagnostics } = parseSavedFile({ name: toFileName(name), text }, name, this.#options);
      refuseFirst(diagnostics);
      const saved = value as SavedFile;
      const modifiedAtMs = Date.parse(saved.tool.metadata.modified);
      await this.#writer.replace(toFileName(name), text, { modifiedAtMs });
      // The count is in the file now; a count of a deleted tool of this name is dropped.
      if (previous === undefined) this.#pending.delete(name);
      return {
        tool: this.#toTool(saved),
        ...(previous === undefined ? {} : { previous: this.#toTool(previous) }),
      };
    });
  }

  #format(definition: SavedToolDefinition, previous: SavedFile | undefined): string {
    const now = this.#deps.now();
    const before = previous?.tool.metadata;
    // Times differ even when saves follow each other quickly or the clock goes back.
    const earliest =
      before === undefined ? this.#endOfEarlierLife(definition.name) : Date.parse(before.modified) + 1;
    const modified = new Date(Math.max(now, earliest)).toISOString();
    const total = this.#view.totals.get(definition.name);
    const metadata =
      before === undefined
        ? { created: modified, modified, executionCount: 0 }
        : { ...withExecutions(before, total, undefined), modified };
    const text = formatSavedFile(definition, metadata, previous?.document);
    const { fileMaxBytes } = this.#options;
    const bytes = Buffer.byteLength(text);
    if (bytes <= fileMaxBytes) return text;
    const message = `Cannot save "${definition.name}": its file would have ${bytes} bytes; at most ${fileMaxBytes} are allowed`;
    throw new MetatoolError("METATOOL_FILE_TOO_LARGE", message);
  }

  /** Returns a creation time after that of a deleted tool of this name, whose total may still be stored. */
  #endOfEarlierLife(name: string): number {
    const total = this.#view.totals.get(name);
    return total === undefined ? Number.NEGATIVE_INFINITY : Date.parse(total.created) + 1 || 0;
  }

  async delete(
    name: string,
    { expectedModified }: { readonly expectedModified?: string } = {},
  ): Promise<SavedTool | undefined> {
    this.#assertOpen();
    refuseFirst(lintSavedName(name));
    return this.#change(async () => {
      refuseUnusable(this.#view, name);
      const file = this.#view.tools.get(name);
      if (file === undefined) return undefined;
      if (expectedModified !== undefined) refuseChanged(name, file, expectedModified);
      const tool = this.#toTool(file);
      await this.#writer.remove(toFileName(name));
      this.#pending.delete(name);
      return tool;
    });
  }

  recordExecution(name: string, atMs: number): void {
    if (!this.#isOpen || !this.#view.tools.has(name)) return;
    const { count, lastAtMs } = this.#pending.get(name) ?? { count: 0, lastAtMs: atMs };
    this.#pending.set(name, { count: count + 1, lastAtMs: Math.max(lastAtMs, atMs) });
    this.#unwritten += 1;
    this.#scheduleFlush();
  }

  async flush(): Promise<void> {
    this.#assertOpen();
    await this.#flush();
  }

  onChange(listener: (change: SavedToolChange) => void): Unsubscribe {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    // After a failure it can be retried: the counts are kept.
    this.#disposal ??= this.#dispose().catch((error: unknown) => {
      this.#disposal = undefined;
      throw error;
    });
    return this.#disposal;
  }

  async #dispose(): Promise<void> {
    this.#isOpen = false;
    clearTimeout(this.#settleTimer);
    clearTimeout(this.#flushTimer);
    this.#watch?.[Symbol.dispose]();
    this.#watch = undefined;
    await this.#lastChange;
    await this.#lastScan;
    this.#listeners.clear();
    const hasCounted = this.#pending.size > 0;
    await this.#flush();
    if (this.#view.totals.size === 0) return;
    await this.#change(() => this.#foldCounters()).catch((error: unknown) => {
      // Totals that stay in the file of counters are not lost, and may belong to another process.
      if (hasCounted) throw error;
      this.#report(error);
    });
  }

  // Scans.

  async #scanIfStale(): Promise<void> {
    this.#assertOpen();
    const ageMs = Math.abs(this.#deps.now() - this.#scannedAtMs);
    const isFresh =
      this.#watch !== undefined && this.#settleTimer === undefined && ageMs < this.#options.freshMs;
    if (isFresh) await this.#lastScan.catch(() => undefined);
    else await this.#scan();
  }

  /** Scans the directory after the current scan. */
  #scan(): Promise<void> {
    if (this.#nextScan !== undefined) return this.#nextScan;
    const scan = this.#lastScan.then(async () => {
      this.#nextScan = undefined;
      const startedAtMs = this.#deps.now();
      await this.#watchDirectory();
      this.#show(await this.#directory.scan());
      this.#scannedAtMs = startedAtMs;
    });
    this.#nextScan = scan;
    this.#lastScan = scan.catch(() => undefined);
    return scan;
  }

  /** Watches the directory. Watches anew when the directory was replaced. */
  async #watchDirectory(): Promise<void> {
    const { files } = this.#deps;
    const { directory } = this.#options;
    const identity = await files.resolve(directory).then(
      async (path) => (await files.status(path))?.identity,
      () => undefined,
    );
    if (identity !== undefined && identity === this.#watch?.identity) return;
    this.#watch?.[Symbol.dispose]();
    this.#watch = undefined;
    if (identity === undefined || !this.#isOpen) return;
    const end = () => {
      this.#watch?.[Symbol.dispose]();
      this.#watch = undefined;
    };
    const watch = files.watch(directory, () => this.#scheduleScan(), end);
    if (watch !== undefined) {
      this.#watch = { identity, [Symbol.dispose]: () => watch[Symbol.dispose]() };
    }
  }

  #scheduleScan(): void {
    if (!this.#isOpen || this.#settleTimer !== undefined) return;
    // Later events do not delay the scan: a directory that changes all the time must be scanned, too.
    this.#settleTimer = setTimeout(() => {
      this.#settleTimer = undefined;
      this.#scan().catch((error: unknown) => this.#report(error));
    }, this.#options.settleMs);
    this.#settleTimer.unref();
  }

  #show(view: DirectoryView): void {
    const before = this.#view.tools;
    this.#view = view;
    const changed = [...view.tools].filter(([name, { digest }]) => before.get(name)?.digest !== digest);
    const removed = [...before.keys()].filter((name) => !view.tools.has(name));
    if (changed.length === 0 && removed.length === 0) return;
    const change = { changed: changed.map(([name]) => name), removed };
    for (const listener of [...this.#listeners]) listener(change);
  }

  #toTool({ tool }: SavedFile): SavedTool {
    const total = this.#view.totals.get(tool.name);
    return { ...tool, metadata: withExecutions(tool.metadata, total, this.#pending.get(tool.name)) };
  }

  // Changes.

  /** Queues `change`. It runs with the directory locked and scanned, and a scan follows it. */
  #change<T>(change: () => Promise<T>): Promise<T> {
    const turn = this.#lastChange.then(async () => {
      const { directory, lockTimeoutMs } = this.#options;
      await this.#makeDirectory();
      using _lock = await lockDirectory(directory, lockTimeoutMs);
      await this.#scan();
      try {
        return await change();
      } finally {
        // The change was made: a failed scan is not a failure of the change.
        await this.#scan().catch((error: unknown) => this.#report(error));
      }
    });
    this.#lastChange = turn.catch(() => undefined);
    return turn;
  }

  async #makeDirectory(): Promise<void> {
    const { directory } = this.#options;
    if ((await this.#deps.files.status(directory).catch(() => undefined)) !== undefined) return;
    await this.#deps.files.makeDirectory(directory).catch(() => {
      // Locking the directory fails too, with the reason.
    });
  }

  // Counters.

  /** Schedules the next write of the counters. */
  #scheduleFlush(): void {
    const { flushCount, flushMs } = this.#options;
    // The first execution after a time without any is written at once, so that other processes see it.
    const isFirst = this.#deps.now() - this.#flushedAtMs >= flushMs;
    const isDue = (isFirst || this.#unwritten >= flushCount) && !this.#isFlushFailing;
    if (this.#isFlushing || (this.#flushTimer !== undefined && !isDue)) return;
    clearTimeout(this.#flushTimer);
    this.#flushTimer = setTimeout(() => void this.#flushOnTime(), isDue ? 0 : flushMs);
    this.#flushTimer.unref();
  }

  async #flushOnTime(): Promise<void> {
    this.#flushTimer = undefined;
    this.#isFlushing = true;
    this.#flushedAtMs = this.#deps.now();
    try {
      await this.#flush();
      this.#isFlushFailing = false;
    } catch (error) {
      // The counts are kept. The retry waits for its time, so that a full disk causes no loop.
      this.#isFlushFailing = true;
      this.#report(error);
    } finally {
      this.#isFlushing = false;
    }
    if (this.#isOpen && this.#pending.size > 0) this.#scheduleFlush();
  }

  /** Writes the totals of all tools, with the pending counts. */
  #flush(): Promise<void> {
    if (this.#pending.size === 0) return Promise.resolve();
    return this.#change(async () => {
      const batch = new Map(this.#pending);
      const totals = new Map<string, ExecutionTotal>();
      for (const [name, total] of this.#view.totals) {
        if (this.#isAlive(name, total)) totals.set(name, total);
      }
      for (const [name, pending] of batch) {
        const metadata = this.#view.tools.get(name)?.tool.metadata;
        if (metadata === undefined) continue;
        const { created, executionCount, lastExecuted } = withExecutions(metadata, totals.get(name), pending);
        totals.set(name, { created, executionCount, lastExecuted });
      }
      await this.#writeTotals(totals);
      this.#unwritten -= subtractExecutions(this.#pending, batch);
    });
  }

  /** Returns whether `total` belongs to an existing tool, or to one whose unusable file may be repaired. */
  #isAlive(name: string, total: ExecutionTotal): boolean {
    const file = this.#view.tools.get(name);
    if (file === undefined) return this.#view.unusable.has(toFileName(name));
    return file.tool.metadata.created === total.created;
  }

  async #writeTotals(totals: ReadonlyMap<string, ExecutionTotal>): Promise<void> {
    const write =
      totals.size === 0
        ? this.#writer.remove(countersFileName)
        : this.#writer.replace(countersFileName, formatCounters(totals));
    await write.catch((error: unknown) => this.#acceptNotDurable(error));
  }

  /** Moves the totals from the file of counters into the files of the tools. */
  async #foldCounters(): Promise<void> {
    const left = new Map<string, ExecutionTotal>();
    for (const [name, total] of this.#view.totals) {
      if (!this.#isAlive(name, total)) continue;
      const file = this.#view.tools.get(name);
      if (file === undefined || !(await this.#foldInto(file, total))) left.set(name, total);
    }
    await this.#writeTotals(left);
  }

  /** @returns whether the file has the total now; `false` when another program changed it meanwhile */
  async #foldInto(file: SeenFile, total: ExecutionTotal): Promise<boolean> {
    const { tool, document, signature, modifiedAtMs } = file;
    const { executionCount, lastExecuted } = withExecutions(tool.metadata, total, undefined);
    const { metadata } = tool;
    if (executionCount === metadata.executionCount && lastExecuted === metadata.lastExecuted) return true;
    const { directory } = this.#options;
    const fileName = toFileName(tool.name);
    const isStillWanted = async () => {
      const now = await this.#deps.files.status(join(directory, fileName));
      return now?.signature === signature;
    };
    const text = formatWithCounters(document, { executionCount, lastExecuted });
    try {
      return await this.#writer.replace(fileName, text, { modifiedAtMs, isStillWanted });
    } catch (error) {
      this.#acceptNotDurable(error);
      return true;
    }
  }

  #acceptNotDurable(error: unknown): void {
    if (!(error instanceof MetatoolError) || error.code !== "METATOOL_NOT_DURABLE") throw error;
    this.#report(error);
  }

  #report(error: unknown): void {
    if (!(error instanceof MetatoolError)) throw error;
    this.#deps.onProblem(error);
  }

  #assertOpen(): void {
    if (!this.#isOpen)
      throw new MetatoolError("METATOOL_CLOSED", "Cannot use the saved tools: the store is closed");
  }
}
