/**
 * Watches the folders of files, and knows which changes the watches may not report: folders can be missing or on a file
 * system that reports only changes of this machine, links can lead through further folders, files can have other names
 * elsewhere or be mounted alone, and a folder above can be replaced. The owner of the watches polls what may not be
 * reported. A folder that is removed, moved or created again is followed at once: its number is no proof that it is the
 * same one, because file systems reuse numbers, and a watch ends with its folder without an error.
 */

import {
  type BigIntStats,
  type FSWatcher,
  lstatSync,
  readFileSync,
  realpathSync,
  type Stats,
  statfsSync,
  statSync,
  watch,
} from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

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
  /** Folders that contain several folders of files or a lost one, by the names of these. */
  #parents: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  /** Folders that were watched and are missing now. */
  #lost = new Set<string>();
  /** Whether the files are followed again after this turn. */
  #isFollowDue = false;
  #isClosed = false;

  /** @param onEvent receives the events in folders of files, and those about such folders */
  constructor(onEvent: (event: FolderEvent) => void) {
    this.#onEvent = onEvent;
  }

  /** Watches the folders of the files, and those that links lead to, as they are now: paths can lead to other ones. */
  follow(paths: readonly string[]): void {
    const mountPoints = mountPointsNow();
    this.#files = paths.map((path) => toWatchedFile(path, mountPoints));
    this.#names = new Set(this.#files.flatMap(({ names }) => names));
    this.#own = new Set(this.#files.flatMap(({ folders }) => folders));
    const parents = parentsOf(this.#own);
    const wanted = new Map<string, FolderPlace | undefined>();
    const want = (folder: string) => wanted.set(folder, placeOf(folder));
    for (const folder of new Set([...this.#own, ...parents.keys()])) want(folder);
    const known = new Set([...this.#lost, ...this.#folders.keys()]);
    this.#lost = new Set([...known].filter((one) => wanted.has(one) && wanted.get(one) === undefined));
    for (const folder of this.#lost) {
      const { parent, name } = nearestParent(folder);
      parents.set(parent, new Set([...(parents.get(parent) ?? []), name]));
      want(parent);
    }
    this.#parents = parents;
    for (const [folder, { place }] of this.#folders)
      if (place.identity !== wanted.get(folder)?.identity) this.#unwatch(folder);
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

  #unwatch(folder: string): void {
    this.#folders.get(folder)?.watcher.close();
    this.#folders.delete(folder);
  }

  #reported(folder: string, kind: string, name: string | null): void {
    if (kind === "rename" && name !== null) {
      // The end of a watch has the name of its folder. A child can have that name, too: watching again costs little.
      const isItself = name === basename(folder);
      if (isItself || this.#parents.get(folder)?.has(name) === true) {
        this.#replaced(isItself ? folder : join(folder, name));
        return;
      }
    }
    const isOfFile = name === null || this.#names.has(name);
    if (this.#own.has(folder)) this.#onEvent({ isOfFile, isRename: kind === "rename" && name !== null });
    else if (name === null || this.#parents.get(folder)?.has(name) === true)
      this.#onEvent({ isOfFile: false, isRename: false });
  }

  /**
   * Follows the files again, with a new watch of a folder that was removed, moved or created: once for all events of a
   * turn, because whole trees are removed at once.
   */
  #replaced(folder: string): void {
    if (this.#folders.has(folder)) this.#lost.add(folder);
    this.#unwatch(folder);
    if (this.#isFollowDue) return;
    this.#isFollowDue = true;
    setImmediate(() => {
      this.#isFollowDue = false;
      if (this.#isClosed) return;
      this.follow(this.#files.map(({ path }) => path));
      // The events that the old watches had not handed over are lost.
      this.#onEvent({ isOfFile: true, isRename: false });
    });
  }
}

/** The folders in which a file is watched now: that of its path, and that of the file that a link leads to. */
function toWatchedFile(path: string, mountPoints: MountPoints): WatchedFile {
  const folder = dirname(path);
  const stats = linkStatsOf(path);
  const isLink = stats?.isSymbolicLink() === true;
  const real = isLink ? realPathOf(path) : path;
  return {
    path,
    folders: [...new Set([folder, dirname(real)])],
    names: [...new Set([basename(path), basename(real)])],
    isPlain: !isLink && (stats?.nlink ?? 1) === 1 && !isMounted(path, mountPoints),
  };
}

/** The places at which something is mounted, without links, by their last name. */
type MountPoints = ReadonlyMap<string, readonly string[]>;

/** Reads the mounts of this process. Empty where the system does not list them as Linux does. */
function mountPointsNow(): MountPoints {
  if (!isLinux) return new Map();
  try {
    const lines = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
    // Spaces, tabs, ends of lines and backslashes are octal numbers there: see proc_pid_mountinfo(5).
    const toPath = (text = "") =>
      text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
    return Map.groupBy(
      lines.map((line) => toPath(line.split(" ")[4])),
      (path) => basename(path),
    );
  } catch {
    return new Map();
  }
}

/** Whether the file is mounted alone: what is written to it elsewhere is no event in its folder. */
function isMounted(path: string, mountPoints: MountPoints): boolean {
  const name = basename(path);
  const places = mountPoints.get(name);
  return places?.includes(join(realPathOf(dirname(path)), name)) === true;
}

/** The folders with several of `folders` in them, by the names of these. */
function parentsOf(folders: ReadonlySet<string>): Map<string, ReadonlySet<string>> {
  const groups = Map.groupBy(folders, (folder) => dirname(folder));
  const several = [...groups].filter(([, children]) => children.length > 1);
  return new Map(
    several.map(([parent, children]) => [parent, new Set(children.map((one) => basename(one)))]),
  );
}

/** The nearest folder above a missing one that exists, and the name in it that leads to the missing one. */
function nearestParent(folder: string): { readonly parent: string; readonly name: string } {
  const parent = dirname(folder);
  const isFound = parent === folder || dirname(parent) === parent || placeOf(parent) !== undefined;
  return isFound ? { parent, name: basename(folder) } : nearestParent(parent);
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

/** Where the time of birth is not known, systems give 0 or the time of the last change instead of it. */
function identityOf({ dev, ino, birthtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev} ${ino} ${birthtimeNs === ctimeNs ? 0n : birthtimeNs}`;
}
