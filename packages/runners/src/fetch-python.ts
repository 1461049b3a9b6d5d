/**
 * Fetches Python packages with uv: the tree is resolved to exact versions with
 * hashes, from wheels only (building a source distribution runs its code), and
 * then installed by these hashes into a virtual environment of its own.
 */

import { readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { FetchRecipe } from "./fetch-recipe.ts";
import { checkLocked } from "./package-lock.ts";
import { prefixOfPython } from "./python-places.ts";
import { readSmallFile } from "./read-json-file.ts";
import type { LockedPackage } from "./receipt.ts";
import { RunnersError } from "./runners-error.ts";

/** Programs of every virtual environment. */
const ownPrograms = /^(python|pip|activate|deactivate|pydoc)/i;

/** The recipe for Python packages. */
export const fetchPython: FetchRecipe = async (run, { folder, cache, runner, run: runStep }) => {
  const command = join(dirname(runner), "uv");
  const environment = join(folder, "venv");
  const wanted = join(folder, "requirements.in");
  const lock = join(folder, "requirements.txt");
  const shared = ["--quiet", "--no-progress", "--no-python-downloads", `--cache-dir=${cache}`];
  const uv = (...args: readonly string[]): Promise<string> =>
    runStep({
      command,
      args: [...args, ...shared],
      env: { UV_LINK_MODE: "copy" },
      isLocal: args[0] === "venv",
    });
  await writeFile(wanted, `${run.packages.join("\n")}\n`);
  await uv("venv", ...(run.python === undefined ? [] : ["--python", run.python]), environment);
  const python = join(environment, "bin", "python");
  // Read before any file of a package is there.
  const prefix = prefixOfPython(python);
  const inEnvironment = ["--python", python, "--only-binary=:all:"];
  const recorded = run.record?.lock;
  if (recorded !== undefined) await writeFile(lock, recorded);
  else {
    // The lock of a manifest is for every machine, and not for the Python of this one.
    const forAll = run.record === undefined ? [] : ["--universal"];
    await uv(
      ...["pip", "compile", ...inEnvironment, "--generate-hashes", "--no-header", "--no-annotate", ...forAll],
      ...["--output-file", lock, wanted],
    );
  }
  const text = await readSmallFile(lock);
  const locked = readLock(text);
  if (recorded !== undefined) {
    const versions = Map.groupBy(locked, ({ name }) => name);
    checkLocked(run, (name) => (versions.get(normalized(name)) ?? []).map(({ version }) => version));
  }
  await uv(
    ...["pip", "install", ...inEnvironment, "--require-hashes", "--no-deps", "--compile-bytecode"],
    ...["--requirement", lock],
  );
  return {
    program: await findProgram(run.packages[0] as string, run.command, environment),
    locked,
    links: prefix === undefined ? [] : [prefix],
  };
};

/** Reads `name==version \` with its lines of `--hash=sha256:…`. @throws {RunnersError} `PACKAGE_UNLOCKED` */
function readLock(text: string): readonly LockedPackage[] {
  const joined = text.replace(/\\\n\s*/g, " ").split("\n");
  return joined.flatMap((line) => {
    const found = /^([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?==(\S+)(.*)$/.exec(line.trim());
    if (found === null) {
      if (line.trim() === "" || line.startsWith("#")) return [];
      throw unlocked(line.trim());
    }
    const [, name = "", version = "", rest = ""] = found;
    const hashes = [...rest.matchAll(/--hash=(\S+)/g)].map(([, hash]) => hash as string);
    if (hashes.length === 0) throw unlocked(name);
    return [{ name: normalized(name), version, integrity: hashes.join(" ") }];
  });
}

/** The name of a project as the index compares it (PEP 503). */
function normalized(name: string): string {
  return name.replace(/[-_.]+/g, "-").toLowerCase();
}

function unlocked(what: string): RunnersError {
  return new RunnersError("PACKAGE_UNLOCKED", `"${what.slice(0, 200)}" has no hash`, {
    hint: "packages from repositories, folders and URLs cannot be locked: install the program, and give its path as command",
  });
}

/** Chooses the program as uvx does: the named one, or the one with the name of the package. */
async function findProgram(
  requirement: string,
  command: string | undefined,
  environment: string,
): Promise<string> {
  const name = /^[A-Za-z0-9][\w.-]*/.exec(requirement)?.[0] ?? requirement;
  const programs = (await readdir(join(environment, "bin"))).filter((one) => !ownPrograms.test(one));
  const chosen = command ?? name;
  if (programs.includes(chosen)) return join("venv", "bin", chosen);
  const list = programs.length === 0 ? "no program" : `the programs ${programs.slice(0, 20).join(", ")}`;
  throw new RunnersError(
    "RUNNER_COMMAND_INVALID",
    `The package "${name}" has no program "${chosen}"; it has ${list}`,
    { hint: `name one: args: ["--from", "${name}", "PROGRAM"]` },
  );
}
