/**
 * The environment of each entry point: a service on a loopback address that may be
 * reached, sinks on the other addresses, a DNS server with hostile answers, and a manifest
 * and toolspec with one tool for each case.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { pathToFileURL } from "node:url";
import {
  benignNames,
  caseHost,
  caseHosts,
  createTestAuthority,
  type DnsCase,
  type DnsServer,
  dnsCases,
  endpointCases,
  hostCases,
  makeTemporaryDirectory,
  ownAddresses,
  redirectTargets,
  type Sinks,
  startDnsServer,
  startSinks,
  startTlsServer,
  type TemporaryDirectory,
  type TlsServer,
  watchedNetworkPath,
} from "@toolcrib/testing";

/** The environment of one entry point. */
export interface HostSetting extends AsyncDisposable {
  readonly directory: TemporaryDirectory;
  /** The service for `api.example.com` and each benign name. */
  readonly server: TlsServer;
  /** Its address, the only allowed one of this machine. */
  readonly address: string;
  readonly caFile: string;
  readonly sinks: Sinks;
  readonly dns: DnsServer;
  readonly dnsCases: readonly DnsCase[];
  /** Endpoints by host; benign hosts are routed to the service. */
  readonly connectTo: { readonly [host: string]: string };
  /** Environment variables of a process whose connections `attempts(entry)` returns. */
  watched(entry: string): { readonly [name: string]: string };
  /** Addresses and ports that processes of `entry` tried to connect to, each once. */
  attempts(entry: string): readonly string[];
}

/** Ports of the sinks: those of the cases, and common internal ones. */
const sinkPorts: readonly number[] = [
  ...new Set([
    ...[443, 80, 53, 2375, 9200, 11211],
    ...hostCases.flatMap(({ url, code }) =>
      code === "EGRESS_PORT_DENIED" ? [Number(new URL(url).port)] : [],
    ),
  ]),
];

/** Starts the sinks that all environments share. */
export async function startHostSinks(): Promise<Sinks> {
  const allowed = await allowedAddress();
  return await startSinks(
    ownAddresses().filter((one) => one !== allowed),
    sinkPorts,
  );
}

/** Starts the services of one entry point, in addition to `sinks`. */
export async function startHostSetting(sinks: Sinks): Promise<HostSetting> {
  const directory = await makeTemporaryDirectory();
  const address = await allowedAddress();
  const authority = createTestAuthority();
  const caFile = directory.join("ca.pem");
  writeFileSync(caFile, authority.certificate);
  const server = await startTlsServer({
    address,
    certificate: authority.sign({ hosts: [caseHost, ...benignNames] }),
    respond({ target }, response) {
      const at = /^\/redirect\?case=(\d+)$/.exec(target)?.[1];
      if (at === undefined) {
        response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
        return;
      }
      // Written to a raw socket, because an HTTP library would refuse to write some of them.
      const location = redirectTargets[Number(at)] ?? "";
      const head = `HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close\r\nLocation: ${location}\r\n\r\n`;
      response.socket?.end(head);
    },
  });
  const cases = dnsCases(address);
  const answers = new Map(cases.map((one) => [one.host, one.answers]));
  const dns = await startDnsServer((name, nth) => answers.get(name)?.[nth - 1] ?? answers.get(name)?.at(-1));
  const fileOf = (entry: string) => directory.join(`connections-${entry}`);
  return {
    directory,
    server,
    address,
    caFile,
    sinks,
    dns,
    dnsCases: cases,
    connectTo: Object.fromEntries([caseHost, ...benignNames].map((host) => [host, server.endpoint])),
    watched: (entry) => ({
      NODE_OPTIONS: `--import=${pathToFileURL(watchedNetworkPath)}`,
      TOOLCRIB_TEST_DNS: String(dns.port),
      TOOLCRIB_TEST_CONNECTIONS: fileOf(entry),
    }),
    attempts(entry) {
      const text = existsSync(fileOf(entry)) ? readFileSync(fileOf(entry), "utf8") : "";
      return [...new Set(text.split("\n").filter((line) => line !== ""))];
    },
    async [Symbol.asyncDispose]() {
      await dns[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

/** A loopback address that no case names; some systems have only one. */
async function allowedAddress(): Promise<string> {
  const probe = createServer();
  return await new Promise((resolve) => {
    probe.once("error", () => resolve("127.0.0.1"));
    probe.listen(0, "127.9.9.9", () => probe.close(() => resolve("127.9.9.9")));
  });
}

/** A tool of `writePair` for one case. */
export interface CaseTool {
  readonly name: string;
  readonly baseUrl: string;
}

/** Returns one tool for each of `hosts`, named `prefix_N`. */
export function toolsFor(prefix: string, hosts: readonly string[]): readonly CaseTool[] {
  return hosts.map((host, index) => ({ name: `${prefix}_${index}`, baseUrl: `https://${host}` }));
}

/** Hosts that the operator maps to other endpoints, by `endpointCases`. */
export const elsewhereHosts: readonly string[] = endpointCases.map(
  (_, index) => `to-${index}.wild.example.com`,
);

/** Writes a manifest and a toolspec (JSON is YAML) as `<folder>/0.1.0.yaml` and `<folder>/0.1.0.toolspec.yaml`. */
export function pairOf(
  tools: readonly CaseTool[],
  variables: readonly string[] = [],
): { readonly manifest: string; readonly toolspec: string } {
  const fixed = [
    {
      name: "get_item",
      description: "Get an item",
      method: "GET",
      path: "/items/{id}",
      params: [
        { name: "id", in: "path", type: "string", required: true },
        { name: "q", in: "query", type: "string" },
        { name: "X-Note", in: "header", type: "string" },
      ],
    },
    {
      name: "get_file",
      description: "Get a file",
      method: "GET",
      path: "/files/{+path}",
      params: [{ name: "path", in: "path", type: "string", required: true }],
    },
    {
      name: "add_item",
      description: "Add an item",
      method: "POST",
      path: "/items",
      params: [{ name: "text", in: "body", type: "string", required: true }],
    },
    {
      name: "redirect",
      description: "Be led elsewhere",
      method: "GET",
      path: "/redirect",
      params: [{ name: "case", in: "query", type: "integer", required: true }],
    },
  ];
  const all = [
    ...fixed,
    ...tools.map((one) => ({ ...one, description: "Get the root", method: "GET", path: "/" })),
  ];
  const manifest = {
    schemaVersion: 1,
    name: "hosts",
    version: "0.1.0",
    displayName: "Hosts",
    description: "A tool for every host",
    source: { repo: "github.com/example/hosts", tag: "v0.1.0" },
    image: {
      ref: "ghcr.io/example/hosts",
      digest: `sha256:${"0a".repeat(32)}`,
      entrypoint: "/app/server",
      builder: "toolpack",
    },
    tier: "sealed",
    entitlements: { egress: [...caseHosts, ...benignNames] },
    tools: all.map(({ name }) => ({ name, default: true })),
  };
  const toolspec = {
    schemaVersion: 2,
    name: "hosts",
    version: "0.1.0",
    baseUrl: `https://${caseHost}`,
    ...(variables.length === 0
      ? {}
      : { variables: Object.fromEntries(variables.map((name) => [name, { description: "A host" }])) }),
    tools: all,
  };
  return { manifest: JSON.stringify(manifest), toolspec: JSON.stringify(toolspec) };
}

/** Checks by TLS handshake and `Host` that every request to the service was for an allowed host. */
export function checkArrived(setting: HostSetting): void {
  const names: ReadonlySet<string | undefined> = new Set([caseHost, ...benignNames]);
  for (const { servername, headers, target } of setting.server.requests) {
    const hosts = headers.filter(([name]) => name.toLowerCase() === "host").map(([, value]) => value);
    assert.deepEqual(hosts, [servername], target);
    assert.ok(names.has(servername), target);
  }
}

/** Checks that no sink was reached, and that each sink records connections. */
export async function checkSinks(sinks: Sinks): Promise<void> {
  assert.ok(sinks.places.length + sinks.taken.length >= 20, String(sinks.places.length));
  assert.deepEqual(sinks.reached, []);
  for (const place of sinks.places) {
    const [host = "", port] = place.split(" ");
    const socket = connect({ host, port: Number(port) });
    socket.on("error", () => {});
    await once(socket, "close");
  }
  assert.deepEqual([...sinks.reached].sort(), [...sinks.places].sort());
}

/** Checks that `entry` only connects to the service, and to its own proxy if it has one. */
export function checkAttempts(
  setting: HostSetting,
  entry: string,
  { hasProxy = false, reaches = true }: { readonly hasProxy?: boolean; readonly reaches?: boolean } = {},
): void {
  const { address, server } = setting;
  const service = `${address} ${server.port}`;
  const attempts = setting.attempts(entry);
  // The recording itself works.
  if (reaches) assert.ok(attempts.includes(service), entry);
  // Names whose answers change first resolve to a port of the same address.
  const others = attempts.filter((one) => one !== service && one !== `${address} 443`);
  if (!hasProxy) assert.deepEqual(others, []);
  else assert.match(others.join(", "), /^127\.0\.0\.1 [0-9]+$/);
  const sinks = new Set([...setting.sinks.places, ...setting.sinks.taken]);
  assert.deepEqual(
    others.filter((one) => sinks.has(one)),
    [],
  );
}

/** Runs `act` for each of `items`, a few at a time. Returns the results in the order of the items. */
export async function forEachOf<T, R>(
  items: readonly T[],
  act: (item: T, index: number) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  const work = async () => {
    for (const [index, item] of waiting) results[index] = await act(item, index);
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return results;
}
