/**
 * Loaded into a test file by `verify-mutations.ts`, before `node:test`. It gives the module loader the changed text of one
 * source file, whose file stays as it is, and ends the process at the first test that fails: the rest would not change
 * the answer. Without a change in the environment, it only does the latter.
 */

import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { afterEach, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

/** A change of a source file, as JSON in `TOOLCRIB_MUTATION`. */
export interface SourceChange {
  /** The file, as a URL. */
  readonly url: string;
  /** Positions in its text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /** The text in the place of that between `start` and `end`. */
  readonly text: string;
}

const json = process.env["TOOLCRIB_MUTATION"];
if (json !== undefined) changeSource(JSON.parse(json) as SourceChange);
if (isMainThread) afterEach(endAtFailure);

function changeSource(change: SourceChange): void {
  const before = readFileSync(fileURLToPath(change.url), "utf8");
  const source = before.slice(0, change.start) + change.text + before.slice(change.end);
  registerHooks({
    load: (url, context, nextLoad) =>
      url === change.url
        ? { format: "module-typescript", source, shortCircuit: true }
        : nextLoad(url, context),
  });
}

function endAtFailure(test: TestContext | { readonly passed?: boolean }): void {
  if (test.passed === false || ("error" in test && test.error != null)) process.exit(1);
}
