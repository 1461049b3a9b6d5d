/**
 * Composites: the overhead of a saved tool through the gateway over HTTP, the gain
 * of `parallel`, and the time of the engine alone for many inner calls in this
 * process, with immediate responses.
 *
 * Goals: a composite with two calls at most 2 ms above a direct call at p50 and
 * 10 ms at p99; eight tools of 100 ms in parallel within 115 ms; 1,000 calls
 * within 20 ms of engine time.
 */

import { type Catalog, CompositeCache, runComposite } from "@toolcrib/metatool";
import { clientCall } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import type { Contender } from "./contenders.ts";
import type { McpClient } from "./mcp-client.ts";
import { untilReady } from "./ready.ts";
import { median, percentile } from "./statistics.ts";
import type { Table } from "./table.ts";

/** The amount of measurement. */
export interface CompositesOptions {
  /** Only check that it works. */
  readonly isQuick: boolean;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/** Measures Toolcrib, started as `contender` in the folder `home`. */
export async function benchComposites(
  contender: Contender,
  home: string,
  { isQuick, limitMs, signal }: CompositesOptions,
): Promise<Table> {
  const launched = await contender.launch(home, [{ id: "echo", hangs: false, waits: true }]);
  await using _child = launched.child;
  const { client } = await untilReady(launched, { count: 1, limitMs, signal });
  try {
    const gateway = await measureGateway(client, isQuick, signal);
    const engine = await measureEngine(isQuick ? 20 : 50);
    return {
      title: "Composites",
      columns: ["what", "p50 ms", "p99 ms", "goal"],
      rows: [...gateway, engine],
      notes: [
        "Above a direct call: percentiles of the composite minus those of the direct call, measured in turns on one connection. The difference includes the round trip of the second echo to the upstream.",
        "The parallel row measures from the request to its response; the engine row is a precompiled program of 1,000 calls in this process.",
      ],
    };
  } finally {
    client.close();
  }
}

const text = "x".repeat(64);

async function measureGateway(
  client: McpClient,
  isQuick: boolean,
  signal: AbortSignal,
): Promise<readonly (readonly string[])[]> {
  await save(client, "echo_twice", "echo.echo(text=params.text)\nreturn echo.echo(text=params.text)\n");
  await save(client, "wait_eight", "parallel([lambda: echo.wait(ms=100) for i in range(8)])\nreturn True\n");
  const count = isQuick ? 100 : 3000;
  const direct: number[] = [];
  const composite: number[] = [];
  // The first half warms up.
  for (let round = 0; round < 2 * count; round += 1) {
    signal.throwIfAborted();
    const one = await timedCall(client, "echo__echo", { text });
    const two = await timedCall(client, "echo_twice", { text });
    if (round < count) continue;
    direct.push(one);
    composite.push(two);
  }
  const parallel: number[] = [];
  for (let round = 0; round < (isQuick ? 3 : 30); round += 1) {
    signal.throwIfAborted();
    parallel.push(await timedCall(client, "wait_eight", {}));
  }
  const [directAt, compositeAt] = [percentiles(direct), percentiles(composite)];
  return [
    ["direct call", ...directAt.map(inMs), ""],
    ["composite with two calls", ...compositeAt.map(inMs), ""],
    [
      "above a direct call",
      inMs(compositeAt[0] - directAt[0]),
      inMs(compositeAt[1] - directAt[1]),
      "2 and 10",
    ],
    ["parallel, eight of 100 ms", ...percentiles(parallel).map(inMs), "115"],
  ];
}

async function save(client: McpClient, name: string, code: string): Promise<void> {
  const inputSchema = { type: "object", properties: { text: { type: "string" } } };
  const args = { name, description: "Measured", inputSchema, code };
  const result = await client.request("tools/call", { name: "save_tool", arguments: args });
  if (result["isError"] === true) throw new Error(`${name} was not saved: ${JSON.stringify(result)}`);
}

async function timedCall(client: McpClient, name: string, args: object): Promise<number> {
  const startedAt = performance.now();
  const result = await client.request("tools/call", { name, arguments: args });
  const ms = performance.now() - startedAt;
  if (result["isError"] === true) throw new Error(`${name} failed: ${JSON.stringify(result).slice(0, 300)}`);
  return ms;
}

/** p50 and p99. */
function percentiles(values: readonly number[]): readonly [number, number] {
  return [
    median(values),
    percentile(
      values.toSorted((a, b) => a - b),
      0.99,
    ),
  ];
}

function inMs(value: number): string {
  return value.toFixed(2);
}

const callsOfEngine = 1000;

async function measureEngine(rounds: number): Promise<readonly string[]> {
  const catalog: Catalog = {
    generation: 1,
    tools: [
      {
        id: "echo:echo",
        namespace: "echo",
        name: "echo",
        wireName: "echo__echo",
        isComposite: false,
        inputSchema: { type: "object" },
        labels: {},
      },
    ],
  };
  const deps: Parameters<typeof runComposite>[1] = {
    host: {
      catalog: () => catalog,
      isNameTaken: () => false,
      callTool: () => Promise.reject(new Error("every call is answered before it comes here")),
    },
    monotonicMs: () => performance.now(),
    nowNs: () => 0n,
    nextTurn: () => new Promise((resolve) => setImmediate(resolve)),
    startTimer(delayMs, callback) {
      const timer = setTimeout(callback, delayMs);
      return () => clearTimeout(timer);
    },
    cache: new CompositeCache(),
  };
  const request: Parameters<typeof runComposite>[0] = {
    name: "thousand",
    code: `total = 0\nfor i in range(${callsOfEngine}):\n    total += echo.echo(n=i)\nreturn total\n`,
    params: {},
    catalog,
    context: clientCall({ callId: "bench", identity: localIdentity("library", "bench") }),
    options: {
      timeoutMs: 60_000,
      memoryBytes: 128 * 2 ** 20,
      steps: 10_000_000,
      callDepth: 200,
      toolCalls: callsOfEngine,
      parallelWidth: 8,
      logBytes: 65_536,
      resultBytes: 2 ** 20,
      debug: false,
      isolation: "none",
    },
    replies: (_tool, params) => ({ kind: "value", value: params["n"] ?? null }),
  };
  const times: number[] = [];
  // The first half warms up.
  for (let round = 0; round < 2 * rounds; round += 1) {
    const startedAt = performance.now();
    const outcome = await runComposite(request, deps);
    const ms = performance.now() - startedAt;
    if (outcome.kind !== "result" || outcome.result !== (callsOfEngine * (callsOfEngine - 1)) / 2) {
      throw new Error(`the engine gave ${JSON.stringify(outcome).slice(0, 300)}`);
    }
    if (round >= rounds) times.push(ms);
  }
  return ["engine, 1,000 calls in a row", ...percentiles(times).map(inMs), "20"];
}
