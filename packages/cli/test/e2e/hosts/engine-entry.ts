/**
 * The stand-alone engine, `toolcrib toolpack`, on standard input and output: by
 * itself, behind `toolcrib egress`, and behind a proxy that lets everything
 * through, where only the engine itself is in the way.
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

/** An engine, and calls of its tools. */
export interface EngineEntry extends AsyncDisposable {
  readonly call: CallTool;
}

/** Where the engine stands. */
export interface EnginePlace {
  /** Its name in `attempts`. */
  readonly entry: string;
  /** Whether it is a program behind `toolcrib egress`. */
  readonly isBehindEgress?: boolean;
  readonly env?: { readonly [name: string]: string };
  /** Hosts of the tools `text_N`, by variables. @default none */
  readonly texts?: readonly string[];
}

/** Texts that an argument of a program can hold. */
export const variableTexts: readonly string[] = hostTexts.filter(
  (text) => !text.includes("\0") && text.length < 10_000,
);

/** Most variables of a toolspec. */
const variablesMaxCount = 20;

/** `texts` as far as one engine takes them. */
export function batchesOf(texts: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(texts.length / variablesMaxCount);
  return Array.from({ length: count }, (_, at) =>
    texts.slice(at * variablesMaxCount, (at + 1) * variablesMaxCount),
  );
}

let opened = 0;

/** Start it. */
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

/** A proxy that opens every requested tunnel, on this machine only. */
export interface OpenProxy extends AsyncDisposable {
  readonly url: string;
  /** Its place, as in `attempts`. */
  readonly place: string;
  /** What CONNECT asked for, each once. */
  readonly asked: ReadonlySet<string>;
}

/** Start it. */
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
