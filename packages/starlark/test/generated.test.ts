/**
 * Random programs end within their limits, with a value or with an error of the
 * program, and in the same way each time. `TOOLCRIB_STARLARK_PROGRAMS` sets their
 * number; `npm run fuzz` runs many.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Dialect, toolDialect } from "@toolcrib/starlark";
import { runCount } from "@toolcrib/testing";
import { AssertionLog } from "./assertions.ts";
import { execute } from "./execute.ts";
import { programEnvironment } from "./program-environment.ts";
import { generateProgram } from "./program-generator.ts";

const count = Number(process.env["TOOLCRIB_STARLARK_PROGRAMS"] ?? runCount(400));
const firstSeed = Number(process.env["TOOLCRIB_STARLARK_SEED"] ?? 1);

const coreWithOptions: Dialect = {
  set: true,
  while: true,
  topLevelControl: true,
  globalReassign: true,
  recursion: true,
};

/** The outcome of a program as text: its output, its error and its steps. */
async function outcomeOf(text: string, dialect: Dialect): Promise<string> {
  const printed: string[] = [];
  const outcome = await execute(
    { name: "generated.star", text },
    {
      dialect,
      predeclared: programEnvironment(new AssertionLog(), dialect),
      limits: { steps: 200_000, memoryBytes: 4 * 1024 * 1024 },
      print: (line) => printed.push(line),
    },
  );
  if (outcome.kind === "static") return `static: ${JSON.stringify(outcome.errors)}`;
  const { steps, memoryBytes } = outcome.thread;
  const end = outcome.kind === "done" ? "done" : `${outcome.error.kind}: ${outcome.error.message}`;
  return [...printed, end, `${steps} steps, ${memoryBytes} bytes`].join("\n");
}

async function check(seed: number, tool: boolean): Promise<void> {
  const text = generateProgram(seed, { tool });
  const dialect = tool ? toolDialect : coreWithOptions;
  const outcome = await outcomeOf(text, dialect);
  const label = `seed ${seed}:\n${text}\n${outcome}`;
  assert.doesNotMatch(outcome, /^(static|internal|timeout): /m, label);
  assert.equal(await outcomeOf(text, dialect), outcome, label);
}

test("generated programs of the core dialect end within their limits", async () => {
  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) await check(seed, false);
});

test("generated programs of the tool dialect end within their limits", async () => {
  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) await check(seed, true);
});
