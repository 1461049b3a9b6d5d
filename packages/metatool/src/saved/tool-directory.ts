/**
 * The content of the directory of saved tools at the last scan: the tools, and the
 * findings about files that are not usable tools. A file is read again only when it
 * has changed. Never writes.
 */

import { join, sep } from "node:path";
import type { Diagnostic, Source } from "@toolcrib/diagnostics";
import { errnoOf, reasonOf } from "@toolcrib/files";
import { foldName } from "@toolcrib/tool";
import { MetatoolError } from "../metatool-error.ts";
import {
  countersFileName,
  countersMaxBytes,
  type ExecutionTotals,
  parseCounters,
} from "./execution-counters.ts";
import { parseSavedFile, type SavedFile } from "./saved-file.ts";
import type { SavedFiles } from "./saved-files.ts";
import { fromFileName, isToolFileName, lintSavedName, toFileName } from "./saved-name.ts";
import type { SavedToolLimits } from "./saved-tool.ts";

/** A saved tool with the state of its file. */
export interface SeenFile extends SavedFile {
  /** `FileStatus.signature` of the file that was read. */
  readonly signature: string;
  /** Milliseconds since the epoch. */
  readonly modifiedAtMs: number;
}

/** The result of a scan. */
export interface DirectoryView {
  /** By name, in the order of names. */
  readonly tools: ReadonlyMap<string, SeenFile>;
  /** The findings about every other file, by file name. */
  readonly unusable: ReadonlyMap<string, readonly Diagnostic[]>;
  readonly totals: ExecutionTotals;
  /** Whether the file of counters exists and cannot be read. */
  readonly areCountersDamaged: boolean;
}

/** The result of scanning one file. */
interface FileScan {
  /** Absent when the next scan must read the file in any case. */
  readonly signature?: string;
  readonly file?: SeenFile;
  readonly diagnostics: readonly Diagnostic[];
}

/** Files that are scanned at a time. */
const concurrency = 16;

/** Scans a directory and caches the result. One scan at a time. */
export class ToolDirectory {
  readonly #files: SavedFiles;
  readonly #path: string;
  readonly #limits: Required<SavedToolLimits>;
  #scans: ReadonlyMap<string, FileScan> = new Map();
  #counters: { readonly signature: string; readonly totals: ExecutionTotals | undefined } | undefined;

  constructor(files: SavedFiles, path: string, limits: Required<SavedToolLimits>) {
    this.#files = files;
    this.#path = path;
    this.#limits = limits;
  }

  /**
   * Scans the directory. One that does not exist has no tools.
   *
   * @throws {MetatoolError} `METATOOL_DIRECTORY_UNUSABLE`; the result of the last scan is kept.
   */
  async scan(): Promise<DirectoryView> {
    try {
      const fileNames = (await this.#list()).filter(isToolFileName).sort();
      const { maxTools } = this.#limits;
      const scans = new Map<string, FileScan>();
      const realPath = fileNames.length === 0 ? "" : await this.#files.resolve(this.#path);
      for (let at = 0; at < Math.min(fileNames.length, maxTools); at += concurrency) {
        const some = fileNames.slice(at, Math.min(at + concurrency, maxTools));
        const found = await Promise.all(some.map((fileName) => this.#scanFile(fileName, realPath)));
        for (const [index, scan] of found.entries()) {
          if (scan !== undefined) scans.set(some[index] ?? "", scan);
        }
      }
      for (const fileName of fileNames.slice(maxTools)) scans.set(fileName, this.#tooMany(fileName));
      await this.#scanCounters();
      this.#scans = scans;
    } catch (cause) {
      throw new MetatoolError(
        "METATOOL_DIRECTORY_UNUSABLE",
        `Cannot read the saved tools in "${this.#path}": ${reasonOf(cause)}`,
        {
          cause,
          hint: "give the user who runs toolcrib access to the directory",
          data: { errno: errnoOf(cause) },
        },
      );
    }
    return this.#toView();
  }

  async #list(): Promise<readonly string[]> {
    try {
      return await this.#files.list(this.#path);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return [];
      throw error;
    }
  }

  async #scanFile(fileName: string, realPath: string): Promise<FileScan | undefined> {
    const path = join(this.#path, fileName);
    const source: Source = { name: path, text: "" };
    const name = fromFileName(fileName);
    let isLink = false;
    try {
      const status = await this.#files.status(path);
      if (status === undefined) return undefined;
      isLink = status.kind === "link";
      const known = this.#scans.get(fileName);
      if (known?.signature !== undefined && known.signature === status.signature) return known;
      const nameFindings = lintSavedName(name);
      if (nameFindings.length > 0) {
        return { diagnostics: nameFindings.map((one) => ({ ...one, source })), signature: status.signature };
      }
      if (!isLink) return await this.#read(path, fileName);
      const target = await this.#files.resolve(path);
      if (!target.startsWith(realPath + sep)) {
        return unreadable(
          source,
          "it is a link to a place outside the directory",
          "put the file itself there",
        );
      }
      // The target of a link can change without the link, so it is read each time.
      return { ...(await this.#read(target, fileName)), signature: undefined };
    } catch (cause) {
      if (errnoOf(cause) === "ENOENT" && !isLink) return undefined;
      return unreadable(source, reasonOf(cause), "give the user who runs toolcrib read access");
    }
  }

  async #read(path: string, fileName: string): Promise<FileScan> {
    const shownPath = join(this.#path, fileName);
    const { fileMaxBytes } = this.#limits;
    const content = await this.#files.read(path, fileMaxBytes);
    const empty: Source = { name: shownPath, text: "" };
    if (content.kind === "not-a-file") return unreadable(empty, "it is not a file", "move it elsewhere");
    if (content.kind === "too-large" || content.bytes.length > fileMaxBytes) {
      const message = `Cannot read the saved tool: its file is longer than ${fileMaxBytes} bytes`;
      return {
        diagnostics: [{ severity: "error", code: "METATOOL_FILE_TOO_LARGE", message, source: empty }],
      };
    }
    const { signature, modifiedAtMs } = content.status;
    const text = decode(content.bytes);
    if (text === undefined) {
      const message = "Cannot read the saved tool: its file is not UTF-8";
      return {
        diagnostics: [{ severity: "error", code: "METATOOL_FILE_SYNTAX", message, source: empty }],
        signature,
      };
    }
    const name = fromFileName(fileName);
    const source = { name: shownPath, text };
    const { value, diagnostics } = parseSavedFile(source, name, this.#limits, modifiedAtMs);
    const file = value === undefined ? undefined : { ...value, signature, modifiedAtMs };
    return { file, diagnostics, signature };
  }

  #tooMany(fileName: string): FileScan {
    const { maxTools } = this.#limits;
    const message = `Cannot use the saved tool: the directory has more than ${maxTools} files, and at most that many are read`;
    const source = { name: join(this.#path, fileName), text: "" };
    const finding = { severity: "error" as const, code: "METATOOL_TOO_MANY_TOOLS", message, source };
    return { diagnostics: [{ ...finding, hint: "delete unused tools" }] };
  }

  async #scanCounters(): Promise<void> {
    const path = join(this.#path, countersFileName);
    const status = await this.#files.status(path);
    if (status === undefined) {
      this.#counters = undefined;
    } else if (status.signature !== this.#counters?.signature) {
      const { signature } = status;
      const content = await this.#files.read(path, countersMaxBytes).catch((error: unknown) => {
        if (errnoOf(error) === "ENOENT") return undefined;
        // Unreadable counters count as damaged: the tools stay usable.
        return { kind: "not-a-file" as const };
      });
      const text = content?.kind === "content" ? decode(content.bytes) : undefined;
      const totals = text === undefined ? undefined : parseCounters(text);
      this.#counters = content === undefined ? undefined : { signature, totals };
    }
  }

  /** Of tools with confusable names, the one that was created first is used. */
  #toView(): DirectoryView {
    const tools = new Map<string, SeenFile>();
    const unusable = new Map<string, readonly Diagnostic[]>();
    const first = new Map<string, SeenFile>();
    for (const { file } of this.#scans.values()) {
      if (file === undefined) continue;
      const fold = foldName(file.tool.name);
      const other = first.get(fold);
      if (other === undefined || createdAt(file) < createdAt(other)) first.set(fold, file);
    }
    for (const [fileName, { file, diagnostics }] of this.#scans) {
      const winner = file === undefined ? undefined : first.get(foldName(file.tool.name));
      if (file === undefined || winner === undefined) unusable.set(fileName, diagnostics);
      else if (winner === file) tools.set(file.tool.name, file);
      else unusable.set(fileName, [this.#taken(fileName, file.tool.name, winner.tool.name)]);
    }
    const totals = this.#counters?.totals ?? new Map();
    const areCountersDamaged = this.#counters !== undefined && this.#counters.totals === undefined;
    return { tools, unusable, totals, areCountersDamaged };
  }

  #taken(fileName: string, name: string, other: string): Diagnostic {
    const message = `Cannot use the saved tool: its name "${name}" is confusable with "${other}", which was created first`;
    const hint = `rename or delete one of them ("${toFileName(other)}")`;
    const source = { name: join(this.#path, fileName), text: "" };
    return { severity: "error", code: "METATOOL_NAME_TAKEN", message, hint, source };
  }
}

function createdAt({ tool }: SavedFile): number {
  return Date.parse(tool.metadata.created);
}

function unreadable(source: Source, reason: string, hint: string): FileScan {
  const message = `Cannot read the saved tool: ${reason}`;
  return { diagnostics: [{ severity: "error", code: "METATOOL_FILE_UNREADABLE", message, hint, source }] };
}

/** Decodes UTF-8 without a byte order mark; `undefined` for other bytes. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
