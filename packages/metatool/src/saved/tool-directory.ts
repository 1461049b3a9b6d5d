/**
 * What is in the directory of saved tools, as last looked at: the tools, and
 * what is wrong with the files that are none. A file is read again only when it
 * has changed. Nothing is ever written here.
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

/** A saved tool as it is on the disk. */
export interface SeenFile extends SavedFile {
  /** `FileStatus.signature` of the file that was read. */
  readonly signature: string;
  /** Milliseconds since the epoch. */
  readonly modifiedAtMs: number;
}

/** One look at the directory. */
export interface DirectoryView {
  /** By name, in the order of names. */
  readonly tools: ReadonlyMap<string, SeenFile>;
  /** What keeps each of the other files from being a tool, by file name. */
  readonly unusable: ReadonlyMap<string, readonly Diagnostic[]>;
  readonly totals: ExecutionTotals;
  /** Whether the counters are there and cannot be read. */
  readonly areCountersDamaged: boolean;
}

/** A look at one file. */
interface Look {
  /** Absent when it must be looked at again in any case. */
  readonly signature?: string;
  readonly file?: SeenFile;
  readonly diagnostics: readonly Diagnostic[];
}

/** How many files are looked at at a time. */
const concurrency = 16;

/** Looks at a directory, and remembers. One look at a time. */
export class ToolDirectory {
  readonly #files: SavedFiles;
  readonly #path: string;
  readonly #limits: Required<SavedToolLimits>;
  #looks: ReadonlyMap<string, Look> = new Map();
  #counters: { readonly signature: string; readonly totals: ExecutionTotals | undefined } | undefined;

  constructor(files: SavedFiles, path: string, limits: Required<SavedToolLimits>) {
    this.#files = files;
    this.#path = path;
    this.#limits = limits;
  }

  /**
   * Look again. A directory that is not there has no tools.
   *
   * @throws {MetatoolError} `METATOOL_DIRECTORY_UNUSABLE`; what was seen before is then still remembered.
   */
  async look(): Promise<DirectoryView> {
    try {
      const fileNames = (await this.#list()).filter(isToolFileName).sort();
      const { maxTools } = this.#limits;
      const looks = new Map<string, Look>();
      const realPath = fileNames.length === 0 ? "" : await this.#files.resolve(this.#path);
      for (let at = 0; at < Math.min(fileNames.length, maxTools); at += concurrency) {
        const some = fileNames.slice(at, Math.min(at + concurrency, maxTools));
        const found = await Promise.all(some.map((fileName) => this.#lookAt(fileName, realPath)));
        for (const [index, look] of found.entries()) {
          if (look !== undefined) looks.set(some[index] ?? "", look);
        }
      }
      for (const fileName of fileNames.slice(maxTools)) looks.set(fileName, this.#tooMany(fileName));
      await this.#lookAtCounters();
      this.#looks = looks;
    } catch (cause) {
      throw new MetatoolError(
        "METATOOL_DIRECTORY_UNUSABLE",
        `Cannot read the saved tools in "${this.#path}": ${reasonOf(cause)}`,
        {
          cause,
          hint: "Give the user who runs toolcrib access to the directory",
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

  async #lookAt(fileName: string, realPath: string): Promise<Look | undefined> {
    const path = join(this.#path, fileName);
    const source: Source = { name: path, text: "" };
    const name = fromFileName(fileName);
    let isLink = false;
    try {
      const status = await this.#files.status(path);
      if (status === undefined) return undefined;
      isLink = status.kind === "link";
      const known = this.#looks.get(fileName);
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
          "it is a link that leads out of the directory",
          "put the file itself there",
        );
      }
      // What a link leads to may change without the link: it is read each time.
      return { ...(await this.#read(target, fileName)), signature: undefined };
    } catch (cause) {
      if (errnoOf(cause) === "ENOENT" && !isLink) return undefined;
      return unreadable(source, reasonOf(cause), "give the user who runs toolcrib read access");
    }
  }

  async #read(path: string, fileName: string): Promise<Look> {
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

  #tooMany(fileName: string): Look {
    const { maxTools } = this.#limits;
    const message = `Cannot use the saved tool: there are more than ${maxTools} files, which is the most that are read`;
    const source = { name: join(this.#path, fileName), text: "" };
    const finding = { severity: "error" as const, code: "METATOOL_TOO_MANY_TOOLS", message, source };
    return { diagnostics: [{ ...finding, hint: "delete tools that nobody uses" }] };
  }

  async #lookAtCounters(): Promise<void> {
    const path = join(this.#path, countersFileName);
    const status = await this.#files.status(path);
    if (status === undefined) {
      this.#counters = undefined;
    } else if (status.signature !== this.#counters?.signature) {
      const { signature } = status;
      const content = await this.#files.read(path, countersMaxBytes).catch((error: unknown) => {
        if (errnoOf(error) === "ENOENT") return undefined;
        // Unreadable is damaged: counters are not worth doing without the tools.
        return { kind: "not-a-file" as const };
      });
      const text = content?.kind === "content" ? decode(content.bytes) : undefined;
      const totals = text === undefined ? undefined : parseCounters(text);
      this.#counters = content === undefined ? undefined : { signature, totals };
    }
  }

  /** Of tools whose names cannot be told apart, the one that was created first stays. */
  #toView(): DirectoryView {
    const tools = new Map<string, SeenFile>();
    const unusable = new Map<string, readonly Diagnostic[]>();
    const first = new Map<string, SeenFile>();
    for (const { file } of this.#looks.values()) {
      if (file === undefined) continue;
      const fold = foldName(file.tool.name);
      const other = first.get(fold);
      if (other === undefined || createdAt(file) < createdAt(other)) first.set(fold, file);
    }
    for (const [fileName, { file, diagnostics }] of this.#looks) {
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
    const message = `Cannot use the saved tool: "${name}" cannot be told from "${other}", which was created first`;
    const hint = `rename or delete one of them ("${toFileName(other)}")`;
    const source = { name: join(this.#path, fileName), text: "" };
    return { severity: "error", code: "METATOOL_NAME_TAKEN", message, hint, source };
  }
}

function createdAt({ tool }: SavedFile): number {
  return Date.parse(tool.metadata.created);
}

function unreadable(source: Source, reason: string, hint: string): Look {
  const message = `Cannot read the saved tool: ${reason}`;
  return { diagnostics: [{ severity: "error", code: "METATOOL_FILE_UNREADABLE", message, hint, source }] };
}

/** The text of `bytes`, without a byte order mark; `undefined` when they are not UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
