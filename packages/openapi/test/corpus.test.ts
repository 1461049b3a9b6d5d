/**
 * Imports every document of the npm package `@readme/oas-examples` (OpenAPI 2.0 to
 * 3.1, as JSON and as YAML). The golden file lists, for each document, how many of
 * its operations became tools, and the codes of what was left out or refused, so
 * that every change of an outcome fails the run.
 */

import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { importOpenapi } from "@toolcrib/openapi";
import { checkGolden, fastSample, slowTest } from "@toolcrib/testing";
import { lintOf } from "./check-import.ts";

const folder = join(import.meta.dirname, "../../../node_modules/@readme/oas-examples");
const skip = !existsSync(folder) && "@readme/oas-examples is not installed (npm ci)";

/** Documents whose two forms have different content. */
const unequal: ReadonlySet<string> = new Set([
  "3.0/json/petstore-expanded.json",
  "3.0/json/uspto.json",
  "3.1/json/parameters-style.json",
  "3.1/json/train-travel.json",
]);

/** Imports the document at `path` of the package. */
async function importFrom(path: string) {
  const report = await importOpenapi({ name: path, text: readFileSync(join(folder, path), "utf8") });
  return { ...report, lint: lintOf(report) };
}

type Imported = Awaited<ReturnType<typeof importFrom>>;

function outcomeOf({ value, operations, diagnostics }: Imported): string {
  const codes = [...new Set(diagnostics.map(({ severity, code }) => `${severity} ${code}`))].sort();
  const toolCount = operations.filter(({ tool }) => tool !== undefined).length;
  const result = value === undefined ? "refused" : `${toolCount} of ${operations.length} operations`;
  return [result, ...codes].join("; ");
}

test("every document of the corpus is imported as expected, and lint has no findings about it", {
  skip: skip || slowTest.skip,
}, async () => {
  const paths = globSync("[23].*/**/*.{json,yaml}", { cwd: folder }).sort();
  const lines: string[] = [];
  for (const path of paths) {
    const imported = await importFrom(path);
    assert.deepEqual(imported.lint, [], path);
    lines.push(`${path}: ${outcomeOf(imported)}`);
  }
  assert.ok(lines.length > 120, `${lines.length} documents`);
  checkGolden(join(import.meta.dirname, "golden/corpus.txt"), `${lines.join("\n")}\n`);
});

test("a document as JSON and as YAML gives the same files", { skip }, async () => {
  for (const path of fastSample(globSync("3.*/json/*.json", { cwd: folder }).sort())) {
    const other = path.replace("/json/", "/yaml/").replace(/\.json$/, ".yaml");
    if (unequal.has(path) || !existsSync(join(folder, other))) continue;
    const [json, yaml] = [await importFrom(path), await importFrom(other)];
    assert.equal(yaml.value?.manifestText, json.value?.manifestText, path);
    assert.equal(yaml.value?.toolspecText, json.value?.toolspecText, path);
  }
});
