/**
 * Fetches npm packages: `npm install` without install scripts, into a folder of
 * their own. npm checks every tarball against the integrity value of the
 * registry and writes the values to `package-lock.json`.
 */

import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { FetchRecipe } from "./fetch-recipe.ts";
import { checkLocked, readNpmLock } from "./package-lock.ts";
import type { PackageRun } from "./package-run.ts";
import { readJsonFile } from "./read-json-file.ts";
import type { LockedPackage } from "./receipt.ts";
import { RunnersError } from "./runners-error.ts";

/** A package in `package-lock.json` (lockfileVersion 3). */
interface LockEntry {
  readonly version?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly inBundle?: boolean;
}

const quietOptions = [
  ...["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--no-progress", "--omit=dev"],
  ...["--package-lock=true", "--save-exact", "--loglevel=error", "--global=false", "--bin-links=true"],
];

/** The recipe for npm. */
export const fetchNpm: FetchRecipe = async (run, { folder, cache, runner, run: runStep }) => {
  const npm = join(dirname(runner), "npm");
  const recorded = run.record?.lock === undefined ? undefined : readNpmLock(run.record.lock);
  const dependencies = recorded?.dependencies ?? {};
  if (recorded !== undefined) {
    checkLocked(run, (name) => (Object.hasOwn(dependencies, name) ? [dependencies[name]] : []));
    await writeFile(join(folder, "package-lock.json"), recorded.text);
  }
  await writeFile(join(folder, "package.json"), `${JSON.stringify({ private: true, dependencies })}\n`);
  const own = [`--cache=${cache}`, `--prefix=${folder}`];
  await runStep({
    command: npm,
    args:
      recorded === undefined
        ? ["install", ...quietOptions, ...own, "--", ...run.packages]
        : ["ci", ...quietOptions, ...own],
  });
  const lock = await readJsonFile<{ readonly packages: { readonly [path: string]: LockEntry } }>(
    join(folder, "package-lock.json"),
  );
  const locked = Object.entries(lock.packages ?? {}).flatMap(([path, entry]) => toLocked(path, entry));
  return { program: await findProgram(run, folder), locked };
};

function toLocked(path: string, { version = "", integrity, link, inBundle }: LockEntry): LockedPackage[] {
  // The first entry is the folder itself. A bundled package is part of the tarball of the one that bundles it.
  if (path === "" || inBundle === true) return [];
  const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
  if (integrity === undefined || link === true) {
    throw new RunnersError("PACKAGE_UNLOCKED", `"${name}" ${version} has no integrity value`, {
      hint: "packages from Git repositories, folders and URLs cannot be locked: install the program, and give its path as command",
    });
  }
  return [{ name, version, integrity }];
}

/** Chooses the program as npx does: the named one, the only one, or the one with the name of the package. */
async function findProgram({ packages, command }: PackageRun, folder: string): Promise<string> {
  const name = (packages[0] as string).replace(/(.)@.*$/, "$1");
  const { bin } = await readJsonFile<{ readonly bin: string | { readonly [name: string]: string } }>(
    join(folder, "node_modules", name, "package.json"),
  );
  const shortName = name.slice(name.indexOf("/") + 1);
  const programs = typeof bin === "string" ? [shortName] : Object.keys(bin ?? {});
  const chosen = command ?? (programs.length === 1 ? programs[0] : programs.find((one) => one === shortName));
  const isThere = chosen !== undefined && /^[\w.~-]+$/.test(chosen);
  if (isThere && (command !== undefined || programs.includes(chosen))) {
    return join("node_modules", ".bin", chosen);
  }
  const list = programs.length === 0 ? "it has none" : `it has ${programs.join(", ")}`;
  throw new RunnersError(
    "RUNNER_COMMAND_INVALID",
    `The package "${name}" has no program that can be chosen: ${list}`,
    { hint: `name it: args: ["-y", "--package", "${packages[0]}", "PROGRAM"]` },
  );
}
