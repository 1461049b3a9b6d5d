/**
 * A step of `npm run verify`: changes the code that decides what a policy allows, which calls are made and which
 * definitions are offered, one place at a time, and runs its tests on each change. A change that no test notices is a
 * failure, unless `policy-mutations.json` says why it changes no decision. No file is written: the tests load the
 * changed text.
 *
 *     npm run verify -- policy-mutations
 *     node --conditions=toolcrib-source scripts/verify-mutations.ts [FILE[:LINE] ...] [--part 1/4] [--verbose]
 *
 * Each test runs once without a change, which shows what it executes. A change is only tried with the tests that
 * execute its place. Several tests run side by side, because they wait more than they compute.
 *
 * Files and tests are named without their folders, so that they can move to another package. Where two have the same
 * name, the settings have as much of the path as they differ in: `store/src/call-approvals.ts`.
 */

import { spawn } from "node:child_process";
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { positionAt } from "@toolcrib/diagnostics";
import type { SourceChange } from "./mutated-source.ts";
import { type Mutation, mutationsOf } from "./mutations.ts";
import { openWorkspace } from "./workspace.ts";

const root = join(import.meta.dirname, "..");

/** Milliseconds for the step. It took 640 s on two processors that had eight times as many processes to run. */
const limitMs = 2_400_000;
/** Milliseconds for a test file without a change. With one, it has `slower` times what it took, and this at least. */
const testMinMs = 120_000;
const slower = 10;
/** Milliseconds between two lines of progress. */
const progressMs = 15_000;
/** Test files that run at once. */
const concurrency = availableParallelism() + 2;

/** Names of source files, and of the tests that must notice each change of them: the fastest first. */
interface Group {
  readonly files: readonly string[];
  readonly tests: readonly string[];
}

/** A change that no test can notice. The step tries it too, and fails where a test does. */
interface Exemption {
  /** The name of the file. */
  readonly file: string;
  /** The changed line, without the space around it. */
  readonly line: string;
  /** The replaced text and the text in its place, such as `&& → ||`. */
  readonly change: string;
  readonly reason: string;
}

interface Settings {
  readonly groups: readonly Group[];
  readonly exemptions: readonly Exemption[];
}

/** One change of one file. */
interface Mutant {
  /** Path from the root. */
  readonly file: string;
  readonly source: string;
  readonly lineNumber: number;
  readonly mutation: Mutation;
  /** Paths from the root. */
  readonly tests: readonly string[];
}

/** The result of a test file. */
type Ending = "passed" | "failed" | "took too long";

/** A part of a file that was executed so often, without the parts within it that have a count of their own. */
interface CoveredRange {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

/** A test file that ran without a change. */
interface UnchangedRun {
  readonly durationMs: number;
  /** By path from the root: what each process and thread that loaded the file executed of it. */
  readonly coverage: ReadonlyMap<string, readonly (readonly CoveredRange[])[]>;
}

/** The results of the changes of one file. */
interface Tally {
  all: number;
  noticed: number;
  /** Unnoticed, or exempted and noticed. */
  failed: number;
  exempted: number;
}

const { groups, exemptions } = JSON.parse(
  readFileSync(join(import.meta.dirname, "policy-mutations.json"), "utf8"),
) as Settings;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { part: { type: "string", default: "1/1" }, verbose: { type: "boolean", default: false } },
});
/** By path of the test. */
const unchangedRuns = new Map<string, Promise<UnchangedRun>>();
const coverageFolder = mkdtempSync(join(tmpdir(), "toolcrib-mutations-"));
try {
  process.exitCode = await verifyMutations(positionals, values.part);
} finally {
  rmSync(coverageFolder, { recursive: true, force: true });
}

/**
 * @param only names of files, also with a line number; without any, all are changed
 * @param part which of the changes: `1/4` are those of the first of four parts
 */
async function verifyMutations(only: readonly string[], part: string): Promise<number> {
  const [at = 0, parts = 0] = (/^(\d+)\/(\d+)$/.exec(part)?.slice(1) ?? []).map(Number);
  if (at < 1 || at > parts) {
    console.error(`--part "${part}" is no part; "2/4" is the second of four`);
    return 2;
  }
  const chosen = listMutants(only);
  const isKnown = (name: string) => chosen.some((mutant) => namesOf(mutant).includes(name));
  const unknown = only.filter((name) => !isKnown(name));
  if (unknown.length > 0) {
    const files = groups.flatMap((group) => group.files).join(", ");
    console.error(`No condition in ${unknown.join(", ")}; write FILE or FILE:LINE, with a file of ${files}`);
    return 2;
  }
  const mutants = chosen.filter((_, index) => index % parts === at - 1);
  console.log(`${mutants.length} changes, ${concurrency} tests at once`);
  const tallies = new Map<string, Tally>();
  for (const { file } of mutants) {
    const tally = tallies.get(file) ?? { all: 0, noticed: 0, failed: 0, exempted: 0 };
    tally.all += 1;
    tallies.set(file, tally);
  }
  const exempted = new Set<Exemption>();
  const left = [...mutants];
  let shownMs = performance.now();
  const work = async (): Promise<void> => {
    for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
      const tally = tallies.get(mutant.file);
      if (tally === undefined) throw new Error(`No count of ${mutant.file}`);
      const exemption = exemptionOf(mutant);
      if (exemption !== undefined) exempted.add(exemption);
      const isNoticed = await isNoticedByTests(mutant);
      if (performance.now() > limitMs) left.length = 0;
      else if (isNoticed && exemption === undefined) tally.noticed += 1;
      else if (!isNoticed && exemption !== undefined) tally.exempted += 1;
      else {
        tally.failed += 1;
        console.log(`${isNoticed ? "exempted, and a test notices" : "no test notices"} ${describe(mutant)}`);
      }
      if (doneIn(tally) === tally.all) console.log(`${mutant.file}: ${toText(tally)}`);
      else if (performance.now() > shownMs + progressMs) {
        shownMs = performance.now();
        console.log(`${toText(sumOf(tallies.values()))} of ${mutants.length} in ${secondsNow()} s`);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));

  const isWhole = only.length === 0 && parts === 1;
  const sum = sumOf(tallies.values());
  const untried = sum.all - doneIn(sum);
  if (untried > 0) {
    const files = [...tallies].filter(([, tally]) => doneIn(tally) < tally.all);
    console.log(
      `${untried} changes are untried after ${limitMs / 1000} s, in ${files.map(([file]) => basename(file)).join(", ")}; ` +
        "run the step while the machine does less, or scripts/verify-mutations.ts with these files",
    );
  }
  const unused = exemptions.filter((exemption) => isWhole && untried === 0 && !exempted.has(exemption));
  for (const { file, line } of unused) console.log(`exempted, and no change: ${file}: ${line}`);
  console.log(`${toText(sum)} in ${secondsNow()} s`);
  const failed = sum.failed + unused.length + untried;
  console.log(`${sum.noticed} passed, ${failed} failed, 0 skipped`);
  return failed === 0 ? 0 : 1;
}

function listMutants(only: readonly string[]): readonly Mutant[] {
  using workspace = openWorkspace(root);
  const sources = workspace.packages.flatMap(({ src }) => src);
  const names = sources.map(({ name }) => name);
  const allTests = globSync("packages/*/test/**/*.test.ts", { cwd: root });
  return groups.flatMap(({ files, tests }) => {
    const paths = tests.map((test) => onlyOne(test, allTests));
    return files.flatMap((name) => {
      const file = onlyOne(name, names);
      const found = sources.find((source) => source.name === file);
      if (found === undefined) throw new Error(`There is no ${file}`);
      const { text: source, syntax } = found;
      return mutationsOf(syntax)
        .map((mutation) => {
          const { lineNumber } = positionAt(source, mutation.span.start);
          return { file, source, lineNumber, mutation, tests: paths };
        })
        .filter((mutant) => only.length === 0 || namesOf(mutant).some((one) => only.includes(one)));
    });
  });
}

/** Returns the arguments that choose a change. */
function namesOf({ file, lineNumber }: Mutant): readonly string[] {
  return [basename(file), `${basename(file)}:${lineNumber}`];
}

/** Returns the path of the one file that is called `name`, or whose path ends with it. */
function onlyOne(name: string, paths: readonly string[]): string {
  const found = paths.filter((path) => path.endsWith(`/${name}`));
  const [path] = found;
  if (path === undefined || found.length > 1) {
    throw new Error(`policy-mutations.json: ${found.length} files are called ${name}: ${found.join(", ")}`);
  }
  return path;
}

function exemptionOf(mutant: Mutant): Exemption | undefined {
  const line = lineOf(mutant);
  const change = changeOf(mutant);
  return exemptions.find(
    (one) => one.file === basename(mutant.file) && one.line === line && one.change === change,
  );
}

/** Tries the tests one after the other, until one fails. */
async function isNoticedByTests(mutant: Mutant): Promise<boolean> {
  for (const test of mutant.tests) {
    const { durationMs, coverage } = await runUnchanged(test);
    const isReached = coverage
      .get(mutant.file)
      ?.some((ranges) => isExecuted(ranges, mutant.mutation.executedAt));
    if (isReached !== true) continue;
    if (performance.now() > limitMs) return false;
    const timeoutMs = Math.max(testMinMs, slower * durationMs);
    const ending = await run(test, { TOOLCRIB_MUTATION: toJson(mutant) }, timeoutMs);
    if (ending === "passed") continue;
    if (values.verbose) console.log(`${test} ${ending}: ${describe(mutant)}`);
    return true;
  }
  return false;
}

/** Runs a test without a change, once. @throws {Error} The test fails also when it is tried again. */
function runUnchanged(test: string): Promise<UnchangedRun> {
  const known = unchangedRuns.get(test);
  if (known !== undefined) return known;
  const measure = async (): Promise<UnchangedRun> => {
    let ending: Ending | undefined;
    for (const attempt of ["first", "second"]) {
      const folder = join(coverageFolder, `${basename(test)}.${attempt}`);
      const began = performance.now();
      ending = await run(test, { NODE_V8_COVERAGE: folder, NODE_COMPILE_CACHE: undefined }, testMinMs);
      if (ending === "passed") {
        return { durationMs: performance.now() - began, coverage: readCoverage(folder) };
      }
    }
    throw new Error(`${test} ${ending} without a change`);
  };
  const running = measure();
  unchangedRuns.set(test, running);
  return running;
}

/** Reads what V8 recorded of all processes and threads of a test. */
function readCoverage(folder: string): UnchangedRun["coverage"] {
  const coverage = new Map<string, (readonly CoveredRange[])[]>();
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), "utf8")) as {
      result: readonly { url: string; functions: readonly { ranges: readonly CoveredRange[] }[] }[];
    };
    for (const { url, functions } of result) {
      if (!url.startsWith(pathToFileURL(join(root, "packages/")).href)) continue;
      const file = fileURLToPath(url).slice(root.length + 1);
      coverage.set(file, [...(coverage.get(file) ?? []), functions.flatMap(({ ranges }) => ranges)]);
    }
  }
  return coverage;
}

/** Whether the innermost range around `position` was executed. */
function isExecuted(ranges: readonly CoveredRange[], position: number): boolean {
  let innermost = Number.POSITIVE_INFINITY;
  let isReached = false;
  for (const { startOffset, endOffset, count } of ranges) {
    const length = endOffset - startOffset;
    if (position < startOffset || position >= endOffset || length > innermost) continue;
    isReached = count > 0;
    innermost = length;
  }
  return isReached;
}

function run(
  test: string,
  env: { readonly [name: string]: string | undefined },
  timeoutMs: number,
): Promise<Ending> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const child = spawn(
      process.execPath,
      ["--conditions=toolcrib-source", "--import=./scripts/mutated-source.ts", test],
      {
        cwd: root,
        stdio: "ignore",
        env: {
          ...process.env,
          TOOLCRIB_TEST_ALL: undefined,
          // The same policies for each change.
          TOOLCRIB_TEST_SEED: "1",
          // Changed files are compiled again, all others once.
          NODE_COMPILE_CACHE: join(root, "node_modules/.cache/toolcrib-mutations"),
          ...env,
        },
      },
    );
    const timer = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, timeoutMs);
    child.once("error", reject).once("close", (code) => {
      clearTimeout(timer);
      resolve(isLate ? "took too long" : code === 0 ? "passed" : "failed");
    });
  });
}

function toJson({ file, mutation: { span, text } }: Mutant): string {
  const change: SourceChange = { url: pathToFileURL(join(root, file)).href, ...span, text };
  return JSON.stringify(change);
}

function lineOf({ source, mutation: { span } }: Mutant): string {
  const start = source.lastIndexOf("\n", span.start) + 1;
  const end = source.indexOf("\n", span.start);
  return source.slice(start, end === -1 ? undefined : end).trim();
}

function changeOf({ source, mutation: { span, text } }: Mutant): string {
  return `${source.slice(span.start, span.end)} → ${text}`.replace(/\s+/g, " ");
}

function describe(mutant: Mutant): string {
  return `${mutant.file}:${mutant.lineNumber}: ${changeOf(mutant)}\n    ${lineOf(mutant)}`;
}

function sumOf(tallies: Iterable<Tally>): Tally {
  const sum = { all: 0, noticed: 0, failed: 0, exempted: 0 };
  for (const tally of tallies) {
    sum.all += tally.all;
    sum.noticed += tally.noticed;
    sum.failed += tally.failed;
    sum.exempted += tally.exempted;
  }
  return sum;
}

function doneIn({ noticed, failed, exempted }: Tally): number {
  return noticed + failed + exempted;
}

function toText(tally: Tally): string {
  return `${doneIn(tally)} changes, ${tally.noticed} noticed, ${tally.failed} failed, ${tally.exempted} exempted`;
}

/** Whole seconds since this process started. */
function secondsNow(): number {
  return Math.round(performance.now() / 1000);
}
