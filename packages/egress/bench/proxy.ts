/**
 * `npm run bench:proxy -w packages/egress`: compares the proxy with direct
 * TLS and with http-mitm-proxy, in one run. Origin, proxies and
 * client are processes of their own. Prints tables; whole runs also write
 * packages/egress/bench/RESULTS-PROXY.md. `--quick` asks whether it works.
 */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request as requestHttp1 } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { describeMachine } from "../../../bench/machine.ts";
import { median, percentile } from "../../../bench/statistics.ts";
import { type Table, toMarkdown } from "../../../bench/table.ts";

const host = "api.example.com";
const megabyte = 1_000_000;

/** One way to reach the origin. */
interface Contender {
  readonly name: string;
  readonly connect: (protocol: string) => Promise<TLSSocket>;
  readonly headers: { readonly [name: string]: string };
}

/** A connection for repeated requests. */
interface KeptConnection {
  ask(path: string): Promise<number>;
  close(): void;
}

async function startChild<T>(
  script: string,
  args: readonly string[],
): Promise<{ child: ChildProcess; message: T }> {
  const child = fork(join(import.meta.dirname, script), [...args], {
    execArgv: ["--conditions=toolcrib-source", "--expose-gc"],
    // http-mitm-proxy says what it does on standard output.
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const [message] = (await once(child, "message")) as [T];
  return { child, message };
}

async function openTunnel(url: string): Promise<Socket> {
  const socket = connectTcp(Number(new URL(url).port), "127.0.0.1");
  socket.setNoDelay(true);
  socket.write(`CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}:443\r\n\r\n`);
  let answer = "";
  // It may come in pieces.
  while (!answer.endsWith("\r\n\r\n")) answer += (await once(socket, "data"))[0];
  if (!answer.startsWith("HTTP/1.1 200")) throw new Error(answer);
  return socket;
}

async function secure(socket: Socket, ca: string, protocol: string): Promise<TLSSocket> {
  const inside = connectTls({ socket, servername: host, ca, ALPNProtocols: [protocol] });
  await once(inside, "secureConnect");
  return inside;
}

async function drain(body: Readable): Promise<number> {
  let length = 0;
  body.on("data", (piece: Buffer) => {
    length += piece.length;
  });
  await once(body, "end");
  return length;
}

async function openHttp1({ connect, headers }: Contender): Promise<KeptConnection> {
  const connection = await connect("http/1.1");
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = () => connection;
  return {
    async ask(path) {
      const sent = requestHttp1({ agent, host, path, headers: { host, ...headers } });
      sent.end();
      const [response] = (await once(sent, "response")) as [Readable & { statusCode: number }];
      if (response.statusCode !== 200) throw new Error(String(response.statusCode));
      return await drain(response);
    },
    close: () => agent.destroy(),
  };
}

async function openHttp2({ connect, headers }: Contender): Promise<KeptConnection> {
  const connection = await connect("h2");
  const session = connectHttp2(`https://${host}`, {
    createConnection: () => connection,
    settings: { initialWindowSize: 1 << 20 },
  });
  await once(session, "connect");
  session.setLocalWindowSize(2 << 20);
  return {
    async ask(path) {
      const stream = session.request({ ":path": path, ...headers });
      return await drain(stream);
    },
    close: () => session.destroy(),
  };
}

interface Plan {
  readonly rounds: number;
  readonly calls: number;
  readonly bytes: number;
}

/** Milliseconds of small requests, and megabytes a second of large ones, in turns. */
async function compare(
  contenders: readonly Contender[],
  open: (one: Contender) => Promise<KeptConnection>,
  plan: Plan,
) {
  const times = contenders.map((): number[] => []);
  const rates = contenders.map((): number[] => []);
  // The first round warms up.
  for (let round = 0; round <= plan.rounds; round += 1) {
    for (const [index, contender] of contenders.entries()) {
      // Each turn opens a connection: an idle one could have been closed.
      const connection = await open(contender);
      const own: number[] = [];
      for (let call = 0; call < plan.calls; call += 1) {
        const start = performance.now();
        await connection.ask("/1000");
        own.push(performance.now() - start);
      }
      const start = performance.now();
      const length = await connection.ask(`/${plan.bytes}`);
      const seconds = (performance.now() - start) / 1000;
      connection.close();
      if (length !== plan.bytes) throw new Error(`${length} bytes in place of ${plan.bytes}`);
      if (round === 0) continue;
      times[index]?.push(...own);
      rates[index]?.push(plan.bytes / megabyte / seconds);
    }
  }
  const direct = median(times[0] ?? []);
  return contenders.map(({ name }, index) => {
    const sorted = (times[index] ?? []).toSorted((a, b) => a - b);
    const own = rates[index] ?? [];
    // The speed of the machine varies, so measurements of the same round are compared.
    const ratios = own.map((rate, round) => rate / (rates[0]?.[round] ?? Number.NaN));
    return [
      name,
      `${median(sorted).toFixed(3)} ms`,
      `${percentile(sorted, 0.95).toFixed(3)} ms`,
      `${(median(sorted) - direct).toFixed(3)} ms`,
      `${median(own).toFixed(0)} MB/s`,
      median(ratios).toFixed(2),
    ];
  });
}

/** Measures the growth of memory of the proxy process, in megabytes, during a transfer of `bytes`. */
async function measureMemory(child: ChildProcess, contender: Contender, bytes: number): Promise<string[]> {
  const askMemory = async (): Promise<number> => {
    const answer = once(child, "message") as Promise<[{ rss: number }]>;
    child.send("memory");
    return (await answer)[0].rss;
  };
  const connection = await openHttp1(contender);
  await connection.ask(`/${bytes / 10}`);
  const before = await askMemory();
  let isOver = false;
  let most = before;
  const asked = connection.ask(`/${bytes}`).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    most = Math.max(most, await askMemory());
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  await asked;
  connection.close();
  const show = (value: number) => `${(value / megabyte).toFixed(1)} MB`;
  return [contender.name, show(before), show(most), show(most - before)];
}

const isQuick = process.argv.includes("--quick");
const plan: Plan = isQuick
  ? { rounds: 2, calls: 50, bytes: 20 * megabyte }
  : { rounds: 15, calls: 200, bytes: 100 * megabyte };
const directory = mkdtempSync(join(tmpdir(), "toolcrib-bench-"));
const origin = await startChild<{ port: number; certificate: string }>("proxy-origin.ts", []);
const { port, certificate } = origin.message;
const args = (name: string) => [String(port), certificate, join(directory, name)];
const ours = await startChild<{ plain: string; scrubbed: string; placeholder: string; caFile: string }>(
  "proxy-ours.ts",
  args("ours"),
);
const peer = await startChild<{ url: string; caFile: string }>("proxy-peer.ts", args("peer"));
try {
  const { plain, scrubbed, placeholder, caFile } = ours.message;
  const through = (url: string, file: string) => async (protocol: string) =>
    secure(await openTunnel(url), readFileSync(file, "utf8"), protocol);
  const direct: Contender = {
    name: "direct",
    headers: {},
    connect: (protocol) => secure(connectTcp(port, "127.0.0.1").setNoDelay(true), certificate, protocol),
  };
  const own: Contender = { name: "proxy", headers: {}, connect: through(plain, caFile) };
  const scrubbing: Contender = {
    name: "proxy, secret inserted and scrubbed",
    headers: { authorization: `Bearer ${placeholder}` },
    connect: through(scrubbed, caFile),
  };
  const other: Contender = {
    name: "http-mitm-proxy",
    headers: {},
    connect: through(peer.message.url, peer.message.caFile),
  };
  const columns = ["way", "median of 1 kB", "95 of 100", "over direct", "100 MB", "of direct"];
  const notes = [
    `${plan.rounds} rounds of ${plan.calls} small requests and one large one, in turns, over one connection for each turn; "of direct" is the median of the rounds. Goal: at most 1 ms, and 0.6 of direct.`,
  ];
  const tables: Table[] = [
    {
      title: "HTTP/1.1",
      columns,
      rows: await compare([direct, own, scrubbing, other], openHttp1, plan),
      notes,
    },
    {
      title: "HTTP/2",
      columns,
      rows: await compare([direct, own, scrubbing], openHttp2, plan),
      notes: ["http-mitm-proxy does not support HTTP/2."],
    },
    {
      title: `Memory of the proxy's process while ${isQuick ? "50 MB" : "1 GB"} goes through`,
      columns: ["way", "before", "most", "more"],
      rows: [
        await measureMemory(ours.child, own, isQuick ? 50 * megabyte : 1000 * megabyte),
        await measureMemory(ours.child, scrubbing, isQuick ? 50 * megabyte : 1000 * megabyte),
      ],
      notes: ["Measured four times a second, after a garbage collection each time."],
    },
  ];
  const text = `# Cost of the egress proxy\n\n${describeMachine(new Date())}\n\n${tables.map(toMarkdown).join("\n\n")}\n`;
  process.stdout.write(`${text}\n`);
  if (!isQuick) writeFileSync(join(import.meta.dirname, "RESULTS-PROXY.md"), text);
} finally {
  for (const { child } of [origin, ours, peer]) child.disconnect();
  rmSync(directory, { recursive: true, force: true });
}
