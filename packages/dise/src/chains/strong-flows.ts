/**
 * Finds the flows of a trail that chance does not explain. Values can be equal without a flow: constants, enumerations and ids
 * of a small pool are in results and arguments of unrelated calls. So the flows between two tools are compared with
 * the number that would be there if results had their values at random. Pure.
 */

import type { Flow, TrailCall } from "./trail-calls.ts";

/** Flows that are observed for each one that chance explains. */
const liftMin = 1.5;
/** Standard deviations between what is observed and what chance explains. */
const deviationsMin = 4;
/** A value in more calls than this, and than this share of all calls, is everywhere. */
const commonMinCount = 50;
const commonShare = 0.01;

interface Pair {
  observed: number;
  /** Flows that random values would give. */
  expected: number;
}

/**
 * Returns for each call that has a result the flows into it that chance does not explain.
 *
 * @param window results of a client that an argument was compared with
 */
export function strongFlowsOf(
  calls: ReadonlyMap<number, TrailCall>,
  { supportMin, window }: { readonly supportMin: number; readonly window: number },
): ReadonlyMap<number, readonly Flow[]> {
  const counts = new ValueCounts(calls);
  const pairs = new Map<string, Pair>();
  const keyOf = (from: string, to: string, argument: string) => JSON.stringify([from, to, argument]);
  const keys = new Map<Flow, string>();
  for (const [call, flow, producer] of flowsOf(calls)) {
    const argument = call.args.find(({ name }) => name === flow.argument);
    if (argument === undefined || counts.isCommon(counts.rarestOf(argument.values))) continue;
    const key = keyOf(producer.tool, call.tool, flow.argument);
    const pair = pairs.get(key) ?? { observed: 0, expected: 0 };
    pair.observed += 1;
    pairs.set(key, pair);
    keys.set(flow, key);
  }
  for (const [call, results] of withWindows(calls, window)) {
    for (const { name, values } of call.args) {
      // An argument with several values comes from a result that has all of them, the rarest one too.
      const value = counts.rarestOf(values);
      if (value === undefined || counts.isCommon(value)) continue;
      for (const [tool, count] of results) {
        const pair = pairs.get(keyOf(tool, call.tool, name));
        if (pair !== undefined) pair.expected += 1 - (1 - counts.shareOf(value, tool)) ** count;
      }
    }
  }
  const isStrong = ({ observed, expected }: Pair) =>
    observed >= supportMin &&
    observed >= liftMin * expected &&
    observed >= expected + deviationsMin * Math.sqrt(expected);
  const strong = new Map<number, readonly Flow[]>();
  for (const call of calls.values()) {
    const own = call.flows.filter((flow) => {
      const pair = pairs.get(keys.get(flow) ?? "");
      return pair !== undefined && isStrong(pair);
    });
    if (own.length > 0) strong.set(call.number, own);
  }
  return strong;
}

/** Flows between two calls that both have results, of different tools. */
function* flowsOf(calls: ReadonlyMap<number, TrailCall>): Generator<[TrailCall, Flow, TrailCall]> {
  for (const call of calls.values()) {
    if (call.resultValues === undefined) continue;
    for (const flow of call.flows) {
      const producer = calls.get(flow.from);
      // A tool that continues with its own result is a loop, such as the pages of a list.
      if (producer !== undefined && producer.tool !== call.tool) yield [call, flow, producer];
    }
  }
}

/** Each call with a result, and how many results of each tool its client had received before, in the window. */
function* withWindows(
  calls: ReadonlyMap<number, TrailCall>,
  window: number,
): Generator<[TrailCall, ReadonlyMap<string, number>]> {
  const clients = new Map<number, { readonly tools: string[]; readonly counts: Map<string, number> }>();
  for (const call of calls.values()) {
    if (call.resultValues === undefined) continue;
    const state = clients.get(call.client) ?? { tools: [], counts: new Map<string, number>() };
    clients.set(call.client, state);
    yield [call, state.counts];
    state.tools.push(call.tool);
    add(state.counts, call.tool, 1);
    const oldest = state.tools.length > window ? state.tools.shift() : undefined;
    if (oldest === undefined) continue;
    add(state.counts, oldest, -1);
    if (state.counts.get(oldest) === 0) state.counts.delete(oldest);
  }
}

/** Counts how often the values of arguments occur. */
class ValueCounts {
  readonly #commonCount: number;
  /** Calls with a result, by tool. */
  readonly #results = new Map<string, number>();
  /** Calls whose arguments or results have a value. */
  readonly #occurrences = new Map<number, number>();
  /** Results of a tool that have a value. */
  readonly #byTool = new Map<number, Map<string, number>>();

  constructor(calls: ReadonlyMap<number, TrailCall>) {
    this.#commonCount = Math.max(commonMinCount, commonShare * calls.size);
    const values = new Set<number>();
    for (const { argumentValues } of calls.values()) for (const value of argumentValues) values.add(value);
    for (const call of calls.values()) this.#count(call, values);
  }

  /** Returns the one that is in the fewest calls. */
  rarestOf(values: readonly number[]): number | undefined {
    const countOf = (value: number) => this.#occurrences.get(value) ?? 0;
    return values.reduce<number | undefined>(
      (rarest, value) => (rarest === undefined || countOf(value) < countOf(rarest) ? value : rarest),
      undefined,
    );
  }

  isCommon(value: number | undefined): boolean {
    return value === undefined || (this.#occurrences.get(value) ?? 0) > this.#commonCount;
  }

  /** Share of the results of `tool` that have `value`, without the one that it may have come from. */
  shareOf(value: number, tool: string): number {
    const results = this.#results.get(tool) ?? 0;
    const having = this.#byTool.get(value)?.get(tool) ?? 0;
    if (results < 2) return having;
    return Math.max(0, having - 1) / (results - 1);
  }

  #count({ tool, argumentValues, resultValues }: TrailCall, values: ReadonlySet<number>): void {
    if (resultValues === undefined) return;
    add(this.#results, tool, 1);
    for (const value of resultValues) {
      if (!values.has(value)) continue;
      add(this.#occurrences, value, 1);
      const byTool = this.#byTool.get(value) ?? new Map<string, number>();
      add(byTool, tool, 1);
      this.#byTool.set(value, byTool);
    }
    for (const value of argumentValues) if (!resultValues.has(value)) add(this.#occurrences, value, 1);
  }
}

function add<Key>(counts: Map<Key, number>, key: Key, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}
