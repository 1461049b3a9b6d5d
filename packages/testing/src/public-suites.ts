/**
 * Public test suites that `scripts/suites/install.sh` fetches below `node_modules/.cache`. CI
 * installs them; elsewhere the tests that run them are skipped with a reason.
 */

import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A file of a suite. */
export interface SuiteFile {
  /** Path below the folder of the suite, with / between its parts. */
  readonly path: string;
  readonly text: string;
}

const folder = join(import.meta.dirname, "../../../node_modules/.cache/toolcrib-suites");

/** Returns the JSON files of a suite below `under`, in the order of their paths; none where it is not installed. */
export function readSuite(name: "json-path" | "json-schema", under = ""): readonly SuiteFile[] {
  // Written last by the installation.
  if (!existsSync(join(folder, "installed.txt"))) return [];
  const root = join(folder, name, under);
  return globSync("**/*.json", { cwd: root })
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

/** Options of a test that needs a suite, of which `files` were found. */
export function needsSuite(files: readonly SuiteFile[]): { readonly skip: string | false } {
  return { skip: files.length === 0 ? "not installed: run scripts/suites/install.sh" : false };
}
