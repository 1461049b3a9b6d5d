/**
 * `npm run conformance -w packages/starlark -- --suite DIR` runs the test data of
 * other implementations. DIR is a checkout of google/starlark-go or of
 * bazelbuild/starlark. This repository contains nothing of either, and nothing is
 * downloaded; `npm run verify` downloads the first and passes its folder.
 *
 * Exit code 0: as expected; 1: an expectation was not met, or an expected failure
 * passed; 2: there was no suite to run.
 */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { runBazelbuild } from "./bazelbuild.ts";
import { expectedFailures } from "./expected-failures.ts";
import { countExpectations, reportSuite, type SuiteResult } from "./report.ts";
import { runStarlarkGo } from "./starlark-go.ts";

const howToGetOne = [
  "No suite was run. Get one and name its folder:",
  "  git clone https://github.com/google/starlark-go /tmp/starlark-go",
  "  git clone https://github.com/bazelbuild/starlark /tmp/starlark",
  "  npm run conformance -w packages/starlark -- --suite /tmp/starlark-go --suite /tmp/starlark",
].join("\n");

/** The suite in the checkout `folder`, detected by its files; `undefined` if there is none. */
function suiteOf(folder: string): ((folder: string) => Promise<SuiteResult>) | undefined {
  if (existsSync(join(folder, "starlark/testdata/assign.star"))) return runStarlarkGo;
  if (existsSync(join(folder, "test_suite/testdata/java"))) return runBazelbuild;
  return undefined;
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { suite: { type: "string", multiple: true } } });
  const folders = values.suite ?? [];
  if (folders.length === 0) {
    console.error(howToGetOne);
    return 2;
  }
  let exitCode = 0;
  const summaries: string[] = [];
  let passed = 0;
  let failed = 0;
  let skipped = 0;
  for (const folder of folders) {
    // npm runs scripts in the folder of the package, but paths are relative to the folder of the
    // command.
    const path = resolve(process.env["INIT_CWD"] ?? ".", folder);
    const run = suiteOf(path);
    if (run === undefined) {
      console.error(
        `"${path}" is not a checkout of google/starlark-go or bazelbuild/starlark.\n${howToGetOne}`,
      );
      return 2;
    }
    const result = await run(path);
    const { lines, unmet, expectedUnmet } = reportSuite(
      result,
      expectedFailures.filter(({ suite }) => suite === result.suite),
    );
    console.log(lines.join("\n"));
    summaries.push(result.summary);
    passed += countExpectations(result);
    failed += unmet;
    skipped += expectedUnmet;
    if (unmet > 0) exitCode = 1;
  }
  if (summaries.length > 1) console.log(summaries.join("\n"));
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  return exitCode;
}

process.exitCode = await main();
