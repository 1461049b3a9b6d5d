/**
 * The saved tools of one directory: `tools/{toolName}.json`, a file for each.
 *
 * What stays true, whoever is killed and whenever: each file is what it was
 * before a change or what it is after it. A change takes the lock of the
 * directory, looks at it, judges, and replaces one file; so of two processes
 * the later one writes last and whole, and `expectedModified` sees what the
 * other did. Readers take no lock. A file that is no usable tool is reported
 * and left alone.
 *
 * It knows neither Starlark nor what runs a tool: code is a text here, a schema
 * an object.
 */

import { join } from "node:path";
import type { Diagnostic } from "@toolcrib/diagnostics";
import { errnoOf, reasonOf } from "@toolcrib/files";
import type { Unsubscribe } from "@toolcrib/tool";
import { MetatoolError } from "../metatool-error.ts";
import {
  countersFileName,
  type ExecutionTotal,
  formatCounters,
  type PendingExecutions,
  withExecutions,
} from "./execution-counters.ts";
import { lintSavedTool } from "./lint-saved-tool.ts";
import { lockDirectory } from "./lock-directory.ts";
import { refuseChanged, refuseFirst, refuseNewName, refuseUnusable } from "./refuse-change.ts";
import { formatSavedFile, formatWithCounters, parseSavedFile, type SavedFile } from "./saved-file.ts";
import { nodeFiles } from "./saved-files.ts";
import { lintSavedName, toFileName } from "./saved-name.ts";
import { resolveSavedToolLimits, type SavedTool, type SavedToolDefinition } from "./saved-tool.ts";
import type {
  SavedToolChange,
  SavedToolResult,
  SavedToolStore,
  SavedToolStoreDeps,
  SavedToolStoreOptions,
} from "./saved-tool-store.ts";
import { type DirectoryView, type SeenFile, ToolDirectory } from "./tool-directory.ts";
import { ToolFileWriter } from "./tool-file-writer.ts";

/**
 * Open the saved tools of a directory. Several processes may do so at the same time.
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
  /** Ends of the queues: of changes, and of looks. */
  #lastChange: Promise<unknown> = Promise.resolve();
  #lastLook: Promise<unknown> = Promise.resolve();
  /** A look that was asked for and has not begun. */
  #nextLook: Promise<void> | undefined;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #watch: (Disposable & { readonly identity: string }) | undefined;
  #settleTimer: NodeJS.Timeout | undefined;
  #flushTimer: NodeJS.Timeout | undefined;
  /** Executions that were counted since the last that were written. */
  #unwritten = 0;
  #isFlushing = false;
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
      lookMs: options.lookMs ?? 1000,
      settleMs: options.settleMs ?? 50,
      lockTimeoutMs: options.lockTimeoutMs ?? 10_000,
    };
    this.#writer = new ToolFileWriter(this.#deps, this.#options.directory);
    this.#directory = new ToolDirectory(this.#deps.files, this.#options.directory, this.#options);
  }

  async open(): Promise<void> {
    const { directory } = this.#options;
    try {
      await this.#deps.files.makeDirectory(directory);
    } catch (cause) {
      const message = `Cannot create the directory of saved tools "${directory}": ${reasonOf(cause)}`;
      const hint = "Give the user who runs toolcrib write access to it, or name another";
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
      // A directory that can only be read is good for reading.
      this.#report(error);
    }
    await this.#look();
    if (this.#view.areCountersDamaged) {
      const path = join(directory, countersFileName);
      const message = `Cannot read the execution counters "${path}"; those in the files of the tools count`;
      this.#report(new MetatoolError("METATOOL_COUNTERS_DAMAGED", message));
    }
  }

  async list(): Promise<readonly SavedTool[]> {
    await this.#lookIfStale();
    return this.current();
  }

  async get(name: string): Promise<SavedTool | undefined> {
    await this.#lookIfStale();
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
    { expectedModified }: { readonly expectedModified?: string } = {},
  ): Promise<SavedToolResult> {
    this.#assertOpen();
    refuseFirst(lintSavedTool({ ...definition }, this.#options));
    return this.#change(async () => {
      const { name } = definition;
      const previous = this.#view.tools.get(name);
      refuseUnusable(this.#view, name);
      if (expectedModified !== undefined) refuseChanged(name, previous, expectedModified);
      if (previous === undefined)
        refuseNewName(this.#view, name, this.#deps.isReserved, this.#options.maxTools);
      const text = this.#format(definition, previous);
      // What was written is what is read back, whatever the caller does with its objects.
      const { value, diagnostics } = parseSavedFile({ name: toFileName(name), text }, name, this.#options);
      refuseFirst(diagnostics);
      const saved = value as SavedFile;
      const modifiedAtMs = Date.parse(saved.tool.metadata.modified);
      await this.#writer.replace(toFileName(name), text, { modifiedAtMs });
      // A count of this life is in the file now; one of an earlier life is not this tool's.
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
    // Times that differ, however fast saves follow one another and whatever the clock does.
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

  /** A time at which no earlier tool of this name, whose total may still be there, was created. */
  #endOfEarlierLife(name: string): number {
    const total = this.#view.totals.get(name);
    return total === undefined ? Number.NEGATIVE_INFINITY : Date.parse(total.created) + 1 || 0;
  }

  async delete(name: string): Promise<SavedTool | undefined> {
    this.#assertOpen();
    refuseFirst(lintSavedName(name));
    return this.#change(async () => {
      refuseUnusable(this.#view, name);
      const file = this.#view.tools.get(name);
      if (file === undefined) return undefined;
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
    // One that failed may be tried again: what was counted is still there.
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
    await this.#lastLook;
    this.#listeners.clear();
    const hasCounted = this.#pending.size > 0;
    await this.#flush();
    if (this.#view.totals.size === 0) return;
    await this.#change(() => this.#foldCounters()).catch((error: unknown) => {
      // Totals that stay beside the tools are not lost, and may be somebody else's.
      if (hasCounted) throw error;
      this.#report(error);
    });
  }

  // Looking.

  async #lookIfStale(): Promise<void> {
    this.#assertOpen();
    const ageMs = Math.abs(this.#deps.now() - this.#lookedAtMs);
    const isFresh =
      this.#watch !== undefined && this.#settleTimer === undefined && ageMs < this.#options.lookMs;
    if (isFresh) await this.#lastLook.catch(() => undefined);
    else await this.#look();
  }

  /** Look at the directory, after the look that is under way. */
  #look(): Promise<void> {
    if (this.#nextLook !== undefined) return this.#nextLook;
    const look = this.#lastLook.then(async () => {
      this.#nextLook = undefined;
      const startedAtMs = this.#deps.now();
      await this.#watchDirectory();
      this.#show(await this.#directory.look());
      this.#lookedAtMs = startedAtMs;
    });
    this.#nextLook = look;
    this.#lastLook = look.catch(() => undefined);
    return look;
  }

  /** Hear of changes; anew when another directory has taken the place of the one that is watched. */
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
    const watch = files.watch(directory, () => this.#scheduleLook(), end);
    if (watch !== undefined) {
      this.#watch = { identity, [Symbol.dispose]: () => watch[Symbol.dispose]() };
    }
  }

  #scheduleLook(): void {
    if (!this.#isOpen || this.#settleTimer !== undefined) return;
    // Not put off by what follows: something that changes all the time would never be looked at.
    this.#settleTimer = setTimeout(() => {
      this.#settleTimer = undefined;
      this.#look().catch((error: unknown) => this.#report(error));
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

  // Changing.

  /** Run `change` when it is its turn, with the lock held and the directory just looked at; look again when it is done. */
  #change<T>(change: () => Promise<T>): Promise<T> {
    const turn = this.#lastChange.then(async () => {
      const { directory, lockTimeoutMs } = this.#options;
      await this.#makeDirectory();
      using _lock = await lockDirectory(directory, lockTimeoutMs);
      await this.#look();
      try {
        return await change();
      } finally {
        // What was changed is changed: that it cannot be seen is no failure of the change.
        await this.#look().catch((error: unknown) => this.#report(error));
      }
    });
    this.#lastChange = turn.catch(() => undefined);
    return turn;
  }

  async #makeDirectory(): Promise<void> {
    const { directory } = this.#options;
    if ((await this.#deps.files.status(directory).catch(() => undefined)) !== undefined) return;
    await this.#deps.files.makeDirectory(directory).catch(() => {
      // Locking it fails too, and says why.
    });
  }

  // Counting.

  /** See to it that what was counted is written, at once or later. */
  #scheduleFlush(): void {
    const isDue = this.#unwritten >= this.#options.flushCount && !this.#isFlushFailing;
    if (this.#isFlushing || (this.#flushTimer !== undefined && !isDue)) return;
    clearTimeout(this.#flushTimer);
    this.#flushTimer = setTimeout(() => void this.#flushOnTime(), isDue ? 0 : this.#options.flushMs);
    this.#flushTimer.unref();
  }

  async #flushOnTime(): Promise<void> {
    this.#flushTimer = undefined;
    this.#isFlushing = true;
    try {
      await this.#flush();
      this.#isFlushFailing = false;
    } catch (error) {
      // What was counted is kept and tried again, in its time and not at once.
      this.#isFlushFailing = true;
      this.#report(error);
    } finally {
      this.#isFlushing = false;
    }
    if (this.#isOpen && this.#pending.size > 0) this.#scheduleFlush();
  }

  /** Write the totals of all tools, with what was counted since. */
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
      this.#subtract(batch);
    });
  }

  /** Whether `total` is of a tool that is there, or may be: a file that cannot be used now may be mended. */
  #isAlive(name: string, total: ExecutionTotal): boolean {
    const file = this.#view.tools.get(name);
    if (file === undefined) return this.#view.unusable.has(toFileName(name));
    return file.tool.metadata.created === total.created;
  }

  #subtract(batch: ReadonlyMap<string, PendingExecutions>): void {
    for (const [name, { count }] of batch) {
      this.#unwritten -= count;
      const pending = this.#pending.get(name);
      if (pending === undefined) continue;
      if (pending.count <= count) this.#pending.delete(name);
      else this.#pending.set(name, { ...pending, count: pending.count - count });
    }
  }

  async #writeTotals(totals: ReadonlyMap<string, ExecutionTotal>): Promise<void> {
    const write =
      totals.size === 0
        ? this.#writer.remove(countersFileName)
        : this.#writer.replace(countersFileName, formatCounters(totals));
    await write.catch((error: unknown) => this.#acceptNotDurable(error));
  }

  /** Put the totals into the metadata of the tools' own files, and then away. */
  async #foldCounters(): Promise<void> {
    const left = new Map<string, ExecutionTotal>();
    for (const [name, total] of this.#view.totals) {
      if (!this.#isAlive(name, total)) continue;
      const file = this.#view.tools.get(name);
      if (file === undefined || !(await this.#foldInto(file, total))) left.set(name, total);
    }
    await this.#writeTotals(left);
  }

  /** @returns whether the file has the total now; not when somebody changes it at this moment. */
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
      throw new MetatoolError("METATOOL_CLOSED", "Cannot use the saved tools: they are closed");
  }
}
