/**
 * Healthy servers next to hostile ones: two gateways with ten echo servers each, one of
 * which also has servers that list malformed tools, answer no call, flood, send lines of 100 MB, and
 * end again and again. 32 calls at a time go to the echo servers, of each gateway in turns.
 *
 * Goals: no failed call, p99 at most twice that without hostile servers, and at most 64 MB more memory.
 */

import { existsSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fixtureCommand, hostileStdioPath } from "@toolcrib/testing";
import { type Contender, upstreamFile } from "./contenders.ts";
import type { McpClient } from "./mcp-client.ts";
import { readTree } from "./process-tree.ts";
import { type Ready, untilReady } from "./ready.ts";
import { median, percentile } from "./statistics.ts";
import type { Table } from "./table.ts";

const healthyCount = 10;
const concurrency = 32;
/** Calls that the hanging server holds while the others are measured. */
const hungCount = 32;
const largeBytes = 100_000_000;
const behaviours = ["malformed", "hang", "flood", "large", "crash"];

/** The amount of measurement. */
export interface HostileServersOptions {
  readonly isQuick: boolean;
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** Creates a home. */
  readonly makeHome: (name: string) => string;
}

interface Turn {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly rate: number;
}

interface Measured {
  readonly turns: Turn[];
  failures: number;
  /** Resident memory at the end of each turn. */
  readonly rssBytes: number[];
}

/** Measures Toolcrib, started as `contender`. */
export async function benchHostileServers(
  contender: Contender,
  { isQuick, limitMs, signal, makeHome }: HostileServersOptions,
): Promise<Table> {
  const start = async (name: string, isBeset: boolean) => {
    const sections = { tool_servers: serversOf(isBeset) };
    const launched = await contender.launch(makeHome(name), [], sections);
    return await untilReady(launched, { count: healthyCount, limitMs, signal });
  };
  const calm = await start("calm", false);
  await using _calm = calm.child;
  const beset = await start("beset", true);
  await using _beset = beset.child;
  const attack = new AbortController();
  void attackServers(beset.client, attack.signal);
  const measured = new Map([calm, beset].map((ready) => [ready, { turns: [], failures: 0, rssBytes: [] }]));
  try {
    for (const ready of measured.keys()) await takeTurn(ready, 1000);
    for (let round = 0; round < (isQuick ? 2 : 10); round += 1) {
      for (const [ready, figures] of measured) await measure(ready, figures, isQuick ? 300 : 1000, signal);
    }
  } finally {
    attack.abort();
    for (const { client } of measured.keys()) client.close();
  }
  return toTable(measured.get(calm)!, measured.get(beset)!);
}

function serversOf(isBeset: boolean): readonly object[] {
  const common = { trust_state: "certified" };
  const healthy = Array.from({ length: healthyCount }, (_, at) => ({
    ...common,
    id: `echo${at}`,
    transport: { kind: "stdio", command: process.execPath, args: [upstreamFile] },
  }));
  const hostile = behaviours.map((id) => {
    const { command, args } = fixtureCommand(hostileStdioPath, id);
    const transport = { kind: "stdio", command, args: ["--conditions=toolcrib-source", ...args] };
    return { ...common, id, transport };
  });
  return isBeset ? [...healthy, ...hostile] : healthy;
}

/** Calls the hostile servers until `signal` aborts; what becomes of these calls does not matter. */
async function attackServers(client: McpClient, signal: AbortSignal): Promise<void> {
  const call = (name: string, args: object) =>
    client.request("tools/call", { name, arguments: args }).catch(() => {});
  for (let count = 0; count < hungCount; count += 1) void call("hang__act", {});
  while (!signal.aborted) {
    await call("large__large", { bytes: largeBytes });
    await delay(100);
  }
}

async function measure(ready: Ready, figures: Measured, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { latencies, failures, seconds } = await takeTurn(ready, ms);
  const sorted = Float64Array.from(latencies).sort();
  figures.turns.push({
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    rate: latencies.length / seconds,
  });
  figures.failures += failures;
  figures.rssBytes.push(rssBytesOf(ready.child.pid));
}

async function takeTurn({ client }: Ready, ms: number) {
  const latencies: number[] = [];
  let failures = 0;
  const start = performance.now();
  const worker = async (_: unknown, at: number) => {
    for (let count = 0; performance.now() - start < ms; count += 1) {
      const sent = performance.now();
      const text = `${at} ${count}`;
      const name = `echo${(at + count) % healthyCount}__echo`;
      const result = await client.request("tools/call", { name, arguments: { text } }).catch(() => undefined);
      const content = result?.["content"] as readonly { readonly text?: unknown }[] | undefined;
      if (content?.[0]?.text !== text) failures += 1;
      latencies.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return { latencies, failures, seconds: (performance.now() - start) / 1000 };
}

/** Resident memory of the gateway without its servers; 0 where there is no /proc. */
function rssBytesOf(pid: number): number {
  const status = `/proc/${readTree(pid)[0]?.pid ?? pid}/status`;
  if (!existsSync(status)) return 0;
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(status, "latin1"))?.[1] ?? 0) * 1024;
}

function toTable(calm: Measured, beset: Measured): Table {
  const of = ({ turns }: Measured, pick: (turn: Turn) => number) => median(turns.map(pick));
  const row = (what: string, figures: Measured) => [
    what,
    of(figures, ({ rate }) => rate).toFixed(0),
    of(figures, ({ p50Ms }) => p50Ms).toFixed(2),
    of(figures, ({ p99Ms }) => p99Ms).toFixed(2),
    String(figures.failures),
    (median(figures.rssBytes) / 1_000_000).toFixed(0),
  ];
  const ratio = of(beset, ({ p99Ms }) => p99Ms) / of(calm, ({ p99Ms }) => p99Ms);
  const more = (median(beset.rssBytes) - median(calm.rssBytes)) / 1_000_000;
  return {
    title: "Ten healthy servers next to five hostile ones, 32 calls at a time",
    columns: ["servers", "calls/s", "p50 ms", "p99 ms", "failed", "MB"],
    rows: [row("healthy only", calm), row("with hostile ones", beset)],
    notes: [
      `p99 is ${ratio.toFixed(2)} times that without hostile servers (goal 2), memory ${more.toFixed(0)} MB more (goal 64).`,
      "The hostile servers share the cores: one writes notifications as fast as it can, one ends and starts again.",
    ],
  };
}
