/**
 * A client next to a hostile one: two gateways, at one of which 256 composites of another token run at
 * their memory limit. 32 calls at a time go to an echo server, through each gateway in turns.
 *
 * The composites fill their memory until they are refused, or replace what they hold until their time is
 * over; each is followed by the next one. The gateway that is not measured is stopped (SIGSTOP), because
 * the programs would share the cores otherwise.
 *
 * Goals: no failed call, p99 at most twice that without composites, and less than 1 GB of memory.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Contender } from "./contenders.ts";
import type { HostileServersOptions } from "./hostile-servers.ts";
import type { McpClient } from "./mcp-client.ts";
import { memoryPeakBytesOf } from "./process-tree.ts";
import { untilReady } from "./ready.ts";
import { median, percentile } from "./statistics.ts";
import type { Table } from "./table.ts";

const concurrency = 32;
const compositeCount = 256;
const tokens = { own: "bench-own-token-0000000000000000000", hostile: "bench-hostile-token-000000000000000" };

/** Fills its memory until it is refused. */
const filling = `
kept = []
for number in range(100000000):
    kept.append("%d " % number * 20)
`;
/** Holds less than a megabyte, and replaces it all the time. */
const replacing = `
kept = {}
for number in range(100000000):
    kept[number % 1000] = "%d " % number * 20
`;

interface Running extends AsyncDisposable {
  readonly pid: number;
  readonly own: McpClient;
  readonly hostile: McpClient;
}

interface Measured {
  readonly turns: { readonly p50Ms: number; readonly p99Ms: number; readonly rate: number }[];
  failures: number;
  peakBytes: number;
}

/** Measures Toolcrib, started as `contender`. */
export async function benchHostileClient(
  contender: Contender,
  { isQuick, limitMs, signal, makeHome }: HostileServersOptions,
): Promise<Table> {
  const start = async (name: string): Promise<Running> => {
    const home = makeHome(name);
    writeTokens(join(home, "toolcrib", "tokens"));
    const launched = await contender.launch(home, [{ id: "echo", hangs: false }], {}, "token");
    const ready = await untilReady(
      { child: launched.child, connect: () => launched.connect(tokens.own) },
      { count: 1, limitMs, signal },
    );
    return {
      pid: ready.child.pid,
      own: ready.client,
      hostile: await launched.connect(tokens.hostile),
      [Symbol.asyncDispose]: () => {
        // A stopped process ends only after it continues.
        process.kill(ready.child.pid, "SIGCONT");
        return ready.child[Symbol.asyncDispose]();
      },
    };
  };
  await using calm = await start("calm");
  await using beset = await start("beset");
  const attack = new AbortController();
  const measured = new Map([calm, beset].map((running) => [running, newFigures()]));
  try {
    for (const { own } of measured.keys()) await takeTurn(own, 1000);
    for (let at = 0; at < compositeCount; at += 1) void runComposites(beset.hostile, at, attack.signal);
    await delay(isQuick ? 500 : 3000);
    for (let round = 0; round < (isQuick ? 2 : 10); round += 1) {
      for (const [running, figures] of measured) {
        for (const { pid } of measured.keys()) process.kill(pid, pid === running.pid ? "SIGCONT" : "SIGSTOP");
        await measure(running, figures, isQuick ? 500 : 2000, signal);
      }
    }
  } finally {
    attack.abort();
    for (const { own, hostile } of measured.keys()) for (const client of [own, hostile]) client.close();
  }
  return toTable(measured.get(calm)!, measured.get(beset)!);
}

function newFigures(): Measured {
  return { turns: [], failures: 0, peakBytes: 0 };
}

function writeTokens(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const [name, token] of Object.entries(tokens))
    writeFileSync(join(directory, name), token, { mode: 0o600 });
}

/** Runs one composite after the other until `signal` aborts; what becomes of them does not matter. */
async function runComposites(client: McpClient, at: number, signal: AbortSignal): Promise<void> {
  const args = { code: at % 2 === 0 ? filling : replacing };
  while (!signal.aborted) {
    await client.request("tools/call", { name: "eval_starlark", arguments: args }).catch(() => delay(10));
  }
}

async function measure(running: Running, figures: Measured, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { latencies, failures, seconds } = await takeTurn(running.own, ms);
  const sorted = Float64Array.from(latencies).sort();
  figures.turns.push({
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    rate: latencies.length / seconds,
  });
  figures.failures += failures;
  figures.peakBytes = memoryPeakBytesOf(running.pid);
}

async function takeTurn(client: McpClient, ms: number) {
  const latencies: number[] = [];
  let failures = 0;
  const start = performance.now();
  const worker = async (_: unknown, at: number) => {
    for (let count = 0; performance.now() - start < ms; count += 1) {
      const sent = performance.now();
      const text = `${at} ${count}`;
      const call = client.request("tools/call", { name: "echo__echo", arguments: { text } });
      const result = await call.catch(() => undefined);
      const content = result?.["content"] as readonly { readonly text?: unknown }[] | undefined;
      if (content?.[0]?.text !== text) failures += 1;
      latencies.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return { latencies, failures, seconds: (performance.now() - start) / 1000 };
}

function toTable(calm: Measured, beset: Measured): Table {
  const of = ({ turns }: Measured, pick: (turn: Measured["turns"][number]) => number) =>
    median(turns.map(pick));
  const row = (what: string, figures: Measured) => [
    what,
    of(figures, ({ rate }) => rate).toFixed(0),
    of(figures, ({ p50Ms }) => p50Ms).toFixed(2),
    of(figures, ({ p99Ms }) => p99Ms).toFixed(2),
    String(figures.failures),
    (figures.peakBytes / 1_000_000).toFixed(0),
  ];
  const ratio = of(beset, ({ p99Ms }) => p99Ms) / of(calm, ({ p99Ms }) => p99Ms);
  return {
    title: "A client next to 256 composites of another one, 32 calls at a time",
    columns: ["composites", "calls/s", "p50 ms", "p99 ms", "failed", "peak MB"],
    rows: [row("none", calm), row("256 at their memory limit", beset)],
    notes: [
      `p99 is ${ratio.toFixed(2)} times that without composites (goal 2).`,
      "Half of the programs fill their memory until they are refused, half replace what they hold. Peak: the greatest resident memory of the gateway (goal below 1,000).",
    ],
  };
}
