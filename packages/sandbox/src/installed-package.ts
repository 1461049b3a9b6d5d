/**
 * The packages beside a program of a `node_modules` folder that it needs: the
 * package that the program belongs to, and for a script the packages that its
 * manifest names, theirs, and so on, where Node would find them. A folder is named
 * as a whole only where nothing else is in it. Other packages of the same tree stay
 * out: they are the code of other programs, or of a whole workspace.
 *
 * It reads manifests and lists folders, within limits, and runs nothing. What a
 * script loads without naming it in its manifest is missing in the sandbox, and so is
 * a dependency that is a link to a folder outside of every `node_modules`.
 */

import { lstat, open, readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { isWithin } from "./paths.ts";

/** The folders, files and links that a program needs. */
export interface InstalledPackage {
  readonly bound: readonly string[];
  readonly links: ReadonlyMap<string, string>;
}

/** Packages of one program. A bind is three arguments of `bwrap`, which takes 9,000. */
const packagesMaxCount = 1_000;

/** Packages that one manifest names. */
const dependenciesMaxCount = 1_000;

/** Entries of one `node_modules` that are looked at. */
const entriesMaxCount = 5_000;

/** Bytes of a manifest, and of a script in `.bin` that starts a program. */
const manifestMaxBytes = 1_048_576;

const modulesName = "/node_modules/";

/** Entries beside packages that say nothing about other packages. */
const plainEntries = new Set([
  ".bin",
  ".package-lock.json",
  ".modules.yaml",
  ".yarn-integrity",
  ".yarn-state.yml",
]);

/** First bytes of programs that the kernel runs without an interpreter: ELF and Mach-O. */
const nativeMagic = new Set(["7f454c46", "feedface", "feedfacf", "cefaedfe", "cffaedfe", "cafebabe"]);

/**
 * Returns what a file needs that lies below a folder `node_modules`; undefined for any other file.
 *
 * @param isChangeable whether the program itself can change where a path leads: such packages are left out
 */
export async function findInstalledPackage(
  file: string,
  isChangeable: (path: string) => boolean,
): Promise<InstalledPackage | undefined> {
  if (!file.includes(modulesName)) return undefined;
  const closure = new PackageClosure(isChangeable);
  const isNative = nativeMagic.has((await readStart(file, 4))?.toString("hex") ?? "");
  const folder = packageFolderOf(file);
  if (folder === undefined) {
    closure.bound.add(file);
    if (!isNative) for (const path of await startedBy(file)) await closure.add(path);
  } else if (isNative) {
    closure.bound.add(folder);
  } else {
    await closure.add(folder);
  }
  await closure.joinFolders();
  return { bound: [...closure.bound], links: closure.links };
}

/** The folder of the package that `file` belongs to; undefined for a file that belongs to none (`.bin/program`). */
function packageFolderOf(file: string): string | undefined {
  const start = file.lastIndexOf(modulesName) + modulesName.length;
  const [first = "", second = "", third] = file.slice(start).split("/");
  const isScoped = first.startsWith("@");
  if (first.startsWith(".") || second === "" || (isScoped && third === undefined)) return undefined;
  return file.slice(0, start) + (isScoped ? `${first}/${second}` : first);
}

/** The folders of packages whose programs a script of `.bin` starts: some package managers write such scripts for links. */
async function startedBy(script: string): Promise<readonly string[]> {
  const text = (await readStart(script, manifestMaxBytes))?.toString("utf8") ?? "";
  const places = [...text.matchAll(/\$basedir\/([^"\s$]+)/g)].slice(0, 10);
  const folders = places.map(([, path = ""]) => packageFolderOf(resolve(dirname(script), path)));
  return [...new Set(folders)].filter((folder) => folder !== undefined);
}

class PackageClosure {
  readonly bound = new Set<string>();
  readonly links = new Map<string, string>();
  /** Folders `node_modules` that packages were found in. */
  readonly #modules = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #isChangeable: (path: string) => boolean;

  constructor(isChangeable: (path: string) => boolean) {
    this.#isChangeable = isChangeable;
  }

  /** Adds a package and the packages that it needs. @param folder by the path by which it was found */
  async add(folder: string): Promise<void> {
    const waiting = [folder];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      const real = await this.#addFolder(path);
      if (real === undefined || this.#seen.has(real)) continue;
      if (this.#seen.size === packagesMaxCount) return;
      this.#seen.add(real);
      for (const name of await dependenciesOf(real)) {
        const found = await findPackage(real, name);
        if (found !== undefined) waiting.push(found);
      }
    }
  }

  /** Replaces the packages of each folder that contains no others by the folder. */
  async joinFolders(): Promise<void> {
    for (const folder of this.#modules) {
      const names = await readdir(folder).catch(() => []);
      if (names.length > entriesMaxCount) continue;
      let isWhole = true;
      for (const name of names) {
        if (plainEntries.has(name)) continue;
        const path = join(folder, name);
        const inner = name.startsWith("@") ? await readdir(path).catch(() => [""]) : undefined;
        const paths = inner === undefined ? [path] : inner.map((one) => join(path, one));
        isWhole = paths.every((one) => this.bound.has(one) || this.links.has(one));
        if (!isWhole) break;
      }
      if (!isWhole) continue;
      for (const path of [...this.bound]) if (isWithin(path, folder)) this.bound.delete(path);
      for (const path of [...this.links.keys()]) if (isWithin(path, folder)) this.links.delete(path);
      this.bound.add(folder);
    }
  }

  /** Adds the folder of a package, and the link that leads to it. @returns its real path */
  async #addFolder(path: string): Promise<string | undefined> {
    if (this.#isChangeable(path)) return undefined;
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined) return undefined;
    // A link to a folder of its own is the work of the user, such as another package of a workspace.
    if (!real.includes(modulesName)) return undefined;
    if (path !== real) {
      if ((await lstat(path)).isSymbolicLink()) this.links.set(path, real);
      else this.bound.add(path);
    }
    this.bound.add(real);
    for (const one of [path, real]) {
      const modules = modulesOf(one);
      if (modules !== undefined) this.#modules.add(modules);
    }
    return real;
  }
}

/** The folder `node_modules` that holds a package. */
function modulesOf(folder: string): string | undefined {
  const parent = dirname(folder);
  const modules = basename(parent).startsWith("@") ? dirname(parent) : parent;
  return basename(modules) === "node_modules" ? modules : undefined;
}

/** Finds a package as Node does: in the folders `node_modules` of the package that needs it, and of those above. */
async function findPackage(from: string, name: string): Promise<string | undefined> {
  for (let folder = from; ; folder = dirname(folder)) {
    if (basename(folder) !== "node_modules") {
      const path = join(folder, "node_modules", name);
      if ((await stat(path).catch(() => undefined))?.isDirectory() === true) return path;
    }
    if (dirname(folder) === folder) return undefined;
  }
}

/** The names of the packages that a package loads, also of those that need not be installed. */
async function dependenciesOf(folder: string): Promise<readonly string[]> {
  const text = (await readStart(join(folder, "package.json"), manifestMaxBytes))?.toString("utf8") ?? "";
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch {
    // Node runs a package whose manifest it cannot read; so does the sandbox, without others.
    return [];
  }
  if (typeof manifest !== "object" || manifest === null) return [];
  const names = ["dependencies", "optionalDependencies", "peerDependencies"].flatMap((member) => {
    const named: unknown = Reflect.get(manifest, member);
    return typeof named === "object" && named !== null ? Object.keys(named) : [];
  });
  return names.filter(isPackageName).slice(0, dependenciesMaxCount);
}

/** A name that cannot lead out of the folder that it is looked up in. */
function isPackageName(name: string): boolean {
  return /^(?:@[^@/.\\\0][^/\\\0]*\/)?[^@/.\\\0][^/\\\0]*$/.test(name);
}

async function readStart(path: string, maxBytes: number): Promise<Buffer | undefined> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const status = await file.stat();
    if (!status.isFile()) return undefined;
    const buffer = Buffer.alloc(Math.min(maxBytes, status.size));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return buffer.subarray(0, bytesRead);
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}
