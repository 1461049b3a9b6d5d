/** The test files that `npm run verify` runs with all of their cases. */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { longTests } from "./long-tests.ts";

/** Matches a file that runs a sample: of cases, or of pages, which `testGuides` takes by `step`. */
const samples = /\b(?:runsAll|sampled|leftOut)\b|\btestGuides\([^)]*\bstep: /;

/** The step `policies` runs all shards of it. */
const inShards = "packages/cedar/test/agreement.test.ts";

/** Returns the test files below `root` that run a sample of their cases in `npm test`, or do not run there. */
export function listVerifiedTests(root: string): readonly string[] {
  const files = globSync(["packages/*/test/**/*.test.ts", "scripts/test/**/*.test.ts"], { cwd: root })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => longTests.includes(path) || samples.test(readFileSync(join(root, path), "utf8")));
  return files.filter((path) => path !== inShards).sort();
}
