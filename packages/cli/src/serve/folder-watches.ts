/**
 * Watches the folders of files, and knows which changes the watches may not report: folders can be missing or on a file
 * system that reports only changes of this machine, links can lead through further folders, files can have other names
 * elsewhere, and a folder above can be replaced. The owner of the watches polls what may not be reported.
 */

import {
  type BigIntStats,
  type FSWatcher,
  lstatSync,
  realpathSync,
  type Stats,
  statfsSync,
  statSync,
  watch,
} from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";

const isLinux = process.platform === "linux";
/** Folders that are watched. On Linux, all watches of a process share one descriptor. */
const foldersMaxCount = isLinux ? 1024 : 64;
/** The file systems of Linux that report every change, by `f_type` of statfs(2). Those of networks and of hosts are none. */
const reportingTypes: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0xf2f52010, // F2FS
  0x2fc12fc1, // ZFS
  0x01021994, // tmpfs
  0x794c7630, // overlayfs
]);

/** A file, and the folders in which its changes are events. */
interface WatchedFile {
  readonly path: string;
  readonly folders: readonly string[];
  /** Names of the file in these folders. */
  readonly names: readonly string[];
  /** Whether each of its changes is an event in the first of these folders. */
  readonly isPlain: boolean;
}

/** A folder that is watched. */
interface WatchedFolder {
  readonly watcher: FSWatcher;
  readonly place: FolderPlace;
  /** Whether its file system reports every change. */
  readonly isReporting: boolean;
}

/** Where the path of a folder leads. */
interface FolderPlace {
  /** Another text for another folder. */
  readonly identity: string;
  readonly device: bigint;
  readonly isLink: boolean;
}

/** An event of a folder. */
interface FolderEvent {
  /** Whether it can be about one of the files, by its name. */
  readonly isOfFile: boolean;
  /** Whether the file was created, removed or renamed, and not written. */
  readonly isRename: boolean;
}

/** The watches of the folders of files. */
export class FolderWatches implements Disposable {
  readonly #onEvent: (event: FolderEvent) => void;
  readonly #folders = new Map<string, WatchedFolder>();
  #files: readonly WatchedFile[] = [];
  /** Names of the files in their folders. */
  #names: ReadonlySet<string> = new Set();
  /** Folders of files. */
  #own: ReadonlySet<string> = new Set();
  /** Folders that contain several folders of files, by the names of these. */
  #parents: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  #isClosed = false;

  /** @param onEvent receives the events in folders of files, and those about such folders */
  constructor(onEvent: (event: FolderEvent) => void) {
    this.#onEvent = onEvent;
  }

  /** Watches the folders of the files, and those that links lead to, as they are now: paths can lead to other ones. */
  follow(paths: readonly string[]): void {
    this.#files = paths.map(toWatchedFile);
    this.#names = new Set(this.#files.flatMap(({ names }) => names));
    this.#own = new Set(this.#files.flatMap(({ folders }) => folders));
    this.#parents = parentsOf(this.#own);
    const folders = new Set([...this.#own, ...this.#parents.keys()]);
    const wanted = new Map([...folders].map((folder) => [folder, placeOf(folder)]));
    for (const [folder, { watcher, place }] of this.#folders) {
      if (place.identity === wanted.get(folder)?.identity) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    const types = new Map<bigint, boolean>();
    for (const [folder, place] of wanted) {
      if (this.#isClosed || this.#folders.size >= foldersMaxCount) return;
      if (place !== undefined && !this.#folders.has(folder)) this.#watch(folder, place, types);
    }
  }

  /** The files whose changes the watches may not report. */
  get unreported(): readonly string[] {
    const isReporting = (folder: string) => this.#folders.get(folder)?.isReporting === true;
    const isReported = ({ folders, isPlain }: WatchedFile) => isPlain && folders.every(isReporting);
    return this.#files.filter((file) => !isReported(file)).map(({ path }) => path);
  }

  /** Whether all paths still lead to the folders that are watched, as far as no watch would report it. */
  async areCurrent(): Promise<boolean> {
    const isReported = (folder: string, { place }: WatchedFolder) => {
      const parent = dirname(folder);
      const isNamed = this.#parents.get(parent)?.has(basename(folder)) === true;
      return !place.isLink && isNamed && this.#folders.get(parent)?.isReporting === true;
    };
    const unreported = [...this.#folders].filter(([folder, watched]) => !isReported(folder, watched));
    const checks = unreported.map(async ([folder, { place }]) => {
      const stats = await stat(folder, { bigint: true }).catch(() => undefined);
      return stats !== undefined && identityOf(stats) === place.identity;
    });
    return (await Promise.all(checks)).every((isSame) => isSame);
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const { watcher } of this.#folders.values()) watcher.close();
    this.#folders.clear();
  }

  /** @param types whether a file system reports every change, by its device */
  #watch(folder: string, place: FolderPlace, types: Map<bigint, boolean>): void {
    try {
      const isReporting = types.get(place.device) ?? reportsChanges(folder);
      types.set(place.device, isReporting);
      const watcher = watch(folder, { persistent: false }, (kind, name) =>
        this.#reported(folder, kind, name),
      );
      watcher.on("error", () => {
        watcher.close();
        if (this.#folders.get(folder)?.watcher === watcher) this.#folders.delete(folder);
      });
      this.#folders.set(folder, { watcher, place, isReporting });
    } catch {
      // The folder does not exist, or the system has no more watches: its files are polled.
    }
  }

  #reported(folder: string, kind: string, name: string | null): void {
    const isOfFile = name === null || this.#names.has(name);
    if (this.#own.has(folder)) this.#onEvent({ isOfFile, isRename: kind === "rename" && name !== null });
    else if (name === null || this.#parents.get(folder)?.has(name) === true)
      this.#onEvent({ isOfFile: false, isRename: false });
  }
}

/** The folders in which a file is watched now: that of its path, and that of the file that a link leads to. */
function toWatchedFile(path: string): WatchedFile {
  const folder = dirname(path);
  const stats = linkStatsOf(path);
  const isLink = stats?.isSymbolicLink() === true;
  const real = isLink ? realPathOf(path) : path;
  return {
    path,
    folders: [...new Set([folder, dirname(real)])],
    names: [...new Set([basename(path), basename(real)])],
    isPlain: !isLink && (stats?.nlink ?? 1) === 1,
  };
}

/** The folders with several of `folders` in them, by the names of these. */
function parentsOf(folders: ReadonlySet<string>): ReadonlyMap<string, ReadonlySet<string>> {
  const groups = Map.groupBy(folders, (folder) => dirname(folder));
  const several = [...groups].filter(([, children]) => children.length > 1);
  return new Map(
    several.map(([parent, children]) => [parent, new Set(children.map((one) => basename(one)))]),
  );
}

function reportsChanges(folder: string): boolean {
  return isLinux && reportingTypes.has(statfsSync(folder).type);
}

function linkStatsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The path without links; `path` itself where nothing is there. */
function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** Returns undefined for a missing folder. */
function placeOf(folder: string): FolderPlace | undefined {
  try {
    const stats = lstatSync(folder, { bigint: true });
    const isLink = stats.isSymbolicLink();
    const target = isLink ? statSync(folder, { bigint: true }) : stats;
    return { identity: identityOf(target), device: target.dev, isLink };
  } catch {
    return undefined;
  }
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev} ${ino}`;
}
