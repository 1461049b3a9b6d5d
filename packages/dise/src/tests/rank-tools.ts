/**
 * Ranks of tools with the same purpose (MCPKG document, sections 8.5, 11.6 and 12): a score of test pass rate, stability,
 * latency and fit to the platform, with its parts. Pure.
 */

import type { ComparedRun } from "./find-regressions.ts";

/** A tool to rank. */
export interface RankedTool {
  readonly toolId: string;
  /** Runs of the tests of the installed version, the oldest first. */
  readonly runs: readonly ComparedRun[];
  /** Its fit to the machine and the wanted environment, from 0 (cannot run) to 1. */
  readonly fit: number;
}

/** The parts of a score, each from 0 to 1; undefined where nothing was measured, which counts as 0.5. */
export interface RankParts {
  /** Share of passed tests, as a cautious estimate: the lower end of the Wilson interval of 95 %. */
  readonly passRate: number | undefined;
  /** Share of the tests whose outcome and shape were the same as in the run before. */
  readonly stability: number | undefined;
  /** The shortest median latency of the tools that can run, divided by that of the tool. */
  readonly latency: number | undefined;
  readonly fit: number;
}

/** A tool with its score. */
export interface Rank {
  readonly toolId: string;
  /** From 0 to 1: the pass rate times the weighted mean of 1 and the other parts; 0 for a tool that cannot run. */
  readonly score: number;
  readonly parts: RankParts;
  /** Median milliseconds of a call. */
  readonly latencyMs: number | undefined;
  readonly runs: number;
}

/** Weights of the parts that the pass rate is multiplied with; together with `base` they are 1. */
const weights = { base: 0.5, stability: 0.2, latency: 0.15, fit: 0.15 } as const;
/** Part of a score that nothing was measured for. */
const unknownPart = 0.5;

/** Returns the ranks of `tools`, the best one first; equal ones by their ids. */
export function rankTools(tools: readonly RankedTool[]): readonly Rank[] {
  const medians = new Map(tools.map(({ toolId, runs }) => [toolId, medianLatency(runs)]));
  // A tool that cannot run is no measure for the others.
  const usable = tools.filter(({ fit }) => fit > 0).map(({ toolId }) => medians.get(toolId));
  const shortest = Math.min(...usable.filter((one) => one !== undefined));
  return tools
    .map(({ toolId, runs, fit }): Rank => {
      const latencyMs = medians.get(toolId);
      const parts: RankParts = {
        passRate: passRateOf(runs),
        stability: stabilityOf(runs),
        latency: latencyMs === undefined ? undefined : Math.min(1, shortest / latencyMs),
        fit,
      };
      return { toolId, score: fit === 0 ? 0 : scoreOf(parts), parts, latencyMs, runs: runs.length };
    })
    .toSorted((one, other) => other.score - one.score || (one.toolId < other.toolId ? -1 : 1));
}

function scoreOf({ passRate, stability, latency, fit }: RankParts): number {
  // A fast tool that fails is of no use, so the pass rate scales all others.
  const others =
    weights.base +
    weights.stability * (stability ?? unknownPart) +
    weights.latency * (latency ?? unknownPart) +
    weights.fit * fit;
  return (passRate ?? unknownPart) * others;
}

function passRateOf(runs: readonly ComparedRun[]): number | undefined {
  const tests = runs.flatMap((run) => run.tests);
  const count = tests.length;
  if (count === 0) return undefined;
  const share = tests.filter(({ outcome }) => outcome === "passed").length / count;
  const z = 1.96;
  const center = share + z ** 2 / (2 * count);
  const margin = z * Math.sqrt((share * (1 - share)) / count + z ** 2 / (4 * count ** 2));
  return Math.max(0, (center - margin) / (1 + z ** 2 / count));
}

function stabilityOf(runs: readonly ComparedRun[]): number | undefined {
  let same = 0;
  let count = 0;
  for (const [at, run] of runs.entries()) {
    const before = new Map(runs[at - 1]?.tests.map((test) => [test.path, test]));
    for (const { path, outcome, shape } of run.tests) {
      const previous = before.get(path);
      if (previous === undefined) continue;
      count += 1;
      if (previous.outcome === outcome && previous.shape === shape) same += 1;
    }
  }
  return count === 0 ? undefined : same / count;
}

/** The median of the calls that were made. */
function medianLatency(runs: readonly ComparedRun[]): number | undefined {
  const sorted = runs
    .flatMap(({ tests }) => tests.map(({ latencyMs }) => latencyMs))
    .filter((latencyMs) => latencyMs > 0)
    .toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}
