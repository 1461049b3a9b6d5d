/**
 * Entry: the echo server on stdin and stdout. It uses no SDK and few modules, so
 * that it starts fast, responds fast, and can misbehave. It ends when stdin ends.
 *
 *     node packages/testing/src/echo-stdio.ts [--protocol 2024-11-05] [--tools 250] [--die] …
 *
 * In addition to the flags of `EchoOptions`: `--die` exits at once with code 3,
 * `--die-after N` exits with code 4 after N messages, `--start-delay MS` waits
 * before it reads, `--start-when FILE` waits until the file exists, `--start-log FILE`
 * appends its pid to a file, and `--stubborn` ignores SIGTERM, SIGINT and the end of stdin (it exits by itself
 * after ten minutes).
 */

import { appendFileSync, closeSync, existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { EchoConnection, type Outlet } from "./echo/echo-connection.ts";
import { parseEchoFlags, toEchoOptions } from "./echo/echo-options.ts";
import { EchoServer } from "./echo/echo-server.ts";
import { failureOf, isJsonObject, type JsonRpcMessage, RpcFailure } from "./echo/json-rpc.ts";

/** Milliseconds after which a stubborn server exits by itself. */
const stubbornLifetimeMs = 600_000;

const flags = parseEchoFlags(process.argv.slice(2), {
  die: { type: "boolean" },
  "die-after": { type: "string" },
  "start-delay": { type: "string" },
  "start-log": { type: "string" },
  "start-when": { type: "string" },
  stubborn: { type: "boolean" },
});

if (flags["start-log"] !== undefined) appendFileSync(flags["start-log"], `${process.pid}\n`);
if (flags.die === true) {
  process.stderr.write("dying on purpose\n");
  process.exit(3);
}
if (flags.stubborn === true) {
  process.on("SIGTERM", () => {}).on("SIGINT", () => {});
  setTimeout(() => process.exit(5), stubbornLifetimeMs);
}
if (flags["start-delay"] !== undefined) await delay(Number(flags["start-delay"]));
if (flags["start-when"] !== undefined) while (!existsSync(flags["start-when"])) await delay(20);

const server = new EchoServer(
  { env: process.env, crash: (code) => process.exit(code), children: new Set() },
  toEchoOptions(flags),
);
const connection = new EchoConnection(server, createOutlet());
const dieAfter = Number(flags["die-after"] ?? Number.POSITIVE_INFINITY);
let lineCount = 0;

const parts: string[] = [];
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk: string) => {
  let start = 0;
  for (let end = chunk.indexOf("\n"); end !== -1; end = chunk.indexOf("\n", start)) {
    parts.push(chunk.slice(start, end));
    receiveLine(parts.length === 1 ? parts[0]! : parts.join(""));
    parts.length = 0;
    start = end + 1;
  }
  if (start < chunk.length) parts.push(chunk.slice(start));
});
process.stdin.on("end", () => {
  if (flags.stubborn === true) return;
  connection.close();
  process.exit(0);
});

function receiveLine(line: string): void {
  if (line.trim() === "") return;
  lineCount += 1;
  if (lineCount > dieAfter) process.exit(4);
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    write(JSON.stringify(failureOf(null, new RpcFailure(-32700, "Parse error"))));
    return;
  }
  if (isJsonObject(message)) connection.receive(message as unknown as JsonRpcMessage);
  else write(JSON.stringify(failureOf(null, new RpcFailure(-32600, "Invalid request"))));
}

function createOutlet(): Outlet {
  return {
    send: (message) => write(JSON.stringify(message)),
    writeText: (text) => write(text),
    breakOff() {
      // Destroying process.stdout leaves its descriptor open, so the client would not notice it.
      isBroken = true;
      closeSync(1);
    },
    expireSession: () => {},
  };
}

let pending = "";
let isBroken = false;

/** Sends all lines of one turn of the event loop in one write. */
function write(line: string): void {
  if (pending === "") queueMicrotask(flush);
  pending += `${line}\n`;
}

function flush(): void {
  const lines = pending;
  pending = "";
  if (isBroken) return;
  process.stdout.write(lines);
}
