/**
 * Entry: a program that uses no Toolcrib code. It sends the cases of a file, byte by
 * byte, to the proxy that its environment names, and prints the outcomes as JSON.
 *
 *     node foreign-client.ts CASES.json
 */

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { ForeignCase, ForeignOutcome } from "./foreign-cases.ts";

const proxy = new URL(process.env["HTTPS_PROXY"] ?? "");
const ca = readFileSync(process.env["NODE_EXTRA_CA_CERTS"] ?? "", "utf8");
const silentMs = 30_000;

const cases = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as readonly ForeignCase[];
const outcomes: ForeignOutcome[] = [];
const waiting = cases.entries();
await Promise.all(
  Array.from({ length: 8 }, async () => {
    for (const [index, one] of waiting) outcomes[index] = await run(one).catch(() => "closed" as const);
  }),
);
process.stdout.write(JSON.stringify(outcomes));

async function run(one: ForeignCase): Promise<ForeignOutcome> {
  const socket = connect(Number(proxy.port), proxy.hostname);
  socket.on("error", () => {});
  socket.setTimeout(silentMs, () => socket.destroy());
  try {
    if (one.kind === "raw") {
      socket.write(Buffer.from(one.bytes, "base64"));
      return await readStatus(socket);
    }
    socket.write(`CONNECT ${one.authority} HTTP/1.1\r\nHost: ${one.authority}\r\n\r\n`);
    const status = await readStatus(socket);
    if (status !== 200) return `CONNECT ${status}`;
    if (one.kind === "hello") {
      socket.write(clientHello(Buffer.from(one.serverName, "base64")));
      const answer = await readSome(socket);
      // A handshake continues with a record of type 22; 21 is an alert.
      return answer?.[0] === 22 ? "accepted" : "closed";
    }
    const inside = connectTls({
      socket,
      servername: one.serverName,
      ca,
      ALPNProtocols: [one.kind === "http2" ? "h2" : "http/1.1"],
    });
    inside.on("error", () => {});
    await Promise.race([
      once(inside, "secureConnect"),
      once(inside, "close").then(() => Promise.reject(new Error("refused"))),
    ]);
    if (one.kind === "http2") return await sendHttp2(inside, one.headers);
    inside.write(Buffer.from(one.bytes, "base64"));
    return await readStatus(inside);
  } finally {
    socket.destroy();
  }
}

/** Returns the next bytes; `undefined` at the end. */
async function readSome(socket: Socket): Promise<Buffer | undefined> {
  for (;;) {
    const piece: Buffer | null = socket.read();
    if (piece !== null) return piece;
    if (socket.readableEnded || socket.destroyed) return undefined;
    await Promise.race([once(socket, "readable"), once(socket, "end"), once(socket, "close")]);
  }
}

/** Reads the head of the next response, and returns its status. */
async function readStatus(socket: Socket): Promise<ForeignOutcome> {
  let text = "";
  for (;;) {
    const piece = await readSome(socket);
    if (piece === undefined) return "closed";
    text += piece.toString("latin1");
    const status = /^HTTP\/1\.[01] (\d{3})[\s\S]*?\r\n\r\n/.exec(text)?.[1];
    if (status !== undefined) return Number(status);
  }
}

/** Sends one HTTP/2 request. Returns "reset" if Node does not send it or the peer resets the stream. */
async function sendHttp2(
  inside: TLSSocket,
  headers: { readonly [name: string]: string },
): Promise<ForeignOutcome> {
  const session = connectHttp2("https://api.example.com", { createConnection: () => inside });
  session.on("error", () => {});
  try {
    const stream = session.request({ ...headers });
    stream.on("error", () => {});
    const [head] = await Promise.race([
      once(stream, "response"),
      once(stream, "close").then(() => [{ ":status": 0 }]),
    ]);
    return head[":status"] === 0 ? "reset" : Number(head[":status"]);
  } catch {
    return "reset";
  } finally {
    session.destroy();
  }
}

/** Returns a ClientHello of TLS 1.2 for any server name (RFC 5246, RFC 6066), including names that no library would send. */
function clientHello(name: Buffer): Buffer {
  const entry = Buffer.concat([Buffer.from([0]), sized(name, 2)]);
  const extensions = Buffer.concat([
    extension(0, sized(entry, 2)),
    extension(10, Buffer.from("0004001d0017", "hex")),
    extension(11, Buffer.from("0100", "hex")),
    extension(13, Buffer.from("0006040308040401", "hex")),
  ]);
  const hello = Buffer.concat([
    Buffer.from("0303", "hex"),
    randomBytes(32),
    sized(Buffer.alloc(0), 1),
    sized(Buffer.from("c02bc02cc02fcca9", "hex"), 2),
    Buffer.from("0100", "hex"),
    sized(extensions, 2),
  ]);
  const message = Buffer.concat([Buffer.from([1]), sized(hello, 3)]);
  return Buffer.concat([Buffer.from("160301", "hex"), sized(message, 2)]);
}

function extension(type: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0, type]), sized(content, 2)]);
}

/** Returns `content` after its length in `width` bytes. */
function sized(content: Buffer, width: number): Buffer {
  const length = Buffer.alloc(width);
  length.writeUIntBE(content.length, 0, width);
  return Buffer.concat([length, content]);
}
