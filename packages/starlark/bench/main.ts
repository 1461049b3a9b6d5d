/**
 * `npm run bench -w packages/starlark`: the engine beside starlark-go and CPython,
 * in one run on one machine, and what the engine costs a host. Tables on stdout
 * and in packages/starlark/bench/RESULTS.md. What is measured and how to read it
 * is in packages/starlark/bench/README.md.
 *
 * What takes part runs in processes of its own, one at a time; none outlives the
 * run.
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { describeMachine } from "../../../bench/machine.ts";
import { type Table, toMarkdown } from "../../../bench/table.ts";
import { type Contender, cpython, own } from "./contenders.ts";
import { costTable, measureCosts } from "./costs.ts";
import { listPrograms, measurePrograms, programTable } from "./programs.ts";
import { findStarlarkGo } from "./starlark-go.ts";

const usage = `npm run bench -w packages/starlark -- [options]

  --starlark-go PATH   its binary; without it, it is built where Go is there
  --only a,b           only these programs, and the part costs
  --rounds N           turns of each contender (default 5)
  --quick              two turns, few repetitions: does it work, not how fast

Only a whole run (neither --only nor --quick) is written to bench/RESULTS.md.
`;

/** The command line asks for something that there is not. */
class WrongUsage extends Error {}

/** True for what node:util's parseArgs throws. */
function isArgumentError(error: unknown): boolean {
  return error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
}

interface Plan {
  readonly programs: readonly string[];
  readonly costs: boolean;
  readonly starlarkGo: string | undefined;
  readonly rounds: number;
  readonly repetitions: number;
  readonly write: boolean;
}

/** What the command line asks for; throws `WrongUsage` for what there is not. */
function parsePlan(argv: readonly string[]): Plan | "help" {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      "starlark-go": { type: "string" },
      only: { type: "string" },
      rounds: { type: "string" },
      quick: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  const rounds = values.rounds === undefined ? (values.quick ? 2 : 5) : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100) {
    throw new WrongUsage(`--rounds "${values.rounds}" is not a whole number from 1 to 100`);
  }
  const all = listPrograms();
  const only = values.only?.split(",").map((word) => word.trim());
  for (const word of only ?? []) {
    if (word !== "costs" && !all.includes(word)) {
      throw new WrongUsage(`--only "${word}" is neither costs nor a program: ${all.join(", ")}`);
    }
  }
  const given = values["starlark-go"];
  return {
    programs: only === undefined ? all : all.filter((name) => only.includes(name)),
    costs: only === undefined || only.includes("costs"),
    // npm runs scripts in the package's folder; paths are meant from where the command was given.
    starlarkGo: given === undefined ? undefined : resolve(process.env["INIT_CWD"] ?? ".", given),
    rounds,
    repetitions: values.quick ? 3 : 15,
    write: only === undefined && !values.quick,
  };
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

function programsOf(plan: Plan, temporaryFolder: string): Table {
  const { rounds, repetitions } = plan;
  const contenders: Contender[] = [own(temporaryFolder)];
  const missing: string[] = [];
  for (const found of [
    findStarlarkGo(plan.starlarkGo, temporaryFolder, progress),
    cpython(temporaryFolder),
  ]) {
    if (found.kind === "found") contenders.push(found.contender);
    else missing.push(found.reason);
  }
  const results = measurePrograms(plan.programs, contenders, { rounds, repetitions, progress });
  const table = programTable(results, contenders);
  return { ...table, notes: [...(table.notes ?? []), ...missing] };
}

function document(plan: Plan, tables: readonly Table[]): string {
  return [
    "# Benchmark results of the Starlark engine",
    "",
    "Written by `npm run bench -w packages/starlark`; [README.md](README.md) says what is measured. Compare columns of",
    "one run, not runs.",
    "",
    describeMachine(new Date()),
    `- Rounds: ${plan.rounds} for each program and contender, of ${plan.repetitions} repetitions; the fastest counts`,
    "",
    ...tables.map(toMarkdown),
  ].join("\n");
}

function main(plan: Plan): void {
  const temporaryFolder = mkdtempSync(join(tmpdir(), "toolcrib-starlark-bench-"));
  try {
    const tables: Table[] = [];
    if (plan.programs.length > 0) tables.push(programsOf(plan, temporaryFolder));
    if (plan.costs) tables.push(costTable(measureCosts(plan.rounds, temporaryFolder, progress)));
    const text = document(plan, tables);
    process.stdout.write(text);
    if (plan.write) writeFileSync(join(import.meta.dirname, "RESULTS.md"), text);
  } finally {
    rmSync(temporaryFolder, { recursive: true, force: true });
  }
}

try {
  const plan = parsePlan(process.argv.slice(2));
  if (plan === "help") process.stdout.write(usage);
  else main(plan);
} catch (error) {
  if (!(error instanceof WrongUsage) && !isArgumentError(error)) throw error;
  progress(`${(error as Error).message}\n\n${usage}`);
  process.exitCode = 2;
}
