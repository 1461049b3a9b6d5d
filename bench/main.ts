/**
 * `npm run bench`: compares Toolcrib with the npm gateways in one run on one
 * machine, and writes tables to stdout and bench/RESULTS.md, and the plot of these
 * tables to docs/pictures. bench/README.md describes the measurements and their
 * interpretation.
 *
 * Everything it starts is stopped at the end, on an error and on Ctrl-C.
 */

import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { drawBenchmark } from "../site/pictures/benchmark.ts";
import { killAllChildren, stopAllChildren } from "./children.ts";
import { benchComposites } from "./composites.ts";
import { allContenders, type Contender, type Upstream } from "./contenders.ts";
import { benchGovernance } from "./governance.ts";
import { benchHostileClient } from "./hostile-client.ts";
import { benchHostileServers } from "./hostile-servers.ts";
import { writeCheckout, writeInstalled } from "./installed.ts";
import { type LoadResult, measureLoad } from "./load.ts";
import { describeMachine } from "./machine.ts";
import { installPeers } from "./peers.ts";
import { type Ready, untilReady } from "./ready.ts";
import { idleMemoryTable, loadTable, memoryTable, startUpTable } from "./report.ts";
import { measureStartUp } from "./start-up.ts";
import { type Table, toMarkdown } from "./table.ts";
import { benchToolspecs } from "./toolspecs.ts";

const usage = `npm run bench -- [options]

  --only a,b     only these: direct, pipe, toolcrib, toolcrib-checkout,
                 mcp-proxy, supergateway, mcp-hub; and the parts load, start-up,
                 search, composites, toolspecs, governance, hostile (servers),
                 hostile-client
  --rounds N     turns of each contender (default 10)
  --quick        two short turns each: does it work, not how fast;
                 without search unless --only search

Only a whole run (neither --only nor --quick) is written to bench/RESULTS.md.
`;

/** Factor of the rest after the load, before memory is measured: V8 gives it back after some tens of seconds. */
const loadRestFactor = 2;

/** Why starts can take longer than those of peers. */
const firstStart =
  "the first start in a new home compiles the command, creates keys, and records what the servers offer before a client sees it. Later starts do not.";
const laterStart = "it loads policies, sandboxes, the audit trail, search and composites.";
const concurrencies = [1, 32];
const readyLimitMs = 20_000;
const parts = [
  "load",
  "start-up",
  "search",
  "composites",
  "toolspecs",
  "governance",
  "hostile",
  "hostile-client",
] as const;
type Part = (typeof parts)[number];

/** Interrupted by Ctrl-C. */
class Interrupted extends Error {}

/** The command line is invalid. */
class WrongUsage extends Error {}

/** True for what node:util's parseArgs throws. */
function isArgumentError(error: unknown): boolean {
  return error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
}

interface Plan {
  readonly contenders: readonly Contender[];
  readonly parts: ReadonlySet<Part>;
  readonly rounds: number;
  readonly startUpRounds: number;
  readonly turnMs: number;
  readonly warmUpMs: number;
  /** Time at rest before memory is read. */
  readonly restMs: number;
  readonly isQuick: boolean;
  readonly write: boolean;
}

/** Parses the command line; throws `WrongUsage`. */
function parsePlan(argv: readonly string[]): Plan | "help" {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      only: { type: "string" },
      rounds: { type: "string" },
      quick: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  const rounds = values.rounds === undefined ? (values.quick ? 2 : 10) : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100) {
    throw new WrongUsage(`--rounds "${values.rounds}" is not a whole number from 1 to 100`);
  }
  const only = values.only?.split(",").map((word) => word.trim());
  const known = allContenders();
  for (const word of only ?? []) {
    if (!known.some(({ id }) => id === word) && !parts.some((part) => part === word)) {
      throw new WrongUsage(`--only "${word}" is neither a contender nor a part`);
    }
  }
  const chosenParts = parts.filter((part) => only?.includes(part));
  const everyPart = parts.filter((part) => part !== "search" || !values.quick);
  const chosen = known.filter(({ id }) => only?.includes(id));
  return {
    contenders: chosen.length === 0 ? known : chosen,
    // A choice of contenders alone means their load and start-up; search has no contenders.
    parts: new Set(
      chosenParts.length > 0 ? chosenParts : chosen.length > 0 ? ["load", "start-up"] : everyPart,
    ),
    rounds,
    startUpRounds: values.quick ? Math.min(rounds, 2) : 5,
    turnMs: values.quick ? 300 : 750,
    warmUpMs: values.quick ? 300 : 1500,
    restMs: values.quick ? 1000 : 30_000,
    isQuick: values.quick,
    write: only === undefined && !values.quick,
  };
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

function upstreams(count: number, hanging: number): readonly Upstream[] {
  return Array.from({ length: count }, (_, index) => ({
    id: count === 1 ? "echo" : `echo${index + 1}`,
    hangs: index >= count - hanging,
  }));
}

async function loadTables(
  plan: Plan,
  temporaryFolder: string,
  signal: AbortSignal,
): Promise<readonly Table[]> {
  progress("Load");
  const running = new Map<Contender, Ready>();
  const notStarted: LoadResult[] = [];
  for (const contender of plan.contenders) {
    try {
      const home = mkdtempSync(join(temporaryFolder, `${contender.id}-`));
      const launched = await contender.launch(home, upstreams(1, 0));
      try {
        running.set(contender, await untilReady(launched, { count: 1, limitMs: readyLimitMs, signal }));
      } catch (error) {
        await launched.child[Symbol.asyncDispose]();
        throw error;
      }
    } catch (error) {
      signal.throwIfAborted();
      const reason = (error as Error).message;
      progress(`  ${contender.id} did not start: ${reason}`);
      notStarted.push({ kind: "failed", contender, reason });
    }
  }
  const { rounds, turnMs, warmUpMs } = plan;
  const restMs = loadRestFactor * plan.restMs;
  const options = { rounds, turnMs, warmUpMs, restMs, concurrencies, signal, progress };
  const measured = await measureLoad(running, options);
  for (const ready of running.values()) ready.client.close();
  await stopAllChildren();
  const results = [...measured, ...notStarted];
  return [
    ...concurrencies.map((concurrency) => loadTable(results, concurrency)),
    memoryTable(results, restMs),
  ];
}

async function startUpTables(
  plan: Plan,
  temporaryFolder: string,
  signal: AbortSignal,
): Promise<readonly Table[]> {
  const common = { rounds: plan.startUpRounds, limitMs: readyLimitMs, temporaryFolder, signal, progress };
  progress("Start-up, one upstream");
  const one = await measureStartUp(plan.contenders, { ...common, upstreams: upstreams(1, 0), count: 1 });
  const tables = [startUpTable("Start-up: process start to first tools/list", one, firstStart)];
  progress("Start-up, three upstreams that are known");
  const known = await measureStartUp(
    plan.contenders.filter((contender) => contender.aggregates),
    { ...common, upstreams: upstreams(3, 0), count: 3, knownRestMs: plan.restMs },
  );
  tables.push(
    startUpTable("Start-up with three upstreams of the last start: all listed", known, laterStart),
    idleMemoryTable("Resident memory at rest with three upstreams", known, plan.restMs),
  );
  const aggregating = plan.contenders.filter((contender) => contender.aggregates);
  if (aggregating.length === 0) return tables;
  progress("Start-up, ten upstreams of which one hangs");
  const ten = await measureStartUp(aggregating, { ...common, upstreams: upstreams(10, 1), count: 9 });
  tables.push(startUpTable("Start-up with ten upstreams of which one hangs: nine listed", ten, firstStart));
  return tables;
}

async function searchTables(): Promise<readonly Table[]> {
  const file = join(import.meta.dirname, "search.ts");
  if (!existsSync(file)) return [];
  progress("Search");
  const search: { benchSearch(): Promise<Table> } = await import(file);
  return [await search.benchSearch()];
}

/** Parts without a peer to compare with. */
async function ownTables(
  plan: Plan,
  temporaryFolder: string,
  signal: AbortSignal,
): Promise<readonly Table[]> {
  const toolcrib = allContenders().find(({ id }) => id === "toolcrib");
  if (toolcrib === undefined) return [];
  const tables: Table[] = [];
  const options = { isQuick: plan.isQuick, limitMs: readyLimitMs, signal };
  if (plan.parts.has("composites")) {
    progress("Composites");
    const home = mkdtempSync(join(temporaryFolder, "composites-"));
    tables.push(await benchComposites(toolcrib, home, options));
  }
  if (plan.parts.has("toolspecs")) {
    progress("Toolspecs");
    const home = mkdtempSync(join(temporaryFolder, "toolspecs-"));
    tables.push(...(await benchToolspecs(toolcrib, home, options)));
  }
  if (plan.parts.has("governance")) {
    progress("Governance");
    const makeHome = (name: string) => mkdtempSync(join(temporaryFolder, `${name}-`));
    tables.push(...(await benchGovernance(toolcrib, { ...plan, ...options, progress, makeHome })));
  }
  if (plan.parts.has("hostile")) {
    progress("Hostile servers");
    const makeHome = (name: string) => mkdtempSync(join(temporaryFolder, `${name}-`));
    tables.push(await benchHostileServers(toolcrib, { ...options, makeHome }));
  }
  if (plan.parts.has("hostile-client")) {
    progress("A hostile client");
    const makeHome = (name: string) => mkdtempSync(join(temporaryFolder, `${name}-`));
    tables.push(await benchHostileClient(toolcrib, { ...options, makeHome }));
  }
  return tables;
}

function document(plan: Plan, tables: readonly Table[]): string {
  return [
    "# Benchmark results",
    "",
    "Written by `npm run bench`; [README.md](README.md) describes the measurements. Compare rows of one run, not runs:",
    "client, contender and upstream share the cores below. Ratios are against the best npm peer of this run: for",
    "calls/s more is better, for everything else less.",
    "",
    describeMachine(new Date()),
    `- Rounds: ${plan.rounds} of ${plan.turnMs} ms for load, ${plan.startUpRounds} for start-up; medians`,
    "",
    ...tables.map(toMarkdown),
  ].join("\n");
}

/** Load, start-up and composites: everything that starts processes and needs a temporary folder. */
async function gatewayTables(plan: Plan, signal: AbortSignal): Promise<readonly Table[]> {
  const temporaryFolder = mkdtempSync(join(tmpdir(), "toolcrib-bench-"));
  const tables: Table[] = [];
  try {
    if (plan.parts.has("load")) tables.push(...(await loadTables(plan, temporaryFolder, signal)));
    if (plan.parts.has("start-up")) tables.push(...(await startUpTables(plan, temporaryFolder, signal)));
    tables.push(...(await ownTables(plan, temporaryFolder, signal)));
  } finally {
    await stopAllChildren();
    rmSync(temporaryFolder, { recursive: true, force: true });
  }
  return tables;
}

/** Runs `work` with a signal that Ctrl-C and SIGTERM abort, so that it can dispose of everything. */
async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const names = ["SIGINT", "SIGTERM"] as const;
  const onSignal = (name: NodeJS.Signals): void => {
    // Stop immediately at the second signal.
    if (stop.signal.aborted) process.exit(130);
    progress(`${name}: stopping what was started`);
    stop.abort(new Interrupted(`stopped by ${name}`));
  };
  for (const name of names) process.on(name, onSignal);
  process.on("exit", killAllChildren);
  try {
    return await work(stop.signal);
  } finally {
    for (const name of names) process.off(name, onSignal);
  }
}

async function main(plan: Plan): Promise<number> {
  const tables: Table[] = [];
  const compares = plan.parts.has("load") || plan.parts.has("start-up");
  if ([...plan.parts].some((part) => part !== "search")) {
    if (compares && plan.contenders.some(({ kind }) => kind === "peer")) installPeers(progress);
    progress("Writing the command as it is installed, and as npm ci bundles it in a checkout");
    await writeInstalled();
    writeCheckout();
    try {
      tables.push(...(await interruptible((signal) => gatewayTables(plan, signal))));
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      progress(error.message);
      return 130;
    }
  }
  if (plan.parts.has("search")) tables.push(...(await searchTables()));
  const text = document(plan, tables);
  process.stdout.write(text);
  if (plan.write) {
    writeFileSync(join(import.meta.dirname, "RESULTS.md"), text);
    writeFileSync(join(import.meta.dirname, "../docs/pictures/benchmark.svg"), drawBenchmark(text));
  }
  return 0;
}

try {
  const plan = parsePlan(process.argv.slice(2));
  if (plan === "help") process.stdout.write(usage);
  else process.exitCode = await main(plan);
} catch (error) {
  if (!(error instanceof WrongUsage) && !isArgumentError(error)) throw error;
  progress(`${(error as Error).message}\n\n${usage}`);
  process.exitCode = 2;
}
