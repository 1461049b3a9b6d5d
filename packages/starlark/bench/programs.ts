/**
 * The programs of `programs/`, run by all contenders in turns: every round, every
 * program, one after the other. Of each the fastest call counts: whatever else the
 * machine does only ever makes a call slower. All contenders have to return the
 * same.
 */

import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { Table } from "../../../bench/table.ts";
import type { Contender } from "./contenders.ts";

const folder = join(import.meta.dirname, "programs");

/** How often. */
export interface ProgramOptions {
  /** Processes of each contender for each program. */
  readonly rounds: number;
  /** Calls in one process. */
  readonly repetitions: number;
  readonly progress: (line: string) => void;
}

/** The fastest milliseconds of one program, by contender. */
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

/** Run `programs` with `contenders`; throws when they do not agree about what a program returns. */
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

/** Milliseconds and ratios of the first contender to each of the others; above 1 the first is faster. */
export function programTable(results: readonly ProgramResult[], contenders: readonly Contender[]): Table {
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
    title: "Programs",
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
