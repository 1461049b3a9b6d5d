/** `toolcrib bridge`: requests of a client while its session is opened again, at a gateway that lost it. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { startFakeControl } from "./bridge-harness.ts";
import { cleanEnvironment, commandLine } from "./transcript.ts";

interface Rpc {
  readonly id?: number | string;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** A gateway that answers lists within its one session only. @param onInitialize called before it opens another session */
async function startLosingGateway(onInitialize: (count: number) => Promise<void>) {
  const sessions: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.once("end", async () => {
      if (request.method !== "POST") return void response.writeHead(405).end();
      const { id, method } = JSON.parse(body) as Rpc;
      const answer = (result: object, headers = {}) =>
        response
          .writeHead(200, { "content-type": "application/json", ...headers })
          .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      if (method === "initialize") {
        const session = `s${sessions.length + 1}`;
        sessions.push(session);
        await onInitialize(sessions.length);
        const result = {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "g", version: "1" },
        };
        return void answer(result, { "mcp-session-id": session });
      }
      const session = request.headers["mcp-session-id"];
      if (session === undefined) return void response.writeHead(400).end("no session");
      if (session !== `s${sessions.length}` || isLost) return void response.writeHead(404).end("unknown");
      if (id === undefined) return void response.writeHead(202).end();
      answer({ tools: [] });
    });
  });
  let isLost = false;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sessions,
    lose(is: boolean) {
      isLost = is;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

test("a request that arrives while the session is opened again waits for it", async () => {
  await using directory = await makeTemporaryDirectory();
  const reopening = Promise.withResolvers<void>();
  const proceed = Promise.withResolvers<void>();
  await using gateway = await startLosingGateway(async (count) => {
    if (count !== 2) return;
    gateway.lose(false);
    reopening.resolve();
    await proceed.promise;
  });
  mkdirSync(directory.join(".toolcrib/run"), { recursive: true, mode: 0o700 });
  using control = await startFakeControl();
  const run = {
    pid: process.pid,
    url: gateway.url,
    controlPath: control.path,
    startedAt: "",
    version: "1",
    auth: "none",
    configFiles: [],
  };
  writeFileSync(directory.join(`.toolcrib/run/gateway-${process.pid}.json`), JSON.stringify(run), {
    mode: 0o600,
  });
  using child = spawn(process.execPath, [...commandLine, "bridge"], {
    cwd: directory.path,
    env: cleanEnvironment(directory.path),
    stdio: ["pipe", "pipe", "inherit"],
  });
  const answers = new Map<unknown, PromiseWithResolvers<Rpc>>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as Rpc;
    answers.get(message.id)?.resolve(message);
  });
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const request = (id: number, method: string, params = {}) => {
    const answer = Promise.withResolvers<Rpc>();
    answers.set(id, answer);
    send({ id, method, params });
    return answer.promise;
  };
  const clientInfo = { name: "c", version: "1" };
  await request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  send({ method: "notifications/initialized" });
  assert.deepEqual((await request(2, "tools/list")).result, { tools: [] });
  gateway.lose(true);
  const first = request(3, "tools/list");
  await reopening.promise;
  const second = request(4, "tools/list");
  // Time in which it would reach the gateway without a session.
  await Promise.race([second, new Promise((resolve) => setTimeout(resolve, 100))]);
  proceed.resolve();
  for (const { result, error } of await Promise.all([first, second])) {
    assert.deepEqual([result, error], [{ tools: [] }, undefined]);
  }
  assert.equal(gateway.sessions.length, 2);
  child.stdin.end();
  assert.deepEqual(await once(child, "exit"), [0, null]);
});
