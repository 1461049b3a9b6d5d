/**
 * The standalone engine, `toolcrib toolpack`, on standard input and output: directly,
 * under `toolcrib egress`, and with a proxy that opens every tunnel, so that only the
 * engine itself can refuse a request.
 */

import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { benignNames, hostTexts } from "@toolcrib/testing";
import { cleanEnvironment, commandLine } from "../../transcript.ts";
import { egressArguments } from "./egress-entry.ts";
import { type HostSetting, pairOf, toolsFor } from "./host-setting.ts";
import { type CallTool, callsOf } from "./tool-calls.ts";

/** A running engine, and calls of its tools. */
export interface EngineEntry extends AsyncDisposable {
  readonly call: CallTool;
}

/** Options of an engine. */
export interface EnginePlace {
  /** The name of the entry point in `attempts`. */
  readonly entry: string;
  /** Whether it runs under `toolcrib egress`. */
  readonly isBehindEgress?: boolean;
  readonly env?: { readonly [name: string]: string };
  /** Hosts of the tools `text_N`, from variables. @default none */
  readonly texts?: readonly string[];
}

/** Texts that a command line argument can contain. */
export const variableTexts: readonly string[] = hostTexts.filter(
  (text) => !text.includes("\0") && text.length < 10_000,
);

/** Maximum number of variables of a toolspec. */
const variablesMaxCount = 20;

/** Splits `texts` into groups that fit into one engine each. */
export function batchesOf(texts: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(texts.length / variablesMaxCount);
  return Array.from({ length: count }, (_, at) =>
    texts.slice(at * variablesMaxCount, (at + 1) * variablesMaxCount),
  );
}

let opened = 0;

/** Starts the engine. */
export async function openEngineEntry(setting: HostSetting, place: EnginePlace): Promise<EngineEntry> {
  const { entry, isBehindEgress = false, env, texts = [] } = place;
  const { directory } = setting;
  const variables = texts.map((_, index) => `v${index}`);
  const { manifest, toolspec } = pairOf(
    [
      ...toolsFor(
        "dns",
        setting.dnsCases.map(({ host }) => host),
      ),
      ...toolsFor("benign", benignNames),
      ...toolsFor(
        "text",
        variables.map((name) => `{${name}}`),
      ),
    ],
    variables,
  );
  opened += 1;
  const folder = directory.join(`engine-${opened}`);
  mkdirSync(folder);
  const files = [`${folder}/manifest.yaml`, `${folder}/toolspec.yaml`] as const;
  writeFileSync(files[0], manifest);
  writeFileSync(files[1], toolspec);
  const engine = [
    ...[...commandLine, "toolpack", "--manifest", files[0], "--toolspec", files[1]],
    ...texts.flatMap((text, index) => ["--variable", `v${index}=${text}`]),
  ];
  const behind = [...commandLine, ...egressArguments(setting, entry), process.execPath, ...engine];
  const environment = { ...cleanEnvironment(directory.path), ...setting.watched(entry), ...env };
  const client = new Client({ name: "hosts", version: "1" });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: isBehindEgress ? behind : engine,
      cwd: directory.path,
      env: Object.fromEntries(
        Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      ),
      stderr: "ignore",
    }),
  );
  return { call: callsOf(client), [Symbol.asyncDispose]: () => client.close() };
}

/** A proxy on loopback that opens every requested tunnel. */
export interface OpenProxy extends AsyncDisposable {
  readonly url: string;
  /** Its address and port, as in `attempts`. */
  readonly place: string;
  /** The authorities of the CONNECT requests, each once. */
  readonly asked: ReadonlySet<string>;
}

/** Starts the proxy. */
export async function startOpenProxy({ server, address, connectTo }: HostSetting): Promise<OpenProxy> {
  const asked = new Set<string>();
  const sockets = new Set<Socket>();
  const proxy = createServer();
  proxy.on("connect", (request, client) => {
    const authority = request.url ?? "";
    asked.add(authority);
    const [, host = "", port] = /^\[?(.*?)\]?:(\d+)$/.exec(authority) ?? [];
    const isService = Object.hasOwn(connectTo, host);
    const upstream = connect(isService ? server.port : Number(port), isService ? address : host, () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      client.pipe(upstream).pipe(client);
    });
    for (const socket of [client as Socket, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {
        client.destroy();
        upstream.destroy();
      });
      socket.on("close", () => sockets.delete(socket));
    }
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    place: `127.0.0.1 ${port}`,
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => proxy.close(() => resolve()));
    },
  };
}
