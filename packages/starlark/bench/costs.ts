/**
 * Costs of the engine for a host, in addition to running programs: waiting, compiling
 * and running a small tool, loading, and memory. Each figure comes from separate
 * processes and is the median over the rounds, except for waiting, where the fastest
 * round counts, as for programs.
 */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { median } from "../../../bench/statistics.ts";
import type { Table } from "../../../bench/table.ts";

const folder = import.meta.dirname;
const fromSource = "--conditions=toolcrib-source";
const waits = 20_000;
const toolTimes = 300;
/** Loading takes little time, which varies with the load of the machine. */
const loadsPerRound = 3;

/** All measurements; `undefined` where nothing could be measured. */
export interface Costs {
  readonly suspension: { readonly waiting: number; readonly atOnce: number };
  readonly tool: { readonly compileMs: number; readonly bothMs: number };
  readonly source: LoadCosts;
  readonly build: LoadCosts | undefined;
  /** Like `build`, with the code cache of V8, as in the command line of Toolcrib. */
  readonly cached: LoadCosts | undefined;
}

/** The measurements of one process, and their medians. */
interface LoadRun {
  readonly loadMs: number;
  readonly firstToolMs: number;
  readonly heapBytes: number;
  readonly residentBytes: number;
}

interface LoadCosts extends LoadRun {
  readonly fastestMs: number;
}

/** Measures everything in `rounds` rounds. */
export function measureCosts(
  rounds: number,
  temporaryFolder: string,
  progress: (line: string) => void,
): Costs {
  const built = existsSync(join(folder, "../dist/index.js"));
  const suspensions: Costs["suspension"][] = [];
  const tools: Costs["tool"][] = [];
  const sources: LoadRun[] = [];
  const builds: LoadRun[] = [];
  const cached: LoadRun[] = [];
  const cache = { NODE_COMPILE_CACHE: join(temporaryFolder, "compiled") };
  if (built) runScript("run-load.mjs", ["--expose-gc"], [], cache);
  for (let round = 1; round <= rounds; round += 1) {
    progress(`  round ${round}/${rounds} costs`);
    suspensions.push(runScript("run-suspension.ts", [fromSource], [String(waits)]));
    tools.push(runScript("run-tool.ts", [fromSource], [String(toolTimes)]));
    for (let load = 0; load < loadsPerRound; load += 1) {
      sources.push(runScript("run-load.mjs", ["--expose-gc", fromSource]));
      if (!built) continue;
      builds.push(runScript("run-load.mjs", ["--expose-gc"]));
      cached.push(runScript("run-load.mjs", ["--expose-gc"], [], cache));
    }
  }
  return {
    suspension: {
      waiting: Math.min(...suspensions.map(({ waiting }) => waiting)),
      atOnce: Math.min(...suspensions.map(({ atOnce }) => atOnce)),
    },
    tool: {
      compileMs: median(tools.map(({ compileMs }) => compileMs)),
      bothMs: median(tools.map(({ bothMs }) => bothMs)),
    },
    source: medians(sources),
    build: built ? medians(builds) : undefined,
    cached: built ? medians(cached) : undefined,
  };
}

function runScript<T>(
  script: string,
  flags: readonly string[],
  args: readonly string[] = [],
  environment: { readonly [name: string]: string } = {},
): T {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, join(folder, script), ...args], {
    encoding: "utf8",
    timeout: 120_000,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...environment },
  });
  if (status !== 0) throw new Error(`${script} ended with code ${status}: ${stderr.slice(-2000)}`);
  return JSON.parse(stdout);
}

function medians(loads: readonly LoadRun[]): LoadCosts {
  const of = (name: keyof LoadRun): number => median(loads.map((load) => load[name]));
  return {
    loadMs: of("loadMs"),
    fastestMs: Math.min(...loads.map(({ loadMs }) => loadMs)),
    firstToolMs: of("firstToolMs"),
    heapBytes: of("heapBytes"),
    residentBytes: of("residentBytes"),
  };
}

/** The figures and their targets. */
export function costTable({ suspension, tool, source, build, cached }: Costs): Table {
  const ms = (value: number | undefined): string => (value === undefined ? "–" : `${value.toFixed(2)} ms`);
  const load = (costs: LoadCosts | undefined): string =>
    costs === undefined ? "–" : `${costs.loadMs.toFixed(1)} ms (fastest ${costs.fastestMs.toFixed(1)})`;
  const mb = (value: number | undefined): string =>
    value === undefined ? "–" : `${(value / 1e6).toFixed(1)} MB`;
  return {
    title: "Costs of the engine",
    columns: ["what", "measured", "goal"],
    rows: [
      ["a call that waits, five calls deep", `${suspension.waiting.toFixed(2)} µs`, "5 µs"],
      ["the same call when it answers at once", `${suspension.atOnce.toFixed(2)} µs`, ""],
      ["compile a tool of 40 lines", ms(tool.compileMs), ""],
      ["compile and run it over 100 issues", ms(tool.bothMs), "2 ms"],
      ["load the engine, built", load(build), "40 ms"],
      ["load the engine, built, with a compile cache", load(cached), ""],
      ["load the engine, from source", load(source), ""],
      ["compile and run the first tool, built", ms(build?.firstToolMs), ""],
      ["JavaScript heap of the idle engine, built", mb(build?.heapBytes), ""],
      ["resident memory of the idle engine, built", mb(build?.residentBytes), ""],
      ["resident memory of the idle engine, from source", mb(source.residentBytes), ""],
    ],
    notes:
      build === undefined
        ? ["There is no build to measure: npm run build -- diagnostics starlark makes one."]
        : [],
  };
}
