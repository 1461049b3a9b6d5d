/**
 * Measures the cost of governance for a call: the same calls through gateways that differ in it, in turns, one, four and
 * 32 at a time. Each figure is the median of the differences within the rounds, so that a slow minute of the machine falls
 * on both sides of a difference.
 *
 * The configuration of the command can switch off policy files, fingerprints and the trust that pins need, but neither the
 * trail nor the pins as such. governed-gateway.ts composes a gateway without them; the command with everything stands beside
 * it, so that a difference between the two is seen.
 *
 * Goal: policy, pins and audit chain together at most 0.15 ms at p50, one at a time, and 0.03 ms of CPU time. The index of the trail, which a
 * thread of low priority writes when calls pause, is no part of a call and has a column of its own.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startChild } from "./children.ts";
import { type Contender, launchedByUrlLine, upstreamFile } from "./contenders.ts";
import { governedConfig, leastConfig, type PolicyKind } from "./governance-parts.ts";
import { type LoadResult, measureLoad, type Turn } from "./load.ts";
import { type Ready, untilReady } from "./ready.ts";
import { median } from "./statistics.ts";
import type { Table } from "./table.ts";

/** The amount of measurement. */
export interface GovernanceOptions {
  readonly rounds: number;
  readonly turnMs: number;
  readonly warmUpMs: number;
  readonly limitMs: number;
  /** Only check that it works. */
  readonly isQuick: boolean;
  readonly signal: AbortSignal;
  readonly progress: (line: string) => void;
  /** Creates a home. */
  readonly makeHome: (name: string) => string;
}

/** A comparison of two gateways. */
export interface Comparison {
  readonly what: string;
  readonly more: string;
  readonly less: string;
  /** Whether the goal is about this difference. */
  readonly hasGoal: boolean;
}

/** Most that policy, pins and audit chain may add to a call. */
export const governanceGoal = { p50Ms: 0.15, cpuMs: 0.03 } as const;

/** Calls at a time: a lone one, few, and so many that CPU time limits the throughput. */
const concurrencies = [1, 4, 32];

/** Calls after which V8 has optimized the functions of a call. */
const hotCalls = 5000;

/** The gateways, by the names that comparisons use. */
const names = {
  command: "command, all governed",
  least: "command, least governed",
  all: "policy+pins+audit",
  argument: "the same, a policy reads the argument",
  policy: "policy",
  pins: "pins",
  audit: "audit",
  none: "none",
  ungoverned: "ungoverned",
} as const;

const comparisons: readonly Comparison[] = [
  { what: "policy, pins, audit chain", more: names.all, less: names.none, hasGoal: true },
  { what: "the same, a policy reads the argument", more: names.argument, less: names.none, hasGoal: true },
  { what: "policy alone", more: names.policy, less: names.none, hasGoal: false },
  { what: "pins alone", more: names.pins, less: names.none, hasGoal: false },
  { what: "audit chain alone", more: names.audit, less: names.none, hasGoal: false },
  { what: "what a configuration can switch off", more: names.command, less: names.least, hasGoal: false },
  { what: "the whole governed call", more: names.all, less: names.ungoverned, hasGoal: false },
];

/** Measures the installed command, `toolcrib`, and gateways of parts. */
export async function benchGovernance(
  toolcrib: Contender,
  options: GovernanceOptions,
): Promise<readonly Table[]> {
  const running = new Map<Contender, Ready>();
  try {
    for (const contender of contendersOf(toolcrib)) {
      const { limitMs, signal, makeHome } = options;
      const launched = await contender.launch(makeHome("governance"), [{ id: "echo", hangs: false }]);
      running.set(contender, await untilReady(launched, { count: 1, limitMs, signal }));
    }
    const warmUpCalls = options.isQuick ? 0 : hotCalls;
    const results = await measureLoad(running, { ...options, warmUpCalls, restMs: 0, concurrencies });
    return concurrencies.map((concurrency) => governanceTable(roundsOf(results, concurrency), concurrency));
  } finally {
    for (const { client, child } of running.values()) {
      client.close();
      await child[Symbol.asyncDispose]();
    }
  }
}

function contendersOf(toolcrib: Contender): readonly Contender[] {
  return [
    command(toolcrib, names.command, (home) => governedConfig(home, "shared")),
    command(toolcrib, names.least, leastConfig),
    gatewayOfParts(names.all, "policy+pins+audit"),
    gatewayOfParts(names.none, "none"),
    gatewayOfParts(names.policy, "policy"),
    gatewayOfParts(names.pins, "pins"),
    gatewayOfParts(names.audit, "audit"),
    gatewayOfParts(names.argument, "policy+pins+audit", "argument"),
    gatewayOfParts(names.ungoverned, "ungoverned"),
  ];
}

type Configuration = ReturnType<typeof governedConfig> | ReturnType<typeof leastConfig>;

function documentOf({ server, sections }: Configuration): object {
  const transport = { kind: "stdio", command: process.execPath, args: [upstreamFile] };
  return { tool_servers: [{ id: "echo", transport, ...server }], ...sections };
}

/** The installed command with another configuration. */
function command(toolcrib: Contender, id: string, configure: (home: string) => Configuration): Contender {
  return {
    ...toolcrib,
    id,
    launch: (home, upstreams) => toolcrib.launch(home, upstreams, documentOf(configure(home))),
  };
}

/** The gateway of governed-gateway.ts with `parts`, such as `policy+audit`, and the flags of V8 that the command sets once it serves calls. */
export function gatewayOfParts(id: string, parts: string, kind: PolicyKind = "shared"): Contender {
  return {
    id,
    version: "parts",
    kind: "own",
    wire: "HTTP",
    aggregates: false,
    separable: true,
    async launch(home) {
      const config = join(home, "toolcrib.yaml");
      // JSON is YAML.
      writeFileSync(config, JSON.stringify(documentOf(governedConfig(home, kind)), undefined, 2));
      const flags = [
        "--conditions=toolcrib-source",
        "--no-maglev",
        "--invocation-count-for-turbofan=1000",
        "--no-parallel-scavenge",
      ];
      const program = join(import.meta.dirname, "governed-gateway.ts");
      const own = ["--config", config, "--home", join(home, "toolcrib"), "--parts", parts];
      return launchedByUrlLine(
        startChild({ command: process.execPath, args: [...flags, program, ...own], home }),
      );
    },
  };
}

/** Returns the rounds of each gateway at one concurrency. @throws {Error} where one failed: a difference needs both sides */
function roundsOf(results: readonly LoadResult[], concurrency: number): ReadonlyMap<string, readonly Turn[]> {
  return new Map(
    results.map((result) => {
      if (result.kind === "failed") throw new Error(`${result.contender.id}: ${result.reason}`);
      return [result.contender.id, result.figures.get(concurrency)?.rounds ?? []];
    }),
  );
}

const partNotes = [
  "The parts are measured in a gateway of the same packages (bench/governed-gateway.ts): the command cannot switch off its trail. `policy+pins+audit` stands for the first row as far as the two agree. `none` still decides by lists that are empty, and describes arguments for records that nobody writes; `ungoverned` has no governed call at all: neither limits, deadlines, checks of arguments and results, nor the search for secrets.",
  "CPU time is several times that of a call among 32, in the gateway without governance, too: each call begins with cold caches. A write of its records alone takes 13 µs then, and 2.5 µs where calls follow each other.",
  "What a configuration can switch off: policy files, labels, fingerprints in records, and pins that hold changed definitions back (`trust_state: certified`). Each call is recorded in both.",
];

function crowdNote(concurrency: number): string {
  return `${concurrency} at a time, a call waits for the ${concurrency - 1} others, so that what is added at p50 is about ${concurrency} times what is added to the time of one call: p50 has no goal here.`;
}

/** The table of one concurrency. @param rounds of each gateway, by its name, the same number of each */
export function governanceTable(rounds: ReadonlyMap<string, readonly Turn[]>, concurrency: number): Table {
  const of = (name: string): readonly Turn[] => {
    const found = rounds.get(name);
    if (found === undefined || found.length === 0) throw new Error(`"${name}" was not measured`);
    return found;
  };
  const isCrowd = concurrency > 1;
  const { p50Ms: goalP50Ms, cpuMs: goalCpuMs } = governanceGoal;
  const goalText = isCrowd ? `CPU ${goalCpuMs}` : `${goalP50Ms} and ${goalCpuMs}`;
  const gateways = [...rounds.keys()].map((name) => [
    name,
    inMs(median(of(name).map(({ p50Ms }) => p50Ms))),
    inMs(median(of(name).map(cpuMsPerCall))),
    inMs(indexMsPerCall(of(name))),
    "",
    "",
  ]);
  const differences = comparisons.map(({ what, more, less, hasGoal }) => {
    const p50Ms = differencesOf(of(more), of(less), (turn) => turn.p50Ms);
    const cpuMs = differencesOf(of(more), of(less), cpuMsPerCall);
    const goal = hasGoal ? goalText : "";
    return [
      `${what}: added`,
      signed(median(p50Ms)),
      signed(median(cpuMs)),
      signed(indexMsPerCall(of(more)) - indexMsPerCall(of(less))),
      goal,
      hasGoal ? verdictOn(isCrowd ? 0 : median(p50Ms), median(cpuMs)) : "",
    ];
  });
  return {
    title: `What governance adds, ${concurrency === 1 ? "one at a time" : `${concurrency} at a time`}`,
    columns: ["gateway", "p50 ms", "CPU ms/call", "index ms/call", "goal", "result"],
    rows: [...gateways, ...differences],
    notes: [
      "Added: the median over the rounds of the difference between two gateways of one round. CPU time is that of the gateway alone, and the better figure on a busy machine.",
      "Index: CPU time that indexes the trail for queries, in a thread of low priority and only when calls pause after 25,000 of them; it is not in the column before. All rounds together.",
      ...(concurrency === 1 ? partNotes : [crowdNote(concurrency)]),
    ],
  };
}

/** Differences within the rounds. */
function differencesOf(more: readonly Turn[], less: readonly Turn[], pick: (turn: Turn) => number): number[] {
  if (more.length !== less.length) throw new Error("the rounds of a comparison are not pairs");
  return more.map((turn, at) => pick(turn) - pick(less[at]!));
}

/** Returns the CPU time of a call without that of the index; NaN where the system does not count it. */
function cpuMsPerCall({ cpuMs, indexCpuMs, calls }: Turn): number {
  return ((cpuMs ?? Number.NaN) - indexCpuMs) / calls;
}

/** Returns the CPU time of the index, which is spent after several rounds at once. */
function indexMsPerCall(turns: readonly Turn[]): number {
  const sum = (pick: (turn: Turn) => number) => turns.reduce((all, turn) => all + pick(turn), 0);
  return sum(({ indexCpuMs }) => indexCpuMs) / sum(({ calls }) => calls);
}

/** Returns whether both goals are met, or which is missed and by how much. @param p50Ms 0 where calls wait for each other */
export function verdictOn(p50Ms: number, cpuMs: number): string {
  const missed = [
    ...(p50Ms > governanceGoal.p50Ms ? [`p50 by ${inMs(p50Ms - governanceGoal.p50Ms)}`] : []),
    ...(cpuMs > governanceGoal.cpuMs ? [`CPU by ${inMs(cpuMs - governanceGoal.cpuMs)}`] : []),
  ];
  if (missed.length > 0) return `missed: ${missed.join(", ")}`;
  return Number.isNaN(p50Ms) || Number.isNaN(cpuMs) ? "not measured" : "met";
}

function inMs(ms: number): string {
  return Number.isNaN(ms) ? "–" : ms.toFixed(3);
}

function signed(ms: number): string {
  return ms > 0 ? `+${inMs(ms)}` : inMs(ms);
}
