/**
 * The contenders: how to start each in front of the echo upstream, and how to
 * connect to it. Every peer runs with the settings of its manual that are fastest
 * for this workload without dropping a protocol version.
 *
 * It never measures. A contender that does not start is an error with the end
 * of the contender's own output.
 */

import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type Child, startChild } from "./children.ts";
import { connectStreamableHttp } from "./http-client.ts";
import { connectLegacySse } from "./legacy-sse-client.ts";
import type { McpClient } from "./mcp-client.ts";
import { connectStdio } from "./stdio-client.ts";

const root = join(import.meta.dirname, "..");
/** The upstream's file. It also distinguishes the upstream's processes from the contender's. */
export const upstreamFile = join(import.meta.dirname, "echo-server.mjs");
const node = process.execPath;

/** One upstream of a contender. */
export interface Upstream {
  readonly id: string;
  /** Reads, but never responds. */
  readonly hangs: boolean;
  /** Also offers the slow tool `wait`. */
  readonly waits?: boolean;
}

/** A started process, to which a client can try to connect. */
export interface Launched {
  readonly child: Child;
  /** Connects and initializes once, with `token` where the contender takes one; rejects while it is not ready. */
  connect(token?: string): Promise<McpClient>;
  /** Its address after a connection; `undefined` if unknown. */
  url?(): URL | undefined;
}

/** A contender. */
export interface Contender {
  readonly id: string;
  readonly version: string;
  readonly kind: "floor" | "own" | "peer";
  /** The transport of clients. */
  readonly wire: string;
  /** Serves several upstreams at one endpoint. */
  readonly aggregates: boolean;
  /** False if the contender and the upstream are one process. */
  readonly separable: boolean;
  /**
   * @param sections more sections of the configuration, for `toolcrib` only
   * @param auth how clients authenticate, for `toolcrib` only. @default none
   */
  launch(
    home: string,
    upstreams: readonly Upstream[],
    sections?: object,
    auth?: "none" | "token",
  ): Promise<Launched>;
}

function upstreamCommand(upstream: Upstream): readonly string[] {
  const flags = [...(upstream.hangs ? ["--hang"] : []), ...(upstream.waits === true ? ["--wait"] : [])];
  return [node, upstreamFile, ...flags];
}

function peerFile(name: string, file: string): string {
  const path = join(import.meta.dirname, "node_modules", name, file);
  if (!existsSync(path)) throw new Error(`${name} is not installed below bench/`);
  return path;
}

/** The version that package.json pins. */
export function peerVersions(): Readonly<Record<string, string>> {
  const manifest: { dependencies: Record<string, string> } = JSON.parse(
    readFileSync(join(import.meta.dirname, "package.json"), "utf8"),
  );
  return manifest.dependencies;
}

/** A port that was free a moment ago, for peers that cannot choose and report one. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port is free");
  return address.port;
}

/** Connects to the URL that a child prints on stdout when it listens. */
export function launchedByUrlLine(child: Child): Launched {
  let url: URL | undefined;
  return {
    child,
    url: () => url,
    connect: (token) => {
      const found = /http:\/\/127\.0\.0\.1:\d+\/mcp\b/.exec(child.output())?.[0];
      if (found === undefined && url === undefined) throw new Error("has not printed its URL");
      url ??= new URL(found!);
      return connectStreamableHttp(url, token);
    },
  };
}

function toolcrib(id: string, version: string, entry: string): Contender {
  return {
    id,
    version,
    kind: "own",
    wire: "HTTP",
    aggregates: true,
    separable: true,
    launch: async (home, upstreams, sections = {}, auth = "none") => {
      if (!existsSync(entry)) throw new Error(`${entry.slice(root.length + 1)} does not exist`);
      const config = join(home, "toolcrib.yaml");
      const servers = upstreams.map((upstream) => {
        const [command, ...args] = upstreamCommand(upstream);
        return { id: upstream.id, transport: { kind: "stdio", command, args }, trust_state: "certified" };
      });
      // JSON is YAML.
      writeFileSync(config, JSON.stringify({ tool_servers: servers, ...sections }, undefined, 2));
      const child = startChild({
        command: node,
        args: [
          entry,
          "serve",
          "--config",
          config,
          "--listen",
          "127.0.0.1:0",
          "--auth",
          auth,
          "--home",
          join(home, "toolcrib"),
        ],
        home,
      });
      return launchedByUrlLine(child);
    },
  };
}

const direct: Contender = {
  id: "direct",
  version: "no gateway",
  kind: "floor",
  wire: "stdio",
  aggregates: false,
  separable: false,
  launch: async (home) => {
    const child = startChild({ command: node, args: [upstreamFile], home, stdioIsProtocol: true });
    return { child, connect: () => connectStdio(child.process) };
  },
};

const pipe: Contender = {
  id: "pipe",
  version: "raw pipe",
  kind: "floor",
  wire: "HTTP",
  aggregates: false,
  separable: true,
  launch: async (home, [upstream]) =>
    launchedByUrlLine(
      startChild({
        command: node,
        args: [join(import.meta.dirname, "raw-pipe.mjs"), ...upstreamCommand(upstream!)],
        home,
      }),
    ),
};

const mcpProxy: Contender = {
  id: "mcp-proxy",
  version: peerVersions()["mcp-proxy"]!,
  kind: "peer",
  wire: "HTTP",
  aggregates: false,
  separable: true,
  launch: async (home, [upstream]) => {
    const port = await freePort();
    const entry = peerFile("mcp-proxy", "dist/bin/mcp-proxy.mjs");
    // With its event store (for resuming streams) a 1 ms timer delays every response.
    const own = ["--no-eventStore", "--host", "127.0.0.1", "--port", String(port), "--server", "stream"];
    const child = startChild({
      command: node,
      args: [entry, ...own, "--", ...upstreamCommand(upstream!)],
      home,
    });
    return { child, connect: () => connectStreamableHttp(new URL(`http://127.0.0.1:${port}/mcp`)) };
  },
};

const supergateway: Contender = {
  id: "supergateway",
  version: peerVersions()["supergateway"]!,
  kind: "peer",
  wire: "HTTP",
  aggregates: false,
  separable: true,
  launch: async (home, [upstream]) => {
    const port = await freePort();
    const entry = peerFile("supergateway", "dist/index.js");
    // Its stateless mode starts an upstream for every request, so it runs stateful: one per session.
    const own = ["--outputTransport", "streamableHttp", "--stateful", "--port", String(port)];
    const command = upstreamCommand(upstream!)
      .map((word) => `'${word}'`)
      .join(" ");
    const args = [entry, ...own, "--logLevel", "none", "--stdio", command];
    const child = startChild({ command: node, args, home });
    return { child, connect: () => connectStreamableHttp(new URL(`http://127.0.0.1:${port}/mcp`)) };
  },
};

const mcpHub: Contender = {
  id: "mcp-hub",
  version: peerVersions()["mcp-hub"]!,
  kind: "peer",
  wire: "HTTP+SSE (legacy)",
  aggregates: true,
  separable: true,
  launch: async (home, upstreams) => {
    const port = await freePort();
    const config = join(home, "mcp-servers.json");
    const servers = upstreams.map((upstream) => {
      const [command, ...args] = upstreamCommand(upstream);
      return [upstream.id, { command, args }];
    });
    writeFileSync(config, JSON.stringify({ mcpServers: Object.fromEntries(servers) }));
    seedMarketplace(home);
    const entry = peerFile("mcp-hub", "dist/cli.js");
    const child = startChild({
      command: node,
      args: [entry, "--port", String(port), "--config", config],
      home,
    });
    return { child, connect: () => connectLegacySse(new URL(`http://127.0.0.1:${port}/mcp`)) };
  },
};

/** mcp-hub downloads a catalog before it serves; a fresh cache avoids that. */
function seedMarketplace(home: string): void {
  const folder = join(home, "mcp-hub", "cache");
  mkdirSync(folder, { recursive: true });
  const registry = { version: "1", generatedAt: 0, totalServers: 1, servers: [{ id: "echo", name: "echo" }] };
  const cache = { registry, lastFetchedAt: Date.now(), serverDocumentation: {} };
  writeFileSync(join(folder, "registry.json"), JSON.stringify(cache));
}

/** The folder of the installed command, which `writeInstalled` writes. */
export const installedFolder = join(root, "node_modules/.cache/toolcrib-bench");

/** All contenders, in the order of the rounds. */
export function allContenders(): readonly Contender[] {
  const manifest: { version: string } = JSON.parse(
    readFileSync(join(root, "packages/cli/package.json"), "utf8"),
  );
  const own = [
    toolcrib("toolcrib", `${manifest.version} (installed)`, join(installedFolder, "bin/toolcrib.js")),
    toolcrib(
      "toolcrib-checkout",
      `${manifest.version} (checkout)`,
      join(root, "packages/cli/bin/toolcrib.js"),
    ),
  ];
  return [direct, pipe, ...own, mcpProxy, supergateway, mcpHub];
}
