/**
 * The lower bound: the minimum of any HTTP → stdio gateway on Node. It reads the
 * body of a POST, gives the request a new id, writes it to the upstream's stdin and
 * responds with the returned line.
 *
 * It never checks, records, times out, streams or keeps sessions: it is a
 * baseline, not a gateway.
 *
 * Usage: node raw-pipe.mjs <command> [args...]; prints its URL on stdout.
 */

import { spawn } from "node:child_process";
import { createServer } from "node:http";

const [command, ...args] = process.argv.slice(2);
const upstream = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
let lastId = 0;

let rest = "";
upstream.stdout.setEncoding("utf8");
upstream.stdout.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const answer = JSON.parse(line);
    const waiter = waiting.get(answer.id);
    if (waiter === undefined) continue;
    waiting.delete(answer.id);
    answer.id = waiter.id;
    const body = JSON.stringify(answer);
    waiter.response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    });
    waiter.response.end(body);
  }
});

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk) => {
    body += chunk;
  });
  request.on("end", () => {
    const message = JSON.parse(body);
    if (message.id === undefined) {
      response.writeHead(202).end();
    } else {
      lastId += 1;
      waiting.set(lastId, { id: message.id, response });
      message.id = lastId;
    }
    upstream.stdin.write(`${JSON.stringify(message)}\n`);
  });
});

server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}/mcp`);
});

upstream.on("exit", () => process.exit(1));
process.on("SIGTERM", () => {
  upstream.removeAllListeners("exit");
  upstream.stdin.end();
  server.close();
  server.closeAllConnections();
});
