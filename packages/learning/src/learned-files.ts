/**
 * The learned words of a home, one file for each client (`search/DIGEST.json`, readable by its owner only), so that a
 * change of one client costs nothing to the others. Gateways of the home share them: a change takes a lock, reads the
 * file and replaces it whole.
 *
 * A file that cannot be read or parsed counts as no words, and is never replaced: only forgetting removes it.
 */

import { createHash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  errnoOf,
  makePrivateDirectory,
  readRegularFile,
  reasonOf,
  removeDrafts,
  removeFile,
  replaceFile,
  waitForLock,
} from "@toolcrib/files";
import { identityKey } from "@toolcrib/tool";
import { formatLearned, type LearnedClient, type LearnedWords, parseLearned } from "./learned-words.ts";
import { LearningError } from "./learning-error.ts";
import { wordLimits } from "./limits.ts";

/** Milliseconds that a change waits for changes of other processes. */
const lockTimeoutMs = 5000;
const filePattern = /^[0-9a-f]{40}\.json$/;
/** Files that are read: those of as many clients, and some that other gateways are about to drop. */
const filesMaxCount = 2 * wordLimits.clients;

/** Dependencies of the files. */
export interface LearnedFilesDeps {
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** Called once for each file that cannot be read. */
  readonly onProblem: (problem: LearningError) => void;
}

/** A file that changed since it was read last. */
export interface ChangedFile {
  /** `identityKey` of its client; undefined where it is not known. */
  readonly key: string;
  /** `undefined`: it was removed, or cannot be read. */
  readonly learned: LearnedWords | undefined;
}

/** The files of one home. */
export class LearnedFiles {
  readonly #folder: string;
  readonly #lockFolder: string;
  readonly #deps: LearnedFilesDeps;
  /** By name of the file: its state when it was read, and its client. */
  readonly #read = new Map<string, { readonly signature: string; readonly key: string | undefined }>();
  #folderSignature = "none";

  constructor(home: string, deps: LearnedFilesDeps) {
    this.#folder = join(home, "search");
    this.#lockFolder = join(home, "locks");
    this.#deps = deps;
  }

  /** Reads the files that changed since the last call, those that were written last at the end. @throws the file system's error */
  async changed(): Promise<readonly ChangedFile[]> {
    // A file is replaced by renaming, which changes the folder.
    const folderSignature = await signatureOf(this.#folder);
    if (folderSignature === this.#folderSignature) return [];
    const names = folderSignature === "" ? [] : await readdir(this.#folder);
    const files: { name: string; signature: string }[] = [];
    for (const name of names.filter((one) => filePattern.test(one)).slice(0, filesMaxCount)) {
      files.push({ name, signature: await signatureOf(join(this.#folder, name)) });
    }
    const changed: ChangedFile[] = [];
    for (const { name, signature } of files.sort(byTime)) {
      if (signature === "" || this.#read.get(name)?.signature === signature) continue;
      changed.push(...(await this.#reread(name, signature)));
    }
    const present = new Set(files.map(({ name }) => name));
    for (const [name, { key }] of this.#read) {
      if (present.has(name)) continue;
      this.#read.delete(name);
      if (key !== undefined) changed.push({ key, learned: undefined });
    }
    this.#folderSignature = folderSignature;
    return changed;
  }

  async #reread(name: string, signature: string): Promise<readonly ChangedFile[]> {
    const before = this.#read.get(name)?.key;
    const learned = await this.#readFile(name).catch((problem: unknown) => {
      this.#deps.onProblem(problem as LearningError);
      return undefined;
    });
    const key = learned === undefined ? before : identityKey(learned.client);
    this.#read.set(name, { signature, key });
    return key === undefined ? [] : [{ key, learned }];
  }

  /**
   * Changes the words of a client, and removes its file where it has none left.
   *
   * @returns the words after the change.
   * @throws {LearningError}
   */
  async change(client: LearnedClient, apply: (learned: LearnedWords) => void): Promise<LearnedWords> {
    const name = nameOf(client);
    const path = join(this.#folder, name);
    try {
      await makePrivateDirectory(this.#folder);
      await makePrivateDirectory(this.#lockFolder);
      using lock = await waitForLock(this.#lockFolder, "search", lockTimeoutMs);
      if (lock === undefined) throw new Error(`another process has been writing for ${lockTimeoutMs} ms`);
      await removeDrafts(this.#folder);
      const learned = (await this.#readFile(name)) ?? { client, tools: new Map() };
      apply(learned);
      if (learned.tools.size === 0) await removeFile(path);
      else await replaceFile({ randomBytes: this.#deps.randomBytes }, path, formatLearned(learned));
      const signature = await signatureOf(path);
      if (signature === "") this.#read.delete(name);
      else this.#read.set(name, { signature, key: identityKey(client) });
      return learned;
    } catch (cause) {
      if (cause instanceof LearningError) throw cause;
      throw new LearningError("LEARNING_UNWRITABLE", `Cannot write "${path}": ${reasonOf(cause)}`, { cause });
    }
  }

  /** Returns what each client taught. @throws {LearningError} `LEARNING_FILE_UNREADABLE` where the folder cannot be read */
  async list(): Promise<readonly LearnedWords[]> {
    const names = await readdir(this.#folder).catch((cause: unknown) => {
      if (errnoOf(cause) === "ENOENT") return [];
      const message = `Cannot read the folder "${this.#folder}": ${reasonOf(cause)}`;
      const hint = "move the file at this path away: Toolcrib makes the folder anew";
      throw new LearningError("LEARNING_FILE_UNREADABLE", message, { cause, hint });
    });
    const all: LearnedWords[] = [];
    for (const name of names.filter((one) => filePattern.test(one)).sort()) {
      const learned = await this.#readFile(name).catch((problem: unknown) => {
        this.#deps.onProblem(problem as LearningError);
        return undefined;
      });
      if (learned !== undefined) all.push(learned);
    }
    return all;
  }

  /** Removes every file, also those that cannot be read. @returns their number @throws {LearningError} */
  async removeAll(): Promise<number> {
    try {
      if ((await signatureOf(this.#folder)) === "") return 0;
      await makePrivateDirectory(this.#lockFolder);
      using lock = await waitForLock(this.#lockFolder, "search", lockTimeoutMs);
      if (lock === undefined) throw new Error(`another process has been writing for ${lockTimeoutMs} ms`);
      const names = (await readdir(this.#folder)).filter((one) => filePattern.test(one));
      for (const name of names) await removeFile(join(this.#folder, name));
      return names.length;
    } catch (cause) {
      const message = `Cannot remove the files in "${this.#folder}": ${reasonOf(cause)}`;
      throw new LearningError("LEARNING_UNWRITABLE", message, { cause });
    }
  }

  async #readFile(name: string): Promise<LearnedWords | undefined> {
    const path = join(this.#folder, name);
    let bytes: Uint8Array;
    try {
      ({ bytes } = await readRegularFile(path, wordLimits.fileMaxBytes));
    } catch (cause) {
      if (errnoOf(cause) === "ENOENT") return undefined;
      throw unreadable(path, reasonOf(cause), cause);
    }
    const text = Buffer.from(bytes).toString("utf8");
    const learned = bytes.length > wordLimits.fileMaxBytes ? undefined : parseLearned(text);
    // A file under another name could make a client speak for another one.
    if (learned === undefined || nameOf(learned.client) !== name)
      throw unreadable(path, "its content is damaged");
    return learned;
  }
}

/** Returns the name of the file of a client. */
function nameOf(client: LearnedClient): string {
  return `${createHash("sha256").update(identityKey(client)).digest("hex").slice(0, 40)}.json`;
}

/** Identifies a state of a file or folder, and begins with the time of its last change; empty when it does not exist. */
async function signatureOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [mtimeNs, ctimeNs, ino, size].join(":");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "";
    throw error;
  }
}

function byTime(a: { readonly signature: string }, b: { readonly signature: string }): number {
  return Number.parseFloat(a.signature) - Number.parseFloat(b.signature);
}

function unreadable(path: string, reason: string, cause?: unknown): LearningError {
  return new LearningError("LEARNING_FILE_UNREADABLE", `Cannot read "${path}": ${reason}`, {
    cause,
    hint: "its words do not count; toolcrib search forget --all removes it",
  });
}
