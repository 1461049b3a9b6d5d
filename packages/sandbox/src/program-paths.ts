/**
 * The files that a program needs to run: the program behind its symbolic links,
 * the interpreter of a script, the installation that each belongs to (a Node or
 * Python prefix, a virtual environment, a project with its `node_modules`, or the
 * package of a `node_modules` with those that it depends on), and what its
 * arguments name. System folders are not listed; every sandbox has them.
 *
 * It reads folders and first lines, and starts nothing. It guesses conservatively:
 * a file that it does not find is missing in the sandbox, and never the reverse. What
 * the program can change itself is not followed: it would widen its own sandbox.
 */

import { lstat, open, readdir, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, extname, isAbsolute, join, resolve } from "node:path";
import type { SpawnRequest } from "@toolcrib/process";
import { type ArgumentPath, pathsInArgument } from "./argument-paths.ts";
import { ChangeablePaths } from "./changeable-paths.ts";
import { findInstalledPackage } from "./installed-package.ts";
import { isWithin } from "./paths.ts";
import { SandboxError } from "./sandbox-error.ts";
import type { SandboxPolicy } from "./sandbox-policy.ts";

/** The files that a program needs. */
export interface ProgramPaths {
  /** Folders and files that are bound read-only. */
  readonly bound: readonly string[];
  /** Symbolic links that are created again, by their paths. */
  readonly links: ReadonlyMap<string, string>;
}

/** Folders that every sandbox has. */
export const systemFolders = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/nix/store",
  "/gnu/store",
];

/** Symbolic links that are followed from one path, as the kernel does. */
const linksMaxCount = 40;

/** Entries of one `node_modules` that are looked at. */
const modulesMaxCount = 5_000;

/** Arguments that are looked up as paths. */
const argumentsMaxCount = 1_000;

const scriptExtensions = new Set([
  ...[
    ".js",
    ".mjs",
    ".cjs",
    ".ts",
    ".mts",
    ".cts",
    ".py",
    ".pyz",
    ".rb",
    ".pl",
    ".php",
    ".sh",
    ".lua",
    ".jar",
  ],
]);

/**
 * Finds what the program of `request` needs.
 *
 * @param policy what the program can change by it is not followed; whether the author of its arguments is somebody else
 * than the operator, and the paths of that author
 * @param userHome a folder that is never bound as a whole
 * @throws {SandboxError} `SANDBOX_PATH_REFUSED` for a program behind a link that it can change
 */
export async function findProgramPaths(
  request: SpawnRequest,
  policy: SandboxPolicy,
  userHome: string,
): Promise<ProgramPaths> {
  const { readsArguments = true, ownPaths = [] } = policy;
  const finder = new PathFinder({
    changeable: new ChangeablePaths(policy),
    userHome,
    searchPath: request.env["PATH"] ?? "",
    authorPaths: readsArguments ? undefined : ownPaths,
  });
  await finder.addProgram(request.program);
  const directory = request.directory ?? "/";
  const followed = readsArguments ? request.args.slice(0, argumentsMaxCount) : [];
  for (const argument of followed) {
    for (const named of pathsInArgument(argument, directory)) await finder.addArgument(named, directory);
  }
  return { bound: await bindableOf(finder.bound, userHome), links: finder.links };
}

/** Facts on which the paths of a program depend. */
interface FinderFacts {
  readonly changeable: ChangeablePaths;
  readonly userHome: string;
  /** `PATH` of the program. */
  readonly searchPath: string;
  /** Where interpreters may lie that a script of another author names; undefined for anywhere. */
  readonly authorPaths: readonly string[] | undefined;
}

/**
 * Returns the paths that may be bound by what they really are: a symbolic link to a home is that home, and a project can
 * bring one. Files stay.
 */
async function bindableOf(paths: Iterable<string>, userHome: string): Promise<readonly string[]> {
  const realHome = await realpath(userHome).catch(() => userHome);
  const bindable: string[] = [];
  for (const path of paths) {
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined) continue;
    const isFolder = (await stat(real).catch(() => undefined))?.isDirectory() === true;
    const isNarrow = [path, real].every((one) => isBindable(one, userHome) && isBindable(one, realHome));
    if (!isFolder || isNarrow) bindable.push(path);
  }
  return bindable;
}

class PathFinder {
  readonly bound = new Set<string>();
  readonly links = new Map<string, string>();
  readonly #userHome: string;
  readonly #searchPath: readonly string[];
  readonly #changeable: ChangeablePaths;
  readonly #authorPaths: readonly string[] | undefined;

  constructor({ changeable, userHome, searchPath, authorPaths }: FinderFacts) {
    this.#changeable = changeable;
    this.#userHome = userHome;
    this.#authorPaths = authorPaths;
    this.#searchPath = searchPath.split(":").filter(isAbsolute);
  }

  /** Adds a program, its links, its installation and the interpreter of a script. */
  async addProgram(path: string, depth = 0): Promise<void> {
    if (this.#isChangeable(path)) return this.#requireShown(path);
    const file = await this.#follow(path);
    if (file === undefined || depth > 4) return;
    await this.#addFile(file, true);
    const interpreter = await interpreterOf(file);
    if (interpreter === undefined) return;
    const [program = "", argument = ""] = interpreter;
    if (!this.#mayInterpret(program)) return;
    await this.addProgram(program, depth + 1);
    if (basename(program) !== "env" || argument === "") return;
    const found = await this.#lookUp(argument);
    if (found !== undefined) await this.addProgram(found, depth + 1);
  }

  /** Refuses a program that the sandbox would not show, or without its interpreter: what it can change leads there. */
  async #requireShown(path: string): Promise<void> {
    const refused = (what: string): SandboxError =>
      new SandboxError("SANDBOX_PATH_REFUSED", `The program "${path}" ${what}`, {
        hint: "start a program outside of write_paths, or add the folder of its installation to read_paths",
      });
    const isUnseen = (real: string): boolean => !isOfSystem(real) && !this.#changeable.shows(real);
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined) return;
    if (isUnseen(real)) throw refused(`leads to "${real}" through a folder that it may write`);
    const [program = "", argument = ""] = (await interpreterOf(real)) ?? [];
    const name = basename(program) === "env" ? await this.#lookUp(argument) : program;
    const interpreter = await realpath(name ?? "").catch(() => undefined);
    if (interpreter !== undefined && isUnseen(interpreter)) {
      throw refused(`lies in a folder that it may write, and its first line names "${name}"`);
    }
  }

  /** Whether a script may name `program`: one of another author would else show any file as its interpreter. */
  #mayInterpret(program: string): boolean {
    const own = this.#authorPaths;
    if (own === undefined) return true;
    const path = resolve("/", program);
    return (
      isOfSystem(path) || this.#searchPath.includes(dirname(path)) || own.some((one) => isWithin(path, one))
    );
  }

  /** Adds what an argument names, if it is a path that exists. */
  async addArgument(
    { path, isExplicit, isWhole, isRelative }: ArgumentPath,
    directory: string,
  ): Promise<void> {
    // The working folder is shown where the configuration names it: else it is where somebody started the gateway.
    if (path === directory && isRelative) return;
    // A word such as "run" may also be the name of a folder; "server.js" is a file.
    if (!isExplicit && !isWithin(path, directory)) return;
    if (this.#isChangeable(path)) return;
    const status = await stat(path).catch(() => undefined);
    if (status === undefined || !(status.isFile() || status.isDirectory())) return;
    if (isOfRunningSystem(path, await realpath(path).catch(() => path))) return;
    if (status.isDirectory()) {
      if (this.#isBindable(path)) this.bound.add(path);
      return;
    }
    // A script needs what lies beside it; a file that an option names is shown alone.
    const isScript = isWhole && scriptExtensions.has(extname(path));
    const file = await this.#follow(path, isScript);
    if (file !== undefined) await this.#addFile(file, isWhole && scriptExtensions.has(extname(file)));
  }

  /**
   * Follows the links of `path` and of the folders above it, and remembers them.
   *
   * @param isProgram whether its installation is needed, too
   * @returns the real path
   */
  async #follow(path: string, isProgram = true): Promise<string | undefined> {
    let current = path;
    for (let count = 0; count < linksMaxCount; count++) {
      const status = await lstat(current).catch(() => undefined);
      if (status === undefined) return undefined;
      if (!status.isSymbolicLink()) break;
      const target = await readlink(current);
      if (!isOfSystem(current)) {
        this.links.set(current, target);
        const environment = isProgram ? await environmentOf(current) : undefined;
        if (environment !== undefined) this.bound.add(environment);
      }
      current = resolve(dirname(current), target);
    }
    const real = await realpath(current).catch(() => undefined);
    // A folder above it is a link: the path as written leads there, too.
    if (real !== undefined && real !== current && !isOfSystem(current))
      await this.#addFile(current, isProgram);
    return real;
  }

  async #addFile(file: string, isProgram: boolean): Promise<void> {
    if (isOfSystem(file)) return;
    if (!isProgram) {
      this.bound.add(file);
      return;
    }
    const installed = await findInstalledPackage(file, (path) => this.#changeable.follow(path).isChangeable);
    if (installed === undefined || (await environmentOf(file)) !== undefined) {
      this.bound.add((await this.#rootOf(file)) ?? file);
      return;
    }
    for (const path of installed.bound) if (this.#isBindable(path)) this.bound.add(path);
    for (const [path, target] of installed.links) this.links.set(path, target);
  }

  /** Returns the folder of the installation or project that a file belongs to. */
  async #rootOf(file: string): Promise<string | undefined> {
    const environment = await environmentOf(file);
    if (environment !== undefined) return environment;
    let root: string | undefined;
    for (let folder = dirname(file); this.#isBindable(folder); folder = dirname(folder)) {
      if (await exists(join(folder, "package.json"))) root = folder;
    }
    if (root !== undefined) {
      await this.#addLinkedModules(join(root, "node_modules"), root);
      return root;
    }
    const folder = dirname(file);
    const parent = dirname(folder);
    const isPrefix =
      ["bin", "sbin", "libexec", "shims"].includes(basename(folder)) &&
      this.#isBindable(parent) &&
      basename(parent) !== ".local" &&
      ((await exists(join(parent, "lib"))) || (await exists(join(parent, "libexec"))));
    if (isPrefix) return parent;
    return scriptExtensions.has(extname(file)) && this.#isBindable(folder) ? folder : undefined;
  }

  /** Adds the packages of a project that are links to other folders (`npm link`). */
  async #addLinkedModules(modules: string, root: string): Promise<void> {
    const names = await readdir(modules, { withFileTypes: true }).catch(() => []);
    for (const entry of names.slice(0, modulesMaxCount)) {
      const path = join(modules, entry.name);
      if (entry.isDirectory() && entry.name.startsWith("@")) await this.#addLinkedModules(path, root);
      if (!entry.isSymbolicLink() || this.#changeable.follow(path).isChangeable) continue;
      const real = await realpath(path).catch(() => undefined);
      if (real === undefined || isWithin(real, root)) continue;
      const shared = real.lastIndexOf("/node_modules/");
      const folder = shared === -1 ? real : real.slice(0, shared + "/node_modules".length);
      if (this.#isBindable(folder)) this.bound.add(folder);
    }
  }

  /** Whether the program can change where `path` leads. The links on the way there that it cannot change are kept. */
  #isChangeable(path: string): boolean {
    const { isChangeable, links } = this.#changeable.follow(path);
    if (isChangeable) for (const [link, target] of keptLinks(links)) this.links.set(link, target);
    return isChangeable;
  }

  #isBindable(folder: string): boolean {
    return isBindable(folder, this.#userHome);
  }

  async #lookUp(name: string): Promise<string | undefined> {
    if (name.includes("/")) return name;
    for (const folder of this.#searchPath) {
      const path = join(folder, name);
      if (await exists(path)) return path;
    }
    return undefined;
  }
}

/** Whether a folder may be bound as a whole: it is not a root, a home or a folder of temporary files. */
export function isBindable(folder: string, userHome: string): boolean {
  return !isWithin(userHome, folder) && !wideFolders.has(folder) && dirname(folder) !== "/home";
}

const wideFolders = new Set([
  ...[
    "/",
    "/home",
    "/root",
    "/tmp",
    "/var",
    "/var/tmp",
    "/opt",
    "/srv",
    "/etc",
    "/run",
    "/dev",
    "/proc",
    "/sys",
  ],
  ...["/mnt", "/media", "/Users", "/private", "/private/tmp"],
]);

/** Folders of the running system: its processes, devices and sockets, which no argument shows. */
const runningFolders = ["/proc", "/sys", "/dev", "/run"];

/**
 * Whether a path leads to processes, devices or sockets, by its name (`/dev/stderr` can be a file) or by its links
 * (`/var/run`).
 */
export function isOfRunningSystem(path: string, real: string): boolean {
  // Some systems have links to their programs in /run.
  if (path.startsWith("/run/") && isOfSystem(real)) return false;
  return runningFolders.some((folder) => isWithin(path, folder) || isWithin(real, folder));
}

/** Returns the links that a sandbox can have: those of the system and of its running part are its own. */
export function keptLinks(links: ReadonlyMap<string, string>): readonly (readonly [string, string])[] {
  return [...links].filter(([path]) => !isOfSystem(path) && !isOfRunningSystem(path, path));
}

function isOfSystem(path: string): boolean {
  return systemFolders.some((folder) => isWithin(path, folder));
}

/** Returns the Python environment that `file` is in (`<environment>/bin/<file>`). */
async function environmentOf(file: string): Promise<string | undefined> {
  const parent = dirname(dirname(file));
  return (await exists(join(parent, "pyvenv.cfg"))) ? parent : undefined;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Returns the words of the `#!` line of a script. */
async function interpreterOf(path: string): Promise<readonly string[] | undefined> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
    const line = buffer.toString("latin1", 0, bytesRead).split("\n", 1)[0] ?? "";
    if (!line.startsWith("#!")) return undefined;
    const words = line.slice(2).trim().split(/\s+/);
    return words[1] === "-S" ? [words[0] ?? "", words[2] ?? ""] : words;
  } finally {
    await file.close();
  }
}
