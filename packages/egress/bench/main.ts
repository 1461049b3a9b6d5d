/**
 * `npm run bench -w packages/egress`: compares `egress.fetch` with plain undici
 * in one run, with one server in its own process. Prints a table; complete runs
 * also write packages/egress/bench/RESULTS.md. `--quick` tests that it works.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createEgress, createPlaceholder, type Egress, type EgressSource } from "@toolcrib/egress";
import { parseHostPattern } from "@toolcrib/hosts";
import { Pool } from "undici";
import { describeMachine } from "../../../bench/machine.ts";
import { median, percentile } from "../../../bench/statistics.ts";
import { type Table, toMarkdown } from "../../../bench/table.ts";

const host = "api.example.com";
const url = `https://${host}`;
const secret = "sk_live_4eC39HqLyjWDarjtT1zdp7dc";

/** One way to send a request; returns the length of the body. */
interface Contender {
  readonly name: string;
  readonly ask: (path: string) => Promise<number>;
}

interface Started {
  readonly child: ChildProcess;
  readonly endpoint: string;
  readonly certificate: string;
}

async function startServer(): Promise<Started> {
  const script = join(import.meta.dirname, "server.ts");
  const child = spawn(process.execPath, ["--conditions=toolcrib-source", script], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const { endpoint, certificate }: { endpoint: string; certificate: string } = JSON.parse(line);
  return { child, endpoint, certificate };
}

function plainUndici({ endpoint, certificate }: Started): { pool: Pool; contender: Contender } {
  const [address = "", port = ""] = endpoint.split(":");
  const pool = new Pool(`https://${host}:${port}`, {
    connections: 16,
    allowH2: false,
    connect: {
      ca: certificate,
      servername: host,
      lookup: (_, __, callback) => callback(null, [{ address, family: isIP(address) }]),
    },
  });
  const headers = { authorization: `Bearer ${secret}` };
  const ask = async (path: string): Promise<number> => {
    const { body } = await pool.request({ path, method: "GET", headers });
    return (await body.arrayBuffer()).byteLength;
  };
  return { pool, contender: { name: "undici", ask } };
}

function throughEgress(egress: Egress, hasCredential: boolean): Contender {
  const pattern = parseHostPattern(host);
  if (pattern.kind === "invalid") throw new Error(pattern.reason);
  const placeholder = createPlaceholder(randomBytes);
  const place = { kind: "header", name: "Authorization", format: "Bearer {token}" } as const;
  const credential = { id: "token", place, placeholder, secretName: "token", read: () => secret };
  const source: EgressSource = {
    id: hasCredential ? "credential" : "plain",
    allow: [pattern.value],
    credentials: hasCredential ? [credential] : [],
  };
  const headers: { readonly [name: string]: string } = hasCredential
    ? { Authorization: `Bearer ${placeholder}` }
    : {};
  return {
    name: hasCredential ? "egress.fetch with a credential" : "egress.fetch without",
    ask: async (path) => (await egress.fetch({ method: "GET", url: url + path, headers }, source)).totalBytes,
  };
}

async function measure(contender: Contender, path: string, calls: number): Promise<number[]> {
  const times: number[] = [];
  for (let call = 0; call < calls; call += 1) {
    const start = performance.now();
    await contender.ask(path);
    times.push(performance.now() - start);
  }
  return times;
}

async function compare(contenders: readonly Contender[], path: string, plan: Plan): Promise<string[][]> {
  const sizes = new Set<number>();
  for (const contender of contenders) {
    await measure(contender, path, plan.warmUp);
    sizes.add(await contender.ask(path));
  }
  if (sizes.size !== 1) throw new Error(`The bodies of ${path} differ: ${[...sizes].join(", ")}`);
  const times = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]));
  for (let round = 0; round < plan.rounds; round += 1) {
    for (const contender of contenders) {
      const measured = await measure(contender, path, plan.calls);
      times.get(contender)?.push(...measured);
    }
  }
  const plain = median(times.get(contenders[0] as Contender) ?? []);
  const ms = (value: number): string => `${value.toFixed(3)} ms`;
  return contenders.map((contender) => {
    const sorted = (times.get(contender) ?? []).toSorted((a, b) => a - b);
    const middle = median(sorted);
    const size = `${path.slice(1)} kB`;
    return [contender.name, size, ms(middle), ms(percentile(sorted, 0.95)), ms(middle - plain)];
  });
}

interface Plan {
  readonly warmUp: number;
  readonly rounds: number;
  readonly calls: number;
}

const isQuick = process.argv.includes("--quick");
const plan: Plan = isQuick ? { warmUp: 50, rounds: 2, calls: 50 } : { warmUp: 1000, rounds: 10, calls: 300 };
const server = await startServer();
const { pool, contender } = plainUndici(server);
const egress = createEgress(
  {
    internalRanges: ["127.0.0.0/8"],
    connectTo: { [host]: server.endpoint },
    caCertificates: [server.certificate],
  },
  { directory: "/nowhere", now: Date.now, randomBytes, onEvent: () => {} },
);
try {
  const contenders = [contender, throughEgress(egress, false), throughEgress(egress, true)];
  const rows = [...(await compare(contenders, "/1", plan)), ...(await compare(contenders, "/100", plan))];
  const table: Table = {
    title: "A call to a host on the same machine",
    columns: ["way", "body", "median", "95 of 100", "over undici"],
    rows,
    notes: [
      `${plan.rounds} rounds of ${plan.calls} calls, one after the other, in turns; connections are reused. Goal: at most 0.2 ms more than undici.`,
    ],
  };
  const text = `# Cost of the egress\n\n${describeMachine(new Date())}\n\n${toMarkdown(table)}`;
  process.stdout.write(text);
  if (!isQuick) writeFileSync(join(import.meta.dirname, "RESULTS.md"), text);
} finally {
  await egress[Symbol.asyncDispose]();
  await pool.destroy();
  server.child.stdin?.end();
  await once(server.child, "exit");
}
