/**
 * The test report: a line for each failure with its place and reason when it happens, the
 * reasons of what was skipped, what tests measured and reported (`t.diagnostic`), the names
 * of the tests that failed again, and `N passed, N failed, N skipped` at the end.
 * Where a file fails as a whole, what it wrote to standard error is the reason.
 * Where files share a process that ends early, the report names the file that ran. A test
 * belongs to the file that ran, also where a function of another module registered it.
 */

import { writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { cpuWithChildrenMs } from "./test-cpu.ts";
import { cpuMark, startMark } from "./test-guard.ts";
import { TestResults } from "./test-results.ts";

/** The script whose tests are test files, see there. */
const filesScript = resolve(import.meta.dirname, "test-files.ts");

/** Number of characters of a file's standard error that are kept. */
const maxWritten = 4000;

const startLines = new RegExp(`^${startMark}(.*)\n`, "gm");
const cpuLines = new RegExp(`^${cpuMark}(\\d+) (.*)\n`, "gm");

/** Turn the events of node:test into the report, line by line. */
export async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const results = new TestResults();
  const skipped: { readonly title: string; readonly reason: string }[] = [];
  const reported = new Map<string, string[]>();
  const startedAt = performance.now();
  const written = new Map<string, string>();
  const running = new Map<string, string>();
  const ranIn = new Map<string, string>();
  const took = new Map<string, number>();
  const cpu = new Map<string, number>();
  const tests: { title: string; ms: number }[] = [];
  for await (const event of events) {
    if (event.type === "test:enqueue") noteFile(event.data, ranIn);
    if (event.type === "test:summary" && event.data.file !== undefined) {
      took.set(relative(process.cwd(), event.data.file), event.data.duration_ms);
    }
    if (event.type === "test:stderr") {
      const file = resolve(event.data.file);
      const message = event.data.message
        .replace(startLines, (_line, name: string) => {
          running.set(file, name);
          return "";
        })
        .replace(cpuLines, (_line, ms: string, name: string) => {
          cpu.set(name, Number(ms));
          return "";
        });
      written.set(file, ((written.get(file) ?? "") + message).slice(-maxWritten));
    }
    // Node reports its own counts without a file.
    if (event.type === "test:diagnostic" && event.data.file !== undefined) {
      const place = relative(process.cwd(), event.data.file);
      reported.set(place, [...(reported.get(place) ?? []), event.data.message]);
    }
    if (event.type !== "test:pass" && event.type !== "test:fail") {
      if (event.type === "test:stderr" && process.env["TOOLCRIB_TEST_STDERR"]) yield event.data.message;
      continue;
    }
    const { name, file, details, skip } = event.data;
    const isFile = file === filesScript;
    if (isFile) took.set(name, details.duration_ms);
    // A file that shares its process fails with its cases too, and passes without a count.
    if (isFile && !(event.type === "test:fail" && failedItself(event.data.details.error))) continue;
    // A suite fails with its cases, which are counted; and on its own when its body throws.
    if (details.type === "suite" && !(event.type === "test:fail" && failedItself(event.data.details.error)))
      continue;
    const isWholeProcess = file !== undefined && resolve(name) === file;
    const ran = ranIn.get(keyOf(event.data, event.data.testId)) ?? (file && relative(process.cwd(), file));
    const title = isFile
      ? name
      : isWholeProcess
        ? (running.get(file) ?? relative(process.cwd(), file))
        : `${ran === undefined ? "" : `${ran}: `}${name}`;
    if (!isFile && !isWholeProcess && details.type !== "suite")
      tests.push({ title, ms: details.duration_ms });
    const place = isFile ? name : isWholeProcess ? undefined : ran;
    if (skip !== undefined && skip !== false) {
      skipped.push({ title, reason: skip === true ? "no reason given" : skip });
      results.addSkipped(place);
    } else if (event.type === "test:pass") {
      results.addPassed(place, title);
    } else {
      results.addFailed(place, title);
      const cause: unknown = (event.data.details.error as Error).cause ?? event.data.details.error;
      yield `\nFAILED ${title}\n${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}\n`;
      if (isWholeProcess) yield `${written.get(file) ?? ""}\n`;
    }
  }
  for (const group of running.keys()) took.delete(relative(process.cwd(), group));
  yield* listSkipped(skipped);
  yield* listReported(reported);
  const shown = process.env["TOOLCRIB_TEST_TIMES"];
  if (shown !== undefined) yield* listTimes(took, cpu, tests, Number(shown));
  for (const title of results.failed) yield `failed ${title}\n`;
  yield `${Math.round((performance.now() - startedAt) / 1000)} s\n`;
  yield `${results.counts}\n`;
  const kept = process.env["TOOLCRIB_TEST_RESULTS"];
  if (kept !== undefined) writeFileSync(kept, JSON.stringify(results));
}

// node:test loads a reporter by its default export; nothing else imports this file.
// biome-ignore lint/style/noDefaultExport: required by node:test
export default report;

/** The members of an event that identify a test: its number counts within the process of `entryFile`. */
interface TestPlace {
  readonly name: string;
  readonly testId: number;
  readonly parentId: number | undefined;
  readonly file?: string;
  readonly entryFile?: string;
}

/** Notes in which file of its process a test runs. Node names the module that registered it, which is another one for the tests of a function. */
function noteFile(test: TestPlace, ranIn: Map<string, string>): void {
  const { name, file, parentId = 0, entryFile } = test;
  const ran =
    file === filesScript
      ? name
      : (ranIn.get(keyOf(test, parentId)) ?? (entryFile && relative(process.cwd(), entryFile)));
  if (ran !== undefined) ranIn.set(keyOf(test, test.testId), ran);
}

function keyOf({ entryFile = "" }: Pick<TestPlace, "entryFile">, testId: number): string {
  return `${testId} ${entryFile}`;
}

function failedItself(error: Error & { readonly failureType?: string }): boolean {
  return error.failureType !== "subtestsFailed";
}

/** Number of tests with one reason of which each is named without `--skips`. */
const namedSkips = 3;

/** Number of messages of one file that are printed without `--times`. */
const printedReports = 3;

/** Yields what the tests of each file reported; many messages where all cases ran, or measurements are asked for. */
function* listReported(reported: ReadonlyMap<string, readonly string[]>): Generator<string> {
  const printsAll = ["TOOLCRIB_TEST_ALL", "TOOLCRIB_TEST_TIMES"].some(
    (name) => process.env[name] !== undefined,
  );
  for (const [file, messages] of reported) {
    if (printsAll || messages.length <= printedReports) {
      for (const message of messages) yield `reported ${file}: ${message}\n`;
    } else {
      yield `reported ${file}: ${messages.length} messages (--times prints them)\n`;
    }
  }
}

/** Yields each skipped test with its reason, or the number of those that share one; and where it says how to run them. */
function* listSkipped(
  skipped: readonly { readonly title: string; readonly reason: string }[],
): Generator<string> {
  const namesAll = process.env["TOOLCRIB_TEST_SKIPS"] !== undefined;
  const byReason = Map.groupBy(skipped, ({ reason }) => reason);
  for (const [reason, tests] of byReason) {
    if (namesAll || tests.length <= namedSkips) {
      for (const { title } of tests) yield `skipped ${title}: ${reason}\n`;
    } else {
      yield `skipped ${tests.length} tests: ${reason} (--skips names them)\n`;
    }
  }
  // A sample and a slow test name their command; all other tests need something of the machine.
  if ([...byReason.keys()].some((reason) => !/npm (?:test|run verify) runs/.test(reason))) {
    yield `what skipped tests need, and how to install it: CONTRIBUTING.md, "What tests need"\n`;
  }
}

/**
 * Yields the `count` slowest tests with their time; the `count` files that used the most CPU time, with
 * that of the processes that they started, and their time; and the CPU time of the run.
 */
function* listTimes(
  took: ReadonlyMap<string, number>,
  cpu: ReadonlyMap<string, number>,
  tests: readonly { readonly title: string; readonly ms: number }[],
  count: number,
): Generator<string> {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`.padStart(8);
  for (const { title, ms } of tests.toSorted((a, b) => b.ms - a.ms).slice(0, count)) {
    yield `${seconds(ms)} ${title}\n`;
  }
  for (const [file, ms] of [...cpu].sort(([, a], [, b]) => b - a).slice(0, count)) {
    yield `${seconds(ms)} CPU ${seconds(took.get(file) ?? 0)} ${file}\n`;
  }
  yield `${seconds(cpuWithChildrenMs())} CPU in all\n`;
}
