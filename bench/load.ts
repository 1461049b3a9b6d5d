/**
 * Throughput, latency and cost of a call: every contender is started once and
 * loaded in turns (A B C A B C), one call at a time and then many, so that a
 * slow minute of the machine hits all of them alike. Each call sends its own
 * 64-byte text and must get exactly that text back.
 *
 * It never drops a failed call from the figures: a contender that answers
 * wrongly or dies is out, with the reason in the notes.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { type Contender, upstreamFile } from "./contenders.ts";
import type { McpClient } from "./mcp-client.ts";
import { readThreads, readUsage } from "./process-tree.ts";
import { type Ready, within } from "./ready.ts";
import { median, percentile } from "./statistics.ts";

const textBytes = 64;
/** Longest wait for responses after the end of a round. */
const overtimeMs = 10_000;

/** Amount and duration of the load. */
export interface LoadOptions {
  readonly rounds: number;
  /** Length of one turn of one contender at one concurrency. */
  readonly turnMs: number;
  /** Load before the first turn, so that the compiler has seen the hot path. */
  readonly warmUpMs: number;
  /** Calls before the first turn at each concurrency, where a busy machine makes fewer in that time. @default 0 */
  readonly warmUpCalls?: number;
  /** Time at rest after the last round, after which memory is read again. */
  readonly restMs: number;
  readonly concurrencies: readonly number[];
  readonly signal: AbortSignal;
  /** Receives progress for each round. */
  readonly progress: (line: string) => void;
}

/** The figures of one contender at one concurrency. */
export interface LoadFigures {
  /** Medians over the rounds. */
  readonly callsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The slowest and the fastest round, in calls per second, as a measure of noise. */
  readonly range: readonly [number, number];
  /** User and system time of the contender without its upstream, over all rounds. */
  readonly cpuMsPerCall: number | undefined;
  /** The same for the load client. */
  readonly clientCpuMsPerCall: number;
  /** The figures of each round, in order, for comparisons of rounds. */
  readonly rounds: readonly Turn[];
}

/** All figures of one contender, or the reason for their absence. */
export type LoadResult =
  | {
      readonly kind: "measured";
      readonly contender: Contender;
      /** By concurrency. */
      readonly figures: ReadonlyMap<number, LoadFigures>;
      /** Resident memory of the contender without its upstream after its last turn. */
      readonly rssBytes: number | undefined;
      /** The same after the time at rest. */
      readonly restedRssBytes: number | undefined;
    }
  | { readonly kind: "failed"; readonly contender: Contender; readonly reason: string };

/** One turn of one contender at one concurrency. */
export interface Turn {
  readonly calls: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** User and system time of the contender without its upstream. */
  readonly cpuMs: number | undefined;
  /** The part of it that indexed the trail for queries, after calls of this turn and of turns before it. */
  readonly indexCpuMs: number;
  readonly clientCpuMs: number;
}

/** Beginning of the name of the thread of Toolcrib that indexes the trail: Linux keeps fifteen characters. */
const indexThread = "toolcrib-audit-";

let lastText = 0;

async function callEcho(client: McpClient, toolName: string): Promise<void> {
  lastText += 1;
  const text = String(lastText).padStart(textBytes, "x");
  const result = await client.request("tools/call", { name: toolName, arguments: { text } });
  const content = result["content"] as readonly { readonly text?: unknown }[] | undefined;
  if (content?.[0]?.text !== text) {
    throw new Error(`sent "${text}" and got ${JSON.stringify(result).slice(0, 200)}`);
  }
}

/** Keeps `concurrency` calls in flight for `ms`. Returns the latency of each call in ms. */
async function load(
  ready: Ready,
  concurrency: number,
  ms: number,
  signal: AbortSignal,
): Promise<{ readonly latencies: readonly number[]; readonly seconds: number }> {
  const latencies: number[] = [];
  const start = performance.now();
  let over = false;
  const worker = async (): Promise<void> => {
    while (!over && !signal.aborted) {
      const sent = performance.now();
      await callEcho(ready.client, ready.toolName);
      const answered = performance.now();
      latencies.push(answered - sent);
      if (answered - start >= ms) over = true;
    }
  };
  try {
    await within(ms + overtimeMs, signal, Promise.all(Array.from({ length: concurrency }, worker)));
  } finally {
    over = true;
  }
  return { latencies, seconds: (performance.now() - start) / 1000 };
}

/** Longest warm-up at one concurrency, in milliseconds. */
const warmUpMaxMs = 20_000;

/** Loads a contender for a time and for a number of calls, so that the compiler has seen its hot path. */
async function warmUp(ready: Ready, concurrency: number, options: LoadOptions): Promise<void> {
  const { warmUpMs, warmUpCalls = 0, signal } = options;
  let calls = 0;
  for (let ms = 0; ms < warmUpMaxMs && (ms === 0 || calls < warmUpCalls); ms += warmUpMs) {
    calls += (await load(ready, concurrency, warmUpMs, signal)).latencies.length;
  }
}

async function takeTurn(
  contender: Contender,
  ready: Ready,
  concurrency: number,
  options: LoadOptions,
): Promise<Turn> {
  // Opens the connections again and wakes the contender; not counted.
  await load(ready, concurrency, options.turnMs / 10, options.signal);
  const before = readUsage(ready.child.pid, upstreamFile);
  const indexBefore = readThreads(ready.child.pid, indexThread);
  const clientBefore = process.cpuUsage();
  const { latencies, seconds } = await load(ready, concurrency, options.turnMs, options.signal);
  const client = process.cpuUsage(clientBefore);
  ready.client.rest();
  // Deferred work of a contender must not run in another's round, and counts as its own.
  await settle(ready);
  const after = readUsage(ready.child.pid, upstreamFile);
  const index = [...readThreads(ready.child.pid, indexThread)];
  const sorted = Float64Array.from(latencies).sort();
  const countsCpu = contender.separable && before !== undefined && after !== undefined;
  return {
    calls: latencies.length,
    seconds,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    cpuMs: countsCpu ? after.cpuMs - before.cpuMs : undefined,
    indexCpuMs: index.reduce((sum, [id, cpuMs]) => sum + cpuMs - (indexBefore.get(id) ?? 0), 0),
    clientCpuMs: (client.user + client.system) / 1000,
  };
}

/** Idle time after which a contender counts as done, and the longest wait for it, in milliseconds. */
const quietMs = 400;
const settleMaxMs = 3000;
const sampleMs = 100;

/** Waits until the contender is idle. */
async function settle(ready: Ready): Promise<void> {
  let last = readUsage(ready.child.pid, upstreamFile)?.cpuMs;
  let quiet = 0;
  for (let waited = 0; waited < settleMaxMs && quiet < quietMs && last !== undefined; waited += sampleMs) {
    await sleep(sampleMs);
    const now = readUsage(ready.child.pid, upstreamFile)?.cpuMs;
    quiet = now !== undefined && now - last <= 10 ? quiet + sampleMs : 0;
    last = now;
  }
}

function toFigures(turns: readonly Turn[]): LoadFigures {
  const calls = turns.reduce((sum, turn) => sum + turn.calls, 0);
  const cpuMs = turns.reduce((sum, turn) => sum + (turn.cpuMs ?? Number.NaN), 0);
  const rates = turns.map((turn) => turn.calls / turn.seconds);
  return {
    callsPerSecond: median(rates),
    range: [Math.min(...rates), Math.max(...rates)],
    p50Ms: median(turns.map((turn) => turn.p50Ms)),
    p99Ms: median(turns.map((turn) => turn.p99Ms)),
    cpuMsPerCall: Number.isNaN(cpuMs) ? undefined : cpuMs / calls,
    clientCpuMsPerCall: turns.reduce((sum, turn) => sum + turn.clientCpuMs, 0) / calls,
    rounds: turns,
  };
}

/** Load contenders that are already running, in turns; results keep their order. */
export async function measureLoad(
  running: ReadonlyMap<Contender, Ready>,
  options: LoadOptions,
): Promise<readonly LoadResult[]> {
  const failed = new Map<Contender, string>();
  const turns = new Map<Contender, Map<number, Turn[]>>();
  const rssBytes = new Map<Contender, number | undefined>();
  const attempt = async (contender: Contender, work: () => Promise<void>): Promise<void> => {
    if (failed.has(contender)) return;
    try {
      await work();
    } catch (error) {
      options.signal.throwIfAborted();
      const ended = running.get(contender)?.child.ended();
      const reason = `${ended === undefined ? "" : `${ended} under load: `}${(error as Error).message}`;
      failed.set(contender, reason);
      options.progress(`  ${contender.id} is out: ${reason}`);
    }
  };
  for (const [contender, ready] of running) {
    turns.set(contender, new Map(options.concurrencies.map((concurrency) => [concurrency, []])));
    await attempt(contender, async () => {
      for (const concurrency of options.concurrencies) {
        await warmUp(ready, concurrency, options);
      }
      ready.client.rest();
    });
  }
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const [contender, ready] of running) {
      await attempt(contender, async () => {
        const shown: string[] = [];
        for (const concurrency of options.concurrencies) {
          const turn = await takeTurn(contender, ready, concurrency, options);
          turns.get(contender)!.get(concurrency)!.push(turn);
          shown.push(`${Math.round(turn.calls / turn.seconds)} calls/s at ${concurrency}`);
        }
        if (contender.separable) rssBytes.set(contender, readUsage(ready.child.pid, upstreamFile)?.rssBytes);
        options.progress(`  round ${round}/${options.rounds} ${contender.id}: ${shown.join(", ")}`);
      });
    }
  }
  await sleep(options.restMs, undefined, { signal: options.signal });
  return [...running].map(([contender, ready]): LoadResult => {
    const reason = failed.get(contender);
    if (reason !== undefined) return { kind: "failed", contender, reason };
    const figures = new Map(
      [...turns.get(contender)!].map(([concurrency, taken]) => [concurrency, toFigures(taken)]),
    );
    const rested = contender.separable ? readUsage(ready.child.pid, upstreamFile)?.rssBytes : undefined;
    return {
      kind: "measured",
      contender,
      figures,
      rssBytes: rssBytes.get(contender),
      restedRssBytes: rested,
    };
  });
}
