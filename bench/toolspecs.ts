/**
 * Toolspecs: the time of a REST call as a tool compared with the same request by
 * undici, to one API over TLS; and the cost of 200 toolspecs at the start of a
 * gateway.
 *
 * Goals: a call through the gateway at most 0.5 ms above undici at p50; a start
 * with 200 toolspecs at most 400 ms and 40 MB above one without.
 */

import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createTestAuthority } from "@toolcrib/testing";
import { Agent } from "undici";
import { type Child, startChild } from "./children.ts";
import { type Contender, type Launched, upstreamFile } from "./contenders.ts";
import type { McpClient } from "./mcp-client.ts";
import { readUsage } from "./process-tree.ts";
import { untilReady } from "./ready.ts";
import { median, percentile } from "./statistics.ts";
import type { Table } from "./table.ts";

/** The amount of measurement. */
export interface ToolspecsOptions {
  /** Only check that it works. */
  readonly isQuick: boolean;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

const host = "api.bench.example";
const toolspecCount = 200;
/** Time until background work after the start (search index, release of memory) is done. */
const settleMs = 2000;
const echo = { id: "echo", hangs: false };

/** Measures Toolcrib, started as `contender` in folders below `home`. */
export async function benchToolspecs(
  contender: Contender,
  home: string,
  options: ToolspecsOptions,
): Promise<readonly Table[]> {
  return [await callTable(contender, home, options), await startTable(contender, home, options)];
}

async function callTable(contender: Contender, home: string, options: ToolspecsOptions): Promise<Table> {
  const folder = mkdtempSync(join(home, "calls-"));
  const authority = createTestAuthority();
  const { certificate, key } = authority.sign({ hosts: [host] });
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const caFile = file("ca.pem", authority.certificate);
  await using api = startChild({
    command: process.execPath,
    args: [join(import.meta.dirname, "api-server.mjs"), file("cert.pem", certificate), file("key.pem", key)],
    home: folder,
  });
  const port = await portOf(api, options);
  const launched = await contender.launch(folder, [echo], {
    toolspecs: [
      {
        path: writePair(folder, "bench"),
        credentials: { token: { secret_key_ref: { file: file("secret", "s3cret-of-the-bench") } } },
      },
    ],
    egress: {
      internal_ranges: ["127.0.0.0/8"],
      connect_to: { [host]: `127.0.0.1:${port}` },
      ca_files: [caFile],
    },
  });
  await using _child = launched.child;
  const { client } = await untilReady(launched, { count: 1, ...options });
  const agent = new Agent({ connect: { ca: authority.certificate, servername: host } });
  try {
    const count = options.isQuick ? 100 : 3000;
    const [plain, tool, echoed]: [number[], number[], number[]] = [[], [], []];
    // The first half warms up.
    for (let round = 0; round < 2 * count; round += 1) {
      options.signal.throwIfAborted();
      const one = await timed(() => plainRequest(agent, port));
      const two = await timed(() => callTool(client, "bench__get_item", { id: "7", limit: 5 }));
      const three = await timed(() => callTool(client, "echo__echo", { text: "x".repeat(400) }));
      if (round < count) continue;
      plain.push(one);
      tool.push(two);
      echoed.push(three);
    }
    const above = median(tool) - median(plain);
    return {
      title: "A toolspec call",
      columns: ["what", "p50 ms", "p99 ms", "goal"],
      rows: [
        ["undici to the API", ...percentiles(plain), ""],
        ["the toolspec's tool, through the gateway", ...percentiles(tool), ""],
        ["above undici", above.toFixed(2), "", "0.5"],
        ["a tool of a stdio server, through the gateway", ...percentiles(echoed), ""],
      ],
      notes: [
        "One connection each, in turns. The gateway's time includes the MCP client's request over HTTP, the governed call with its audit record, the insertion of the secret and the search for it in the response.",
      ],
    };
  } finally {
    client.close();
    await agent.destroy();
  }
}

async function plainRequest(agent: Agent, port: number): Promise<void> {
  const { statusCode, body } = await agent.request({
    origin: `https://127.0.0.1:${port}`,
    path: "/items/7?limit=5",
    method: "GET",
    headers: { accept: "application/json, */*", authorization: "Bearer s3cret-of-the-bench", host },
  });
  const text = await body.text();
  if (statusCode !== 200 || text === "") throw new Error(`the API answered ${statusCode}`);
}

async function callTool(client: McpClient, name: string, args: object): Promise<void> {
  const result = await client.request("tools/call", { name, arguments: args });
  if (result["isError"] === true || result["content"] === undefined) {
    throw new Error(`${name} failed: ${JSON.stringify(result).slice(0, 300)}`);
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function percentiles(values: readonly number[]): readonly [string, string] {
  const sorted = values.toSorted((a, b) => a - b);
  return [median(values).toFixed(2), percentile(sorted, 0.99).toFixed(2)];
}

async function portOf(api: Child, { limitMs, signal }: ToolspecsOptions): Promise<number> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const port = Number(/^(\d+)\n/.exec(api.output())?.[1]);
    if (port > 0) return port;
    const ended = api.ended();
    if (ended !== undefined || performance.now() > deadline) {
      throw new Error(`the API did not start: ${ended ?? ""} ${api.output()}`);
    }
    signal.throwIfAborted();
    await sleep(5);
  }
}

async function startTable(contender: Contender, home: string, options: ToolspecsOptions): Promise<Table> {
  const folder = mkdtempSync(join(home, "starts-"));
  const pairs = Array.from({ length: toolspecCount }, (_, index) =>
    writePair(folder, `service-${index + 1}`),
  );
  const secret = join(folder, "secret");
  writeFileSync(secret, "s3cret-of-the-bench", { mode: 0o600 });
  const toolspecs = pairs.map((path) => ({
    path,
    credentials: { token: { secret_key_ref: { file: secret } } },
    tools: "all",
  }));
  const newHome = (): string => mkdtempSync(join(folder, "home-"));
  // The compile cache of Node is below the user's home, and the same for every start of a user.
  const compiled = newHome();
  await startOnce(contender, compiled, { toolspecs }, options);
  const newHomeOfUser = (): string => {
    const home = newHome();
    cpSync(join(compiled, ".cache"), join(home, ".cache"), { recursive: true });
    return home;
  };
  const kinds = ["without", "first", "again", "bare without", "bare"] as const;
  const starts = Object.fromEntries(kinds.map((kind): [string, Start[]] => [kind, []]));
  const start = async (kind: (typeof kinds)[number], home: string, sections: object): Promise<void> =>
    void starts[kind]?.push(await startOnce(contender, home, sections, options));
  for (let round = 0; round < (options.isQuick ? 1 : 7); round += 1) {
    const home = newHomeOfUser();
    await start("without", newHomeOfUser(), {});
    await start("first", home, { toolspecs });
    await start("again", home, { toolspecs });
    await start("bare without", newHome(), {});
    await start("bare", newHome(), { toolspecs });
  }
  const of = (kind: (typeof kinds)[number]): Start => medianOf(starts[kind] ?? []);
  const row = (what: string, { ms, megabytes }: Start, goal = "") => [
    what,
    ms.toFixed(0),
    megabytes.toFixed(0),
    goal,
  ];
  const above = (one: Start, base: Start, goal = "400 and 40"): readonly string[] =>
    row("above", { ms: one.ms - base.ms, megabytes: one.megabytes - base.megabytes }, goal);
  const withAll = `with ${toolspecCount}`;
  return {
    title: `Start-up with ${toolspecCount} toolspecs`,
    columns: ["what", "ms", "MB", "goal"],
    rows: [
      row("without", of("without")),
      row(`${withAll} that were never read before`, of("first")),
      above(of("first"), of("without")),
      row(`${withAll}, again`, of("again")),
      above(of("again"), of("without")),
      row("the first start of all, without", of("bare without")),
      row(`the first start of all, ${withAll}`, of("bare")),
      above(of("bare"), of("bare without"), ""),
    ],
    notes: [
      `From the start of the process until a client is connected and /readyz reports the echo server and all toolspecs as ready. Resident memory is measured two seconds after every tool was listed, when the search index is complete and memory was released. ${toolspecCount} manifests and toolspecs of seven tools each; medians of starts in turns. Valid toolspecs are cached in the home, so later starts read less; before the first start, Node's compile cache is empty too. The difference includes the code of toolspecs, which a start without them does not load.`,
    ],
  };
}

function medianOf(starts: readonly Start[]): Start {
  return {
    ms: median(starts.map(({ ms }) => ms)),
    megabytes: median(starts.map(({ megabytes }) => megabytes)),
  };
}

interface Start {
  readonly ms: number;
  readonly megabytes: number;
}

async function startOnce(
  contender: Contender,
  home: string,
  sections: object,
  options: ToolspecsOptions,
): Promise<Start> {
  const launched = await contender.launch(home, [echo], sections);
  await using child = launched.child;
  const client = await untilConnected(launched, options);
  try {
    await untilAllAnswer(launched.url?.(), options);
    const ms = performance.now() - child.startedAt;
    if ((await countTools(client, "echo")) === 0) throw new Error("the echo tool is not listed");
    const wanted = "toolspecs" in sections ? toolspecCount : 0;
    const found = await countTools(client, "get_item");
    if (found < wanted) throw new Error(`${found} of ${toolspecCount} toolspecs are listed`);
    await sleep(settleMs);
    return { ms, megabytes: (readUsage(child.pid, upstreamFile)?.rssBytes ?? Number.NaN) / 1e6 };
  } finally {
    client.close();
  }
}

/** Retries until the gateway accepts a client. */
async function untilConnected(launched: Launched, { limitMs, signal }: ToolspecsOptions): Promise<McpClient> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    try {
      return await launched.connect();
    } catch (error) {
      const ended = launched.child.ended();
      if (ended !== undefined || performance.now() > deadline) throw error;
      signal.throwIfAborted();
      await sleep(2);
    }
  }
}

/** Waits until the gateway reports that every server is ready or has failed. */
async function untilAllAnswer(url: URL | undefined, { limitMs, signal }: ToolspecsOptions): Promise<void> {
  const deadline = performance.now() + limitMs;
  while ((await fetch(new URL("/readyz", url), { signal })).status !== 200) {
    if (performance.now() > deadline) throw new Error(`not ready within ${limitMs} ms`);
    await sleep(2);
  }
}

async function countTools(client: McpClient, suffix: string): Promise<number> {
  let count = 0;
  let cursor: unknown;
  do {
    const page = await client.request("tools/list", cursor === undefined ? {} : { cursor });
    const tools = page["tools"] as readonly { readonly name: string }[];
    count += tools.filter(({ name }) => name.endsWith(suffix)).length;
    cursor = page["nextCursor"];
  } while (cursor !== undefined);
  return count;
}

/** A manifest and its toolspec in their own folder. */
function writePair(folder: string, name: string): string {
  const directory = join(folder, name);
  mkdirSync(directory);
  const actions = ["get", "list", "find", "create", "update", "replace", "delete"] as const;
  const methods = {
    get: "GET",
    list: "GET",
    find: "GET",
    create: "POST",
    update: "PATCH",
    replace: "PUT",
    delete: "DELETE",
  };
  const tools = actions.map((action) => `${action}_item`);
  writeFileSync(
    join(directory, "0.1.0.yaml"),
    `schemaVersion: 1
name: ${name}
version: 0.1.0
displayName: ${name}
description: A service of the benchmark
category: dev-tools
source: {repo: github.com/example/${name}, tag: v0.1.0}
image:
  ref: registry.example/${name}:0.1.0
  digest: sha256:${"0".repeat(64)}
  entrypoint: /app/server
  builder: toolpack
tier: sealed
entitlements:
  egress: [${host}]
credentials:
  - id: token
    type: api_key
    inject: {header: Authorization, format: "Bearer {token}"}
tools:
${tools.map((tool) => `  - {name: ${tool}, default: true}`).join("\n")}
`,
  );
  writeFileSync(
    join(directory, "0.1.0.toolspec.yaml"),
    `schemaVersion: 1
name: ${name}
version: 0.1.0
baseUrl: https://${host}
tools:
${actions
  .map(
    (action) => `  - name: ${action}_item
    description: ${action} an item of the service, by its identifier, with the fields that are asked for
    method: ${methods[action]}
    path: /items/{id}
    params:
      - {name: id, in: path, type: string, required: true, description: "The identifier of the item"}
      - {name: limit, in: query, type: integer, description: "Most sub-items to return, 1 to 100"}
      - {name: fields, in: query, type: array, description: "The fields to return; all when left out"}
      - {name: expand, in: query, type: string, description: "Related items to include in full"}`,
  )
  .join("\n")}
`,
  );
  return directory;
}
