/**
 * The Pythons that a fetch may use: those that the user's own `uvx` finds outside
 * of the system's folders. A sandbox shows no home, so it shows the installations
 * that the search path names (pyenv, conda, a virtual environment), those that uv
 * manages, and the one that `--python` names. Reads folders and links; starts nothing.
 */

import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";

/** The user's Pythons that a fetch sees. */
export interface PythonPlaces {
  /** Folders of installations, which the fetch reads. */
  readonly folders: readonly string[];
  /** Variables by which uv finds them. */
  readonly env: { readonly [name: string]: string };
}

/** Versions of one pyenv. */
const versionsMaxCount = 50;
/** Folders of the search path that are looked at. */
const pathMaxCount = 200;

/** Folders that every sandbox shows. */
const systemFolders = /^\/(usr|bin|sbin|lib(32|64)?|nix\/store|gnu\/store)(\/|$)/;

/** Finds the Pythons of a user. @param wanted the value of `--python` */
export function findPythons(
  env: { readonly [name: string]: string | undefined },
  userHome: string,
  wanted: string | undefined,
): PythonPlaces {
  const { PATH = "", PYENV_ROOT, UV_PYTHON_INSTALL_DIR, XDG_DATA_HOME } = env;
  const pyenv = PYENV_ROOT ?? join(userHome, ".pyenv");
  const listed = PATH.split(delimiter).filter(isAbsolute).slice(0, pathMaxCount);
  // The programs in `shims` are scripts that choose a version by files of the home.
  const searched = listed.flatMap((folder) =>
    folder === join(pyenv, "shims") ? pyenvFolders(pyenv) : [folder],
  );
  const named = wanted !== undefined && isAbsolute(wanted) ? [wanted] : [];
  const found = [...searched.map((folder) => join(folder, "python3")), ...named].flatMap((program) =>
    prefixesOf(program, userHome),
  );
  const managed = UV_PYTHON_INSTALL_DIR ?? join(XDG_DATA_HOME ?? join(userHome, ".local/share"), "uv/python");
  const isManaged = isAbsolute(managed) && existsSync(managed);
  return {
    folders: [...new Set([...found, ...(isManaged ? [managed] : [])])],
    env: { PATH: searched.join(delimiter), ...(isManaged ? { UV_PYTHON_INSTALL_DIR: managed } : {}) },
  };
}

/** Returns the folder of the installation that a Python belongs to, behind its links; undefined for one of the system. */
export function prefixOfPython(program: string): string | undefined {
  const real = realpathSync(program);
  return systemFolders.test(real) ? undefined : dirname(dirname(real));
}

/** The installations that a program and what it links to belong to. */
function prefixesOf(program: string, userHome: string): string[] {
  if (!existsSync(program)) return [];
  return [program, realpathSync(program)].flatMap((path) => {
    const prefix = dirname(dirname(path));
    const isWide = userHome === prefix || userHome.startsWith(`${prefix}/`) || dirname(prefix) === prefix;
    // ~/.local has a bin and a lib, and much that is no Python.
    if (systemFolders.test(path) || isWide || basename(prefix) === ".local") return [];
    return existsSync(join(prefix, "lib")) || existsSync(join(prefix, "pyvenv.cfg")) ? [prefix] : [];
  });
}

/** The folders of programs of all versions of a pyenv, the chosen ones first. */
function pyenvFolders(root: string): string[] {
  const versions = join(root, "versions");
  let names: string[];
  try {
    names = readdirSync(versions).slice(0, versionsMaxCount);
  } catch {
    return [];
  }
  let chosen: readonly string[] = [];
  try {
    chosen = readFileSync(join(root, "version"), "utf8").split(/\s+/);
  } catch {
    // Without this file pyenv uses the Python of the system.
  }
  const newest = names.sort((left, right) => right.localeCompare(left, "en", { numeric: true }));
  const others = newest.filter((name) => !chosen.includes(name));
  return [...chosen.filter((name) => names.includes(name)), ...others].map((name) =>
    join(versions, name, "bin"),
  );
}
