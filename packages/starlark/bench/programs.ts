/**
 * Runs the programs of `programs/` with all contenders: in every round, each
 * contender runs each program once. The fastest call counts, because other load on
 * the machine only makes calls slower. All contenders must return the same result.
 */

import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { Table } from "../../../bench/table.ts";
import type { Contender } from "./contenders.ts";

const folder = join(import.meta.dirname, "programs");

/** The number of measurements. */
export interface ProgramOptions {
  /** Processes for each contender and program. */
  readonly rounds: number;
  /** Calls in one process. */
  readonly repetitions: number;
  readonly progress: (line: string) => void;
}

/** The fastest time of one program in milliseconds, by contender. */
export interface ProgramResult {
  readonly program: string;
  readonly ms: ReadonlyMap<Contender, number>;
}

/** The names of all programs. */
export function listPrograms(): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".star"))
    .map((name) => basename(name, ".star"))
    .sort();
}

/** Runs `programs` with `contenders`. Throws if the results of a program differ. */
export function measurePrograms(
  programs: readonly string[],
  contenders: readonly Contender[],
  { rounds, repetitions, progress }: ProgramOptions,
): readonly ProgramResult[] {
  const results = programs.map((program) => ({ program, ms: new Map<Contender, number>() }));
  for (let round = 1; round <= rounds; round += 1) {
    for (const { program, ms } of results) {
      const file = join(folder, `${program}.star`);
      const runs = contenders.map((contender) => ({ contender, ...contender.run(file, repetitions) }));
      const [first] = runs;
      for (const { contender, result, ms: fastest } of runs) {
        if (result !== first!.result) {
          throw new Error(
            `${program}: ${contender.name} returned ${result}, ${first!.contender.name} ${first!.result}`,
          );
        }
        ms.set(contender, Math.min(fastest, ms.get(contender) ?? Number.POSITIVE_INFINITY));
      }
      const figures = runs.map(({ contender, ms: fastest }) => `${contender.name} ${fastest.toFixed(1)} ms`);
      progress(`  round ${round}/${rounds} ${program}: ${figures.join(", ")}`);
    }
  }
  return results;
}

/** Milliseconds, and ratios of the first contender to the others; above 1, the first one is faster. */
export function programTable(
  title: string,
  results: readonly ProgramResult[],
  contenders: readonly Contender[],
): Table {
  const [first, ...others] = contenders;
  const ratio = ({ ms }: ProgramResult, other: Contender): number => ms.get(other)! / ms.get(first!)!;
  const rows = results.map((result) => [
    result.program,
    ...contenders.map((contender) => result.ms.get(contender)!.toFixed(2)),
    ...others.map((other) => `${ratio(result, other).toFixed(2)}×`),
  ]);
  const means = others.map((other) => geometricMean(results.map((result) => ratio(result, other))));
  rows.push(["geometric mean", ...contenders.map(() => ""), ...means.map((mean) => `${mean.toFixed(2)}×`)]);
  return {
    title,
    columns: [
      "program",
      ...contenders.map(({ name }) => `${name} ms`),
      ...others.map(({ name }) => `as fast as ${name}`),
    ],
    rows,
    notes: [`${contenders.map(({ name, version }) => `${name} is ${version}`).join("; ")}.`],
  };
}

function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}
