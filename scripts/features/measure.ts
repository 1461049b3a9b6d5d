/**
 * Measures the feature table: starts the servers and a gateway in front of them, and lets each client follow its plan.
 * All clients run at the same time, each in one process with a connection to each server and way.
 */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readToken } from "@toolcrib/auth";
import {
  freePort,
  makeTemporaryDirectory,
  runProcess,
  startServerProcess,
  waitUntil,
} from "@toolcrib/testing";
import {
  type ClientId,
  type Feature,
  isExpected,
  type Plan,
  type PlannedConnection,
  type Report,
  type ServerId,
  servers,
  stepsOf,
} from "./plan.ts";
import type { Cell } from "./results.ts";

const root = join(import.meta.dirname, "../..");
const cache = join(root, "node_modules/.cache");
const goProgram = join(cache, "toolcrib-go/features");
/** Seconds for one feature. The longest takes half a second where the machine is idle. */
const stepSeconds = 10;
const clientTimeoutMs = 150_000;

/** The outcome of a run. */
export interface Measured {
  readonly cells: readonly Cell[];
  /** Clients and servers that cannot run here, with the reason. */
  readonly skipped: readonly string[];
  /** The observations where a feature does not work. */
  readonly failures: readonly string[];
}

const ways = ["direct", "gateway"] as const;
type Way = (typeof ways)[number];

/** A command, or the reason why it cannot run here. */
type Command = readonly [program: string, ...args: string[]] | string;

/** Measures the cells of `clientIds` and `serverIds`. */
export async function measure(
  clientIds: readonly ClientId[],
  serverIds: readonly ServerId[],
): Promise<Measured> {
  await using stack = new AsyncDisposableStack();
  const go = await buildGo();
  const skipped: string[] = [];
  const commands = new Map<ClientId, readonly [string, ...string[]]>();
  for (const id of clientIds) {
    const command = clientCommand(id, go);
    if (typeof command === "string") skipped.push(`the client ${id}: ${command}`);
    else commands.set(id, command);
  }
  const urls = new Map<ServerId, string>();
  await Promise.all(
    [startEverything, startFastmcp, startGo, startExtensions].map(async (start) => {
      const started = await start(stack, go);
      for (const [id, url] of Object.entries(started.urls))
        if (serverIds.includes(id as ServerId)) urls.set(id as ServerId, url);
      if (started.skipped !== undefined) skipped.push(started.skipped);
    }),
  );
  const gateway = await startGateway(stack, urls);
  const reports = await Promise.all([...commands].map(([id, command]) => follow(id, command, urls, gateway)));
  return { ...toCells(reports.flat(), [...commands.keys()], [...urls.keys()]), skipped };
}

function toCells(
  reports: readonly Report[],
  clientIds: readonly ClientId[],
  serverIds: readonly ServerId[],
): Pick<Measured, "cells" | "failures"> {
  const cells: Cell[] = [];
  const failures: string[] = [];
  for (const client of clientIds) {
    for (const server of serverIds) {
      const { trials } = servers.find(({ id }) => id === server)!;
      for (const feature of Object.keys(trials) as Feature[]) {
        const [direct, gateway] = ways.map((way) => {
          const connection = connectionId(client, server, way);
          const report = reports.find((one) => one.connection === connection && one.feature === feature);
          if (report?.unsupported === true) return undefined;
          const works = report !== undefined && isExpected(trials, report);
          if (!works) failures.push(describeFailure(connection, feature, report));
          return works;
        });
        if (direct === undefined || gateway === undefined) continue;
        const outcome = direct ? (gateway ? "both" : "direct") : gateway ? "gateway" : "neither";
        cells.push({ client, server, feature, outcome });
      }
    }
  }
  return { cells, failures };
}

function describeFailure(connection: string, feature: string, report: Report | undefined): string {
  const observed = report?.error ?? JSON.stringify(report?.observed) ?? "the client reported nothing";
  return `${connection} ${feature}: ${observed.slice(0, 600)}`;
}

function connectionId(client: ClientId, server: ServerId, way: Way): string {
  return `${client}-${server}-${way}`;
}

async function follow(
  client: ClientId,
  [program, ...args]: readonly [string, ...string[]],
  urls: ReadonlyMap<ServerId, string>,
  gateway: Endpoint,
): Promise<Report[]> {
  const connections = [...urls].flatMap(([server, url]) =>
    ways.map((way): PlannedConnection => {
      const id = connectionId(client, server, way);
      const { trials } = servers.find((one) => one.id === server)!;
      const endpoint = way === "direct" ? { url } : { ...gateway, url: `${gateway.url}/s/${server}` };
      return { id, ...endpoint, steps: stepsOf(trials, id) };
    }),
  );
  const plan: Plan = { connections, stepSeconds };
  const { stdout, stderr } = await runProcess(program, args, {
    stdin: JSON.stringify(plan),
    timeoutMs: clientTimeoutMs,
    cwd: root,
  });
  const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
  if (lines.length === 0) console.log(`The client ${client} reported nothing\n${stderr.slice(-2_000)}`);
  return lines.map((line) => JSON.parse(line) as Report);
}

function clientCommand(id: ClientId, go: string | undefined): Command {
  const script = (path: string) =>
    [process.execPath, "--conditions=toolcrib-source", join(import.meta.dirname, path)] as const;
  switch (id) {
    case "ts-v1":
      return script("typescript/v1.ts");
    case "ts-v2":
      return script("typescript/v2.ts");
    case "inspector":
      return script("inspector.ts");
    case "go":
      return go === undefined ? [goProgram, "connect"] : go;
    default: {
      const version = id.replace("python-", "");
      const python = pythonOf(version);
      return python === undefined
        ? pythonMissing
        : [python, join(import.meta.dirname, "python/client.py"), version];
    }
  }
}

const pythonMissing = "it is not installed, see packages/cli/test/e2e/python/install.sh";

function pythonOf(version: string): string | undefined {
  const folder = join(cache, "toolcrib-python", version);
  return existsSync(join(folder, "installed.txt")) ? join(folder, "bin/python") : undefined;
}

/** Builds the program in Go with the modules of `go.sum`. @returns why that is not possible here */
async function buildGo(): Promise<string | undefined> {
  if (spawnSync("go", ["version"]).error !== undefined) return "there is no Go command";
  await mkdir(join(cache, "toolcrib-go"), { recursive: true });
  const { code, stderr } = await runProcess("go", ["build", "-mod=readonly", "-o", goProgram, "."], {
    cwd: join(import.meta.dirname, "go"),
    env: {
      GOTOOLCHAIN: "local",
      GOFLAGS: "-modcacherw",
      GOMODCACHE: join(cache, "go"),
    },
    timeoutMs: 240_000,
  });
  if (code === 0) return undefined;
  // The source is part of the repository: that it does not compile is a failure.
  if (/^\S+\.go:\d+:\d+: /m.test(stderr) && !/no required module|cannot find module|dial tcp/.test(stderr))
    throw new Error(`go build: ${stderr}`);
  return `go build failed: ${stderr.trim().split("\n").at(-1)}`;
}

interface Started {
  readonly urls: { readonly [id in ServerId]?: string };
  readonly skipped?: string;
}

async function startEverything(stack: AsyncDisposableStack): Promise<Started> {
  const port = await freePort();
  const path = join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
  const server = await startServerProcess(process.execPath, [path, "streamableHttp"], {
    env: { PORT: String(port) },
    urlPattern: /Starting Streamable HTTP server/,
  });
  stack.use(server);
  const url = `http://127.0.0.1:${port}/mcp`;
  await waitUntil(async () => {
    try {
      return (await fetch(url)).status === 400;
    } catch {
      return false;
    }
  });
  return { urls: { everything: url } };
}

async function startFastmcp(stack: AsyncDisposableStack): Promise<Started> {
  const python = pythonOf("fastmcp");
  if (python === undefined) return { urls: {}, skipped: `the server fastmcp: ${pythonMissing}` };
  const script = join(import.meta.dirname, "python/fastmcp_server.py");
  const server = stack.use(await startServerProcess(python, [script]));
  return { urls: { fastmcp: server.url } };
}

async function startGo(stack: AsyncDisposableStack, missing: string | undefined): Promise<Started> {
  if (missing !== undefined) return { urls: {}, skipped: `the servers in Go: ${missing}` };
  const server = stack.use(
    await startServerProcess(goProgram, ["serve"], { urlPattern: /http:\S+\/modern\/mcp/ }),
  );
  return {
    urls: { "go-legacy": server.url.replace("/modern/", "/legacy/"), "go-modern": server.url },
  };
}

async function startExtensions(stack: AsyncDisposableStack): Promise<Started> {
  const script = join(import.meta.dirname, "typescript/servers.ts");
  const server = stack.use(
    await startServerProcess(process.execPath, ["--conditions=toolcrib-source", script], { cwd: root }),
  );
  return { urls: JSON.parse(server.stdout()) as Started["urls"] };
}

interface Endpoint {
  readonly url: string;
  readonly token: string;
}

/** Starts a gateway in front of the servers. Its clients have a token, because only they can list their tasks. */
async function startGateway(
  stack: AsyncDisposableStack,
  urls: ReadonlyMap<ServerId, string>,
): Promise<Endpoint> {
  const home = stack.use(await makeTemporaryDirectory());
  const config = home.join("toolcrib.yaml");
  const document = {
    tool_servers: [...urls].map(([id, url]) => ({
      id,
      transport: { kind: "streamable_http", url },
      trust_state: "certified",
      interactive: true,
    })),
  };
  await writeFile(config, JSON.stringify(document));
  const gateway = stack.use(
    await startServerProcess(
      process.execPath,
      [
        "--conditions=toolcrib-source",
        join(root, "packages/cli/src/bin.ts"),
        "serve",
        ...["--config", config, "--home", home.join("home"), "--listen", "127.0.0.1:0", "--auth", "token"],
      ],
      { cwd: root, urlPattern: /http:\/\/127\.0\.0\.1:\d+\/mcp/ },
    ),
  );
  await waitUntil(async () => (await fetch(new URL("/readyz", gateway.url))).ok);
  return { url: gateway.url, token: readToken(home.join("home"), "default") };
}
