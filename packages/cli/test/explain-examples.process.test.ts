/**
 * Runs the examples of `toolcrib explain`: each prints its code, and exactly the output that the command
 * and the pages show; where an entry says what its fix changes, the code is gone after that.
 * `npm test -- FILE --update` runs all of them and rewrites `packages/cli/src/explain/recorded.ts`.
 */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadExplained } from "@toolcrib/cli";
import { leftOut, sampled, syncGolden } from "@toolcrib/testing";
import { type Produced, runExamples, runRepaired } from "./run-example.ts";

/** One example in this many runs in `npm test`. */
const step = 24;
const isUpdate = process.env["TOOLCRIB_UPDATE_GOLDEN"] === "1";

/** Programs in lines and files of examples that not every machine has. */
const programs = ["curl", "openssl", "prlimit", "python3"];
const missing = programs.filter((name) => !existsSync(`/usr/bin/${name}`));

const all: readonly Produced[] = (await loadExplained()).filter(({ example }) => example.run !== undefined);
const produced = all.filter(({ example: { lines, files = {} } }) => {
  const texts = [...lines, ...Object.values(files)];
  return !missing.some((name) => texts.some((text) => new RegExp(`\\b${name}[ "]`).test(text)));
});
const repaired = produced.filter(({ example }) => example.repaired !== undefined);

test("the examples of the error codes print what the pages show", async () => {
  const recorded = new Map(produced.map(({ code, example }) => [code, example.output]));
  const outputs = new Map<string, string>();
  const problems: string[] = [];
  await runExamples(isUpdate ? produced : sampled(produced, step), (code, output) => {
    outputs.set(code, output);
    if (!output.includes(code)) problems.push(`${code} is not in the output of its example:\n${output}`);
    else if (!isUpdate && output !== recorded.get(code))
      problems.push(`${code} prints something else than recorded.ts has (--update):\n${output}`);
  });
  if (isUpdate) {
    const lines = [...outputs].sort(([a], [b]) => (a < b ? -1 : 1));
    syncGolden(join(import.meta.dirname, "../src/explain/recorded.ts"), recordedFile(lines));
  }
  assert.equal(problems.join("\n\n"), "");
});

test("an example does not print its code after its fix", async () => {
  const problems: string[] = [];
  for (const one of sampled(repaired, step)) {
    const output = await runRepaired(one);
    if (output.includes(one.code)) problems.push(`${one.code} is still in the output:\n${output}`);
  }
  assert.equal(problems.join("\n\n"), "");
});

test("all examples run", leftOut(step), () => {});

test("the programs of the examples are there", {
  skip: missing.length > 0 && `needs ${missing.join(", ")}`,
}, () => {
  assert.equal(produced.length, all.length);
});

function recordedFile(outputs: readonly (readonly [code: string, output: string])[]): string {
  const lines = outputs.map(
    ([code, output]) =>
      `  ${/^\w+$/.test(code) && !/^\d/.test(code) ? code : JSON.stringify(code)}:\n    ${JSON.stringify(output)},\n`,
  );
  return `// biome-ignore-all format: generated, one piece
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of users
/** The output of the examples; written by \`npm test -- packages/cli/test/explain-examples.process.test.ts --update\`. */

/** The output of each example that runs, by code. */
export const recorded: { readonly [code: string]: string } = {
${lines.join("")}};
`;
}
