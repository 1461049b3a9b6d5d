/**
 * Runs the examples of `toolcrib explain`: each command prints its code, and exactly the output
 * that the command and the pages show. `npm test -- FILE --update` runs all of them and rewrites
 * `packages/cli/src/explain/recorded.ts`.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadExplained } from "@toolcrib/cli";
import { leftOut, makeTemporaryDirectory, sampled, syncGolden, writeFiles } from "@toolcrib/testing";
import { normalize, runToolcrib } from "./transcript.ts";

/** One example in this many runs in `npm test`. */
const step = 8;
const isUpdate = process.env["TOOLCRIB_UPDATE_GOLDEN"] === "1";

const produced = (await loadExplained()).filter(({ example }) => example.run !== undefined);

test("the examples of the error codes print what the pages show", async () => {
  const outputs = new Map<string, string>();
  const problems: string[] = [];
  for (const one of isUpdate ? produced : sampled(produced, step)) {
    const output = await outputOf(one);
    outputs.set(one.code, output);
    if (!output.includes(one.code))
      problems.push(`${one.code} is not in the output of its example:\n${output}`);
    else if (!isUpdate && output !== one.example.output)
      problems.push(`${one.code} prints something else than recorded.ts has (--update):\n${output}`);
  }
  if (isUpdate) {
    const lines = [...outputs].sort(([a], [b]) => (a < b ? -1 : 1));
    syncGolden(join(import.meta.dirname, "../src/explain/recorded.ts"), recordedFile(lines));
  }
  assert.equal(problems.join("\n\n"), "");
});

test("all examples run", leftOut(step), () => {});

/** Returns what the command of an example prints, without what differs from run to run. */
async function outputOf({ example }: (typeof produced)[number]): Promise<string> {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, { ...example.files });
  const { args, input } = wordsOf(example.run ?? "");
  const stdin = input === undefined ? "" : readFileSync(directory.join(input), "utf8");
  const { stdout, stderr } = await runToolcrib(args, { directory: directory.path, stdin });
  const text = [stdout, stderr].map((part) => part.trim()).filter((part) => part !== "");
  return normalize(text.join("\n"), directory.path).replaceAll("DIR", "/home/ada").trimEnd();
}

/** Splits a command line into its words; a word in single quotes may have spaces, and `< FILE` is the input. */
function wordsOf(line: string): { readonly args: readonly string[]; readonly input: string | undefined } {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  const at = words.indexOf("<");
  const args = words.slice(1, at === -1 ? undefined : at);
  return { args, input: at === -1 ? undefined : words[at + 1] };
}

function recordedFile(outputs: readonly (readonly [code: string, output: string])[]): string {
  const lines = outputs.map(([code, output]) => `  ${code}:\n    ${JSON.stringify(output)},\n`);
  return `// biome-ignore-all format: generated, one piece
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of users
/** What the examples print; written by \`npm test -- packages/cli/test/explain-examples.process.test.ts --update\`. */

/** The output of each example that a command produces, by code. */
export const recorded: { readonly [code: string]: string } = {
${lines.join("")}};
`;
}
