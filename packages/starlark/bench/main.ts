/**
 * `npm run bench -w packages/starlark` compares the engine with starlark-go and
 * CPython in one run on one machine, and measures its costs for a host. It prints
 * tables to standard output and writes them to packages/starlark/bench/RESULTS.md.
 * packages/starlark/bench/README.md describes the measurements and how to read them.
 *
 * Each measurement runs in a separate process, one at a time. No process outlives the
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

/** Thrown for unknown options and programs. */
class WrongUsage extends Error {}

/** Whether `parseArgs` of node:util threw the error. */
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

/** Parses the command line. Throws `WrongUsage` for unknown options and programs. */
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
    // npm runs scripts in the folder of the package, but paths are relative to the folder of the
    // command.
    starlarkGo: given === undefined ? undefined : resolve(process.env["INIT_CWD"] ?? ".", given),
    rounds,
    repetitions: values.quick ? 3 : 15,
    write: only === undefined && !values.quick,
  };
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

function programsOf(plan: Plan, temporaryFolder: string): readonly Table[] {
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
  const table = programTable("Programs", results, contenders);
  const first = measurePrograms(plan.programs, contenders, { rounds, repetitions: 1, progress });
  const cached = [own(temporaryFolder, { isCached: true }), ...contenders.slice(1)];
  // The round that fills the compile cache does not count.
  measurePrograms(plan.programs.slice(0, 1), cached, { rounds: 1, repetitions: 1, progress });
  const again = measurePrograms(plan.programs, cached, { rounds, repetitions: 1, progress });
  return [
    { ...table, notes: [...(table.notes ?? []), ...missing] },
    { ...programTable("First call in a new process", first, contenders), notes: [] },
    { ...programTable("First call in a new process, with a compile cache", again, cached), notes: [] },
  ];
}

function document(plan: Plan, tables: readonly Table[]): string {
  return [
    "# Benchmark results of the Starlark engine",
    "",
    "Written by `npm run bench -w packages/starlark`; [README.md](README.md) describes the measurements. Compare columns of",
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
    if (plan.programs.length > 0) tables.push(...programsOf(plan, temporaryFolder));
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
