/** The input mapping of the steps of a sequence, as its occurrences agree on it. Pure. */

import type { Occurrence, Sequence } from "./find-sequences.ts";

/** Where the value of an argument comes from. */
export type ArgumentSource =
  | { readonly kind: "output"; readonly step: number; readonly pointer: string }
  /** `sharesWith`: the position, in the list of all arguments, of an earlier one that had the same value. */
  | { readonly kind: "input"; readonly sharesWith: number | undefined }
  | { readonly kind: "left_out" };

/** An argument of a step. */
export interface MappedArgument {
  /** Position of the step. */
  readonly step: number;
  readonly name: string;
  readonly source: ArgumentSource;
  /** A part that the mapping cannot express. */
  readonly remark: string | undefined;
}

/** Share of the occurrences that must have an argument for it to be mapped. */
const presentShare = 0.5;
/** Share of the occurrences with an argument whose value must come from the same place. */
const agreedShare = 0.8;
/** Share of the occurrences in which two arguments must be equal to become one input. */
const sharedShare = 0.95;
const argumentsOfStepMaxCount = 32;

interface Tally {
  readonly step: number;
  readonly name: string;
  present: number;
  /** Occurrences in which a value of an earlier step was found. */
  fed: number;
  /** The places it came from, by step and pointer. */
  readonly places: Map<string, number>;
  readonly values: (number | undefined)[];
}

/** Returns the arguments of all steps, in the order of the steps. */
export function mapArguments({ tools, occurrences }: Sequence): readonly MappedArgument[] {
  const tallies = tools.map(() => new Map<string, Tally>());
  for (const [at, occurrence] of occurrences.entries()) count(tallies, occurrence, at);
  const all = tallies
    .flatMap((step) => [...step.values()])
    .map((tally) => ({ tally, mapped: toMapped(tally, occurrences.length) }));
  return all.map(({ mapped }, at) => {
    if (mapped.source.kind !== "input") return mapped;
    const earlier = all.findIndex(
      (other, index) =>
        index < at && other.mapped.source.kind === "input" && isSame(other.tally, all[at]?.tally),
    );
    return earlier === -1 ? mapped : { ...mapped, source: { kind: "input", sharesWith: earlier } };
  });
}

function count(tallies: readonly Map<string, Tally>[], { calls, flows }: Occurrence, at: number): void {
  for (const [step, { args }] of calls.entries()) {
    const own = tallies[step];
    for (const { name, value } of args) {
      const tally = own?.get(name) ?? { step, name, present: 0, fed: 0, places: new Map(), values: [] };
      if (own === undefined || (!own.has(name) && own.size >= argumentsOfStepMaxCount)) continue;
      own.set(name, tally);
      tally.present += 1;
      tally.values[at] = value;
      const flow = flows[step]?.find(({ argument }) => argument === name);
      if (flow === undefined) continue;
      tally.fed += 1;
      for (const pointer of flow.pointers) {
        const key = JSON.stringify([flow.from, pointer]);
        tally.places.set(key, (tally.places.get(key) ?? 0) + 1);
      }
    }
  }
}

function toMapped({ step, name, present, fed, places, values }: Tally, count: number): MappedArgument {
  const mapped = (source: ArgumentSource, remark?: string): MappedArgument => ({
    step,
    name,
    source,
    remark,
  });
  if (present < presentShare * count)
    return mapped({ kind: "left_out" }, `left out: only ${present} of ${count} runs had it`);
  const [best] = [...places].toSorted(
    ([one, ones], [other, others]) => others - ones || one.length - other.length || (one < other ? -1 : 1),
  );
  if (best !== undefined && best[1] >= agreedShare * present) {
    const [from, pointer] = JSON.parse(best[0]) as [number, string];
    return mapped({ kind: "output", step: from, pointer });
  }
  const input = { kind: "input", sharesWith: undefined } as const;
  if (fed >= presentShare * present) {
    const reason =
      places.size === 0
        ? "a chain cannot refer to that place of a result"
        : "its place in them differs from run to run";
    return mapped(input, `an input, although it came from earlier results: ${reason}`);
  }
  const isConstant = present > 1 && values.every((value) => value !== undefined && value === values[0]);
  return mapped(
    input,
    isConstant && Object.keys(values).length === count
      ? "an input that had the same value in all runs: write it into the mapping, or give the input a default"
      : undefined,
  );
}

/** Whether two arguments had the same value in the runs. */
function isSame(one: Tally, other: Tally | undefined): boolean {
  if (other === undefined) return false;
  const equal = one.values.filter((value, at) => value !== undefined && value === other.values[at]).length;
  return equal > 1 && equal >= sharedShare * Math.max(one.present, other.present);
}
