/**
 * `npm test`: the unit and end-to-end tests of the packages, on source (or on
 * `dist` with `--dist`), and one closing line that counts them.
 *
 * Arguments are folders or files to restrict the run to, or flags; see `help`.
 */

import { spawn, spawnSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { changedPlaces } from "./changed-places.ts";
import { longTests } from "./long-tests.ts";
import { TestResults } from "./test-results.ts";

const help = `npm test -- [FLAGS] [FOLDER or FILE ...]

--fast            leave out files that start processes (*.process.test.ts)
--changed[=REV]   only packages that differ from the last commit (or REV), and packages that may import them
--watch           run a file again when it, or a file that it imports, changes
--update          rewrite golden files
--dist            build first, and test the build
--retry           run files of which a test failed a second time, alone, and count what they do then
--skips           name every test that is skipped, also where many share a reason
--times[=N]       print the N tests and files that take the most time, with the CPU time of each file; 25 without N`;

const flagNames: ReadonlySet<string> = new Set([
  "fast",
  "changed",
  "watch",
  "update",
  "dist",
  "retry",
  "skips",
  "times",
]);

/** Maximum number of files that share a process where they start processes: they take seconds each. */
const processFilesMax = 10;

/** The same where they start none: enough processes for all processors until the end, with few loads of the same modules. */
const fastFilesMax = 24;

/** Maximum number of files that `--retry` runs again: more have a cause in common. */
const retriedFilesMax = 5;

const root = join(import.meta.dirname, "..");
const { flags, places } = readArguments(process.argv.slice(2));
const files = listFiles(places);

if (flags.has("dist")) {
  // Builds first, because an outdated build would test the wrong code.
  const build = spawnSync(process.execPath, [...process.execArgv, "scripts/build.ts"], { stdio: "inherit" });
  if (build.status !== 0) process.exit(1);
}

// In watch mode, the command runs from its sources, which change.
const startsCommand = files.some(
  (file) => startsProcesses(file) && resolve(file).startsWith(join(root, "packages/cli")),
);
const command = startsCommand && !flags.has("dist") && !flags.has("watch") ? bundleCommand() : undefined;

const groups = mkdtempSync(join(tmpdir(), "toolcrib-tests-"));
const retries = flags.has("retry") || process.env["TOOLCRIB_TEST_RETRY"] !== undefined;
try {
  // More than processors, because tests wait for processes, and for time limits.
  const concurrency = availableParallelism() + 2;
  const written = retries && !flags.has("watch") ? join(groups, "results.json") : undefined;
  process.exitCode = await runFiles(files, concurrency, written);
  if (written !== undefined && process.exitCode !== 0) process.exitCode = await retryFailed(written);
} finally {
  rmSync(groups, { recursive: true, force: true });
}

/**
 * Runs files and returns the exit code.
 *
 * @param written where the reporter writes the results of each file; nowhere where undefined
 */
async function runFiles(
  paths: readonly string[],
  concurrency: number,
  written: string | undefined,
): Promise<number> {
  const child = spawn(
    process.execPath,
    [
      ...(flags.has("dist") ? [] : ["--conditions=toolcrib-source"]),
      `--import=${new URL("test-context.ts", import.meta.url)}`,
      `--import=${new URL("test-guard.ts", import.meta.url)}`,
      "--test",
      ...(flags.has("watch") ? ["--watch"] : []),
      // For a group of files in one process, each of which has its own limit.
      "--test-timeout=1800000",
      `--test-concurrency=${concurrency}`,
      "--test-reporter=./scripts/test-reporter.ts",
      // In watch mode, Node maps a change to the one process whose file imports it.
      ...(flags.has("watch") ? paths.toSorted() : groupFiles(paths.toSorted(), groups)),
    ],
    {
      stdio: "inherit",
      env: {
        // Every file, and every process that it starts, loads the same sources: Node compiles them once.
        NODE_COMPILE_CACHE: join(root, "node_modules/.cache/toolcrib-tests"),
        ...process.env,
        TOOLCRIB_TEST_RESULTS: written,
        ...(command === undefined ? {} : { TOOLCRIB_TEST_COMMAND: command }),
        ...(flags.has("update") ? { TOOLCRIB_UPDATE_GOLDEN: "1" } : {}),
        ...(flags.has("times") ? { TOOLCRIB_TEST_TIMES: flags.get("times") ?? "25" } : {}),
        ...(flags.has("skips") ? { TOOLCRIB_TEST_SKIPS: "1" } : {}),
        ...(flags.has("fast") ? { TOOLCRIB_TEST_FAST: "1" } : {}),
      },
    },
  );
  return new Promise((resolve, reject) => {
    child.on("error", reject).on("exit", (code) => resolve(code ?? 1));
  });
}

/**
 * Runs the files again in which tests failed, one at a time, prints the counts of both runs together, and returns
 * the exit code. A machine that others use delays processes; a defect fails alone too, or is named as unsteady.
 *
 * @param written the results of the first run, which the second replaces
 */
async function retryFailed(written: string): Promise<number> {
  const first = readResults(written);
  const again = first?.filesToRepeat ?? [];
  if (first === undefined || again.length === 0 || again.length > retriedFilesMax) return 1;
  console.log(`\nAgain, one file at a time: ${again.join(", ")}`);
  rmSync(written);
  const code = await runFiles(again, 1, written);
  const second = readResults(written);
  if (second === undefined) return 1;
  for (const title of first.replaceWith(second)) console.log(`unsteady ${title}: failed, and passed alone`);
  for (const title of first.failed) console.log(`failed ${title}`);
  console.log(first.counts);
  return first.failed.length > 0 ? 1 : code;
}

/** Returns what the reporter wrote; undefined where it was ended before. */
function readResults(written: string): TestResults | undefined {
  return existsSync(written) ? new TestResults(JSON.parse(readFileSync(written, "utf8"))) : undefined;
}

/** Bundles the command in a process of its own, which gives its memory back, and returns the path of the entry. */
function bundleCommand(): string {
  const { status, stdout } = spawnSync(
    process.execPath,
    ["--conditions=toolcrib-source", "scripts/bundle-command.ts"],
    { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
  );
  if (status !== 0) process.exit(1);
  return stdout.trim();
}

/** Ends the run when a flag is unknown. */
function readArguments(args: readonly string[]) {
  const given = new Map<string, string | undefined>();
  for (const argument of args.filter((one) => one.startsWith("--"))) {
    const [name = "", value] = argument.slice(2).split("=", 2);
    if (!flagNames.has(name) || (value !== undefined && name !== "changed" && name !== "times")) {
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
    .filter((file) => !flags.has("fast") || !file.endsWith(".process.test.ts"))
    .filter((file) => from !== all || !longTests.includes(file));
  if (from === all) console.log(`${longTests.length} long files are left to npm run verify`);
  if (found.length === 0) refuse(`No test file in ${from.join(", ")}`);
  return found;
}

/**
 * Groups the files into processes, see `test-files.ts`, those that start processes apart from
 * those that do not. Returns the files that `node --test` runs: first those with the longest
 * groups, so that no worker is left with one at the end.
 */
function groupFiles(paths: readonly string[], directory: string): string[] {
  const divided = [
    ...divide(paths.filter(startsProcesses)).map((files) => ({ files, suffix: "process.test.ts" })),
    ...pack(paths.filter((path) => !startsProcesses(path))).map((files) => ({ files, suffix: "test.ts" })),
  ];
  const runner = pathToFileURL(join(root, "scripts/test-files.ts")).href;
  return divided.map(({ files, suffix }, index) => {
    // `node --test` sorts the files by name.
    const place = String(index).padStart(3, "0");
    const file = join(directory, `${place}.${packageOf(files[0] ?? "")}.${suffix}`);
    const list = JSON.stringify(files.map((path) => resolve(path)));
    writeFileSync(file, `import { runTestFiles } from ${JSON.stringify(runner)};\nrunTestFiles(${list});\n`);
    return file;
  });
}

function startsProcesses(path: string): boolean {
  return path.endsWith(".process.test.ts");
}

/** The name of the folder of a package, without characters that a file name cannot have. */
function packageOf(path: string): string {
  const place = relative(root, resolve(path)).split(/[\\/]/).slice(0, 2).join("-");
  return place.replaceAll(/[^\w-]/g, "_");
}

/**
 * Divides the files of each package into equal groups. A file that observes what its process loads is alone, by its name.
 */
function divide(paths: readonly string[]): readonly (readonly string[])[] {
  const isAlone = (path: string) => path.endsWith("-alone.process.test.ts");
  const byPackage = Object.values(Object.groupBy(paths, packageOf));
  return byPackage
    .flatMap((members = []) => [
      ...members.filter(isAlone).map((path) => [path]),
      ...divideEqually(
        members.filter((path) => !isAlone(path)),
        processFilesMax,
      ),
    ])
    .toSorted((a, b) => b.length - a.length);
}

/**
 * Divides the files of large packages into equal groups, and puts small packages together. Files of the
 * largest packages, which load and do most, are first.
 */
function pack(paths: readonly string[]): readonly (readonly string[])[] {
  const byPackage = Object.values(Object.groupBy(paths, packageOf)).map((members = []) => members);
  const groups: string[][] = [];
  let small: string[] | undefined;
  for (const members of byPackage.toSorted((a, b) => b.length - a.length)) {
    if (members.length > fastFilesMax / 2) {
      groups.push(...divideEqually(members, fastFilesMax));
    } else if (small !== undefined && small.length + members.length <= fastFilesMax) {
      small.push(...members);
    } else {
      small = [...members];
      groups.push(small);
    }
  }
  return groups;
}

/** Neighbours, which often take equally long, go to different groups. */
function divideEqually(members: readonly string[], most: number): string[][] {
  const count = Math.ceil(members.length / most);
  return Array.from({ length: count }, (_, group) => members.filter((_, index) => index % count === group));
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
