/**
 * `npm test`: the unit and end-to-end tests of the packages, on source (or on
 * `dist` with `--dist`), and one closing line that counts them.
 *
 * Arguments are folders or files to restrict the run to, or flags; see `help`.
 */

import { spawn, spawnSync } from "node:child_process";
import { globSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { changedPlaces } from "./changed-places.ts";

const help = `npm test -- [FLAGS] [FOLDER or FILE ...]

--fast            leave out files that start processes (*.process.test.ts)
--changed[=REV]   only packages that differ from the last commit (or REV), and packages that may import them
--watch           run a file again when it, or a file that it imports, changes
--update          rewrite golden files
--dist            build first, and test the build`;

const flagNames: ReadonlySet<string> = new Set(["fast", "changed", "watch", "update", "dist"]);

const root = join(import.meta.dirname, "..");
const { flags, places } = readArguments(process.argv.slice(2));
const files = listFiles(places);

if (flags.has("dist")) {
  // Builds first, because an outdated build would test the wrong code.
  const build = spawnSync(process.execPath, [...process.execArgv, "scripts/build.ts"], { stdio: "inherit" });
  if (build.status !== 0) process.exit(1);
}

const groups = mkdtempSync(join(tmpdir(), "toolcrib-tests-"));
const child = spawn(
  process.execPath,
  [
    ...(flags.has("dist") ? [] : ["--conditions=toolcrib-source"]),
    "--import=./scripts/test-guard.ts",
    "--test",
    ...(flags.has("watch") ? ["--watch"] : []),
    // For the longest file, and for a group of files in one process.
    "--test-timeout=300000",
    `--test-concurrency=${Math.max(2, availableParallelism())}`,
    "--test-reporter=./scripts/test-reporter.ts",
    // In watch mode, Node maps a change to the one process whose file imports it.
    ...(flags.has("watch") ? files.sort() : groupFiles(files.sort(), groups)),
  ],
  {
    stdio: "inherit",
    env: {
      // Every file, and every process that it starts, loads the same sources: Node compiles them once.
      NODE_COMPILE_CACHE: join(root, "node_modules/.cache/toolcrib-tests"),
      ...process.env,
      ...(flags.has("update") ? { TOOLCRIB_UPDATE_GOLDEN: "1" } : {}),
      ...(flags.has("fast") ? { TOOLCRIB_TEST_FAST: "1" } : {}),
    },
  },
);
child.on("exit", (code, signal) => {
  rmSync(groups, { recursive: true, force: true });
  process.exitCode = signal === null ? (code ?? 1) : 1;
});

/** Ends the run when a flag is unknown. */
function readArguments(args: readonly string[]) {
  const given = new Map<string, string | undefined>();
  for (const argument of args.filter((one) => one.startsWith("--"))) {
    const [name = "", value] = argument.slice(2).split("=", 2);
    if (!flagNames.has(name) || (value !== undefined && name !== "changed")) {
      refuse(`Unknown flag "${argument}"\n\n${help}`);
    }
    given.set(name, value);
  }
  return { flags: given, places: args.filter((one) => !one.startsWith("--")) };
}

/** Ends the run when there is no test file. */
function listFiles(wanted: readonly string[]): string[] {
  const all = ["packages", "examples", "scripts"];
  const from = wanted.length > 0 ? wanted : flags.has("changed") ? listChanged() : all;
  const found = from
    .flatMap((place) => {
      if (statSync(place, { throwIfNoEntry: false })?.isFile()) return [place];
      return globSync(`${place.replace(/\/$/, "")}/**/*.test.ts`, {
        exclude: (name) => name.includes("node_modules") || name.includes("/dist/"),
      });
    })
    .filter((file) => !flags.has("fast") || !file.endsWith(".process.test.ts"));
  if (found.length === 0) refuse(`No test file in ${from.join(", ")}`);
  return found;
}

/**
 * Groups the files of a package that start no process into one process, see
 * `test-files.ts`. Returns the files that `node --test` runs, the largest groups first.
 */
function groupFiles(paths: readonly string[], directory: string): string[] {
  const isGrouped = (path: string) => !path.endsWith(".process.test.ts");
  const byPackage = Object.groupBy(paths.filter(isGrouped), (path) =>
    relative(root, resolve(path)).split(/[\\/]/).slice(0, 2).join("-"),
  );
  const runner = pathToFileURL(join(root, "scripts/test-files.ts")).href;
  const shared = Object.entries(byPackage)
    .sort(([, a = []], [, b = []]) => b.length - a.length)
    .map(([name, members = []]) => {
      const file = join(directory, `${name.replaceAll(/[^\w-]/g, "_")}.test.ts`);
      const list = JSON.stringify(members.map((path) => resolve(path)));
      writeFileSync(
        file,
        `import { runTestFiles } from ${JSON.stringify(runner)};\nrunTestFiles(${list});\n`,
      );
      return file;
    });
  return [...shared, ...paths.filter((path) => !isGrouped(path))];
}

function listChanged(): string[] {
  const changed = changedPlaces(root, flags.get("changed") ?? "HEAD");
  if (changed.length > 0) return changed;
  console.log("Nothing has changed\n0 passed, 0 failed, 0 skipped");
  process.exit(0);
}

function refuse(message: string): never {
  console.error(message);
  process.exit(2);
}
