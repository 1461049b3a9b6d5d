/**
 * The tasks of one gateway in its home, one file each:
 *
 *     tasks/001/ID.json     a task of the gateway that holds the lock of place 001
 *     tasks/001.lock        held while that gateway runs
 *
 * Several gateways can use one home: each has a place of its own, and one that starts takes over the tasks of places
 * that no gateway holds. Only the owner of the home can read the files.
 */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Logger, messageOf } from "@toolcrib/diagnostics";
import {
  errnoOf,
  makePrivateDirectory,
  readRegularFile,
  removeDrafts,
  removeFile,
  replaceFile,
  tryLock,
} from "@toolcrib/files";
import { ExtensionsError } from "../extensions-error.ts";
import { formatTask, parseTask, type StoredTask } from "./stored-task.ts";

/** Dependencies of the files. */
export interface TaskFilesDeps {
  readonly logger: Logger;
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
}

/** Gateways that can use one home at a time. */
const maxPlaces = 64;
/** Files that a start reads. */
const maxFiles = 10_000;
/** Largest file of a task, in bytes. */
const fileMaxBytes = 40 * 1024 * 1024;
const namePattern = /^([A-Za-z0-9_-]{43})\.json$/;

/** The files of the tasks of one gateway. */
export class TaskFiles implements AsyncDisposable {
  /** The tasks of earlier runs, until `take`. */
  #loaded: readonly StoredTask[];
  readonly #directory: string;
  readonly #lock: Disposable;
  readonly #deps: TaskFilesDeps;
  /** The last change of each file; changes of one file follow each other. */
  readonly #changes = new Map<string, Promise<void>>();

  constructor(directory: string, lock: Disposable, loaded: readonly StoredTask[], deps: TaskFilesDeps) {
    this.#directory = directory;
    this.#lock = lock;
    this.#loaded = loaded;
    this.#deps = deps;
  }

  /** Ids of the calls of stored tasks that have not ended: their records are completed when their tasks end. */
  openCalls(): ReadonlySet<string> {
    const open = this.#loaded.filter(({ outcome }) => outcome === undefined);
    return new Set(open.flatMap(({ call }) => (call === undefined ? [] : [call.subject.callId])));
  }

  /** Returns the tasks of earlier runs, once. */
  take(): readonly StoredTask[] {
    const loaded = this.#loaded;
    this.#loaded = [];
    return loaded;
  }

  /** Stores a task. Resolves when it is stored, or cannot be, which the log says. */
  save(task: StoredTask): Promise<void> {
    return this.#change(task.id, () => replaceFile(this.#deps, this.#pathOf(task.id), formatTask(task)));
  }

  /** Removes a task. */
  remove(id: string): Promise<void> {
    return this.#change(id, () => removeFile(this.#pathOf(id)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#changes.values());
    this.#lock[Symbol.dispose]();
  }

  #pathOf(id: string): string {
    return join(this.#directory, `${id}.json`);
  }

  #change(id: string, change: () => Promise<unknown>): Promise<void> {
    const before = this.#changes.get(id) ?? Promise.resolve();
    const changed = before.then(change).then(
      () => {},
      (error: unknown) =>
        this.#deps.logger.error(
          { reason: messageOf(error) },
          "a task could not be stored: it is lost with this process",
        ),
    );
    this.#changes.set(id, changed);
    void changed.then(() => {
      if (this.#changes.get(id) === changed) this.#changes.delete(id);
    });
    return changed;
  }
}

/**
 * Opens the tasks of a home, and takes over those that no gateway holds.
 *
 * @returns undefined where the home itself cannot be used, which its store reports.
 * @throws {ExtensionsError} `TASKS_UNREADABLE`
 */
export async function openTaskFiles(home: string, deps: TaskFilesDeps): Promise<TaskFiles | undefined> {
  const root = join(home, "tasks");
  if (!(await canBeUsed(home, root))) return undefined;
  try {
    await makePrivateDirectory(root);
    let own: { readonly directory: string; readonly lock: Disposable } | undefined;
    const used = new Set(readdirSync(root));
    for (let place = 1; place <= maxPlaces; place += 1) {
      const name = String(place).padStart(3, "0");
      if (own !== undefined && !used.has(name)) continue;
      const directory = join(root, name);
      const lock = tryLock(root, name, "exclusive");
      if (lock === undefined) continue;
      if (own !== undefined) {
        await adopt(directory, own.directory, deps);
        lock[Symbol.dispose]();
        continue;
      }
      await makePrivateDirectory(directory);
      await removeDrafts(directory);
      own = { directory, lock };
    }
    if (own === undefined)
      throw new ExtensionsError(
        "TASKS_UNREADABLE",
        `All ${maxPlaces} places for tasks are held by other gateways`,
      );
    return new TaskFiles(own.directory, own.lock, await load(own.directory, deps), deps);
  } catch (cause) {
    if (cause instanceof ExtensionsError) throw cause;
    throw new ExtensionsError("TASKS_UNREADABLE", `Cannot use "${root}": ${messageOf(cause)}`, {
      cause,
      hint: "let the user who runs toolcrib own the folder, or remove it: its tasks are lost then",
    });
  }
}

/** Whether the home can be used, and has the folder or can get it: a full disk or a read-only one refuses both. */
async function canBeUsed(home: string, root: string): Promise<boolean> {
  try {
    await makePrivateDirectory(home);
    if (!existsSync(root)) await makePrivateDirectory(root);
    return true;
  } catch {
    return false;
  }
}

/** Names of the files of tasks in a folder; undefined for one that does not exist. */
function filesOf(directory: string): readonly string[] | undefined {
  try {
    return readdirSync(directory).filter((name) => namePattern.test(name));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Moves the tasks of a place that no gateway holds. One that is killed meanwhile leaves a task in both, and loses none. */
async function adopt(from: string, to: string, deps: TaskFilesDeps): Promise<void> {
  for (const name of filesOf(from) ?? []) {
    const { bytes } = await readRegularFile(join(from, name), fileMaxBytes);
    await replaceFile(deps, join(to, name), bytes);
    await removeFile(join(from, name));
  }
}

async function load(directory: string, { logger }: TaskFilesDeps): Promise<readonly StoredTask[]> {
  const tasks: StoredTask[] = [];
  for (const name of (filesOf(directory) ?? []).toSorted().slice(0, maxFiles)) {
    const content = await readRegularFile(join(directory, name), fileMaxBytes).catch(() => undefined);
    const task = content === undefined ? undefined : parseTask(Buffer.from(content.bytes).toString("utf8"));
    if (task !== undefined && `${task.id}.json` === name) tasks.push(task);
    else logger.warn({ file: join(directory, name) }, "a stored task cannot be read, and is left alone");
  }
  return tasks;
}
