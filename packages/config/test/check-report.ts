/** Golden files of the reports about configurations. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { formatConfigReport, parseConfig } from "@toolcrib/config";
import { syncGolden } from "@toolcrib/testing";

/** A case: its title, and its files by name, or the text of the one file `toolcrib.yaml`. */
export type GoldenRow = readonly [title: string, files: string | { readonly [name: string]: string }];

const folder = join(import.meta.dirname, "golden");

/** Runs one test per row: compares the report on its files with `golden/<group>.txt`. */
export function checkGolden(group: string, rows: readonly GoldenRow[]): void {
  const path = join(folder, `${group}.txt`);
  const blocks = rows.map(toBlock);
  const expected = syncGolden(path, blocks.join("")).split(/^(?=# )/m);
  for (const [index, [title]] of rows.entries()) {
    test(`${group}: ${title}`, () => assert.equal(blocks[index], expected[index]));
  }
  test(`${group}: the golden file has no other rows`, () => {
    assert.equal(expected.length, rows.length);
    assert.equal(new Set(rows.map(([title]) => title)).size, rows.length, "titles are unique");
  });
}

function toBlock([title, given]: GoldenRow): string {
  const files = typeof given === "string" ? { "toolcrib.yaml": given } : given;
  const sources = Object.entries(files).map(([name, text]) => ({ name, text }));
  const report = formatConfigReport(Object.keys(files), parseConfig(sources).diagnostics);
  return `# ${title}\n\n${report.replace(/^(?=#)/gm, "\\")}\n\n`;
}

/** Returns a valid stdio server with additional `fields`. */
export function stdioServer(...fields: readonly string[]): string {
  return [
    "tool_servers:",
    "- id: files",
    "  transport: { kind: stdio, command: server }",
    ...fields.map((line) => `  ${line}`),
    "",
  ].join("\n");
}

/** Returns a tool server whose transport consists of `lines`. */
export function serverWith(...lines: readonly string[]): string {
  return ["tool_servers:", "- id: files", "  transport:", ...lines.map((line) => `    ${line}`), ""].join(
    "\n",
  );
}
