/** A bridge as a process whose client writes raw messages, and a gateway that answers as a test says. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { cleanEnvironment, commandLine } from "./transcript.ts";

/** A JSON-RPC message. */
export interface Rpc {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: { readonly [name: string]: unknown };
  readonly result?: { readonly [name: string]: unknown };
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: { readonly code?: string };
  };
}

/** A message that the gateway received. */
export interface Received extends Rpc {
  readonly headers: IncomingHttpHeaders;
  readonly response: ServerResponse;
  /** Answers it as JSON. */
  answer(result: object, headers?: { readonly [name: string]: string }): void;
  /** Answers it with an error of JSON-RPC. */
  refuse(status: number, error: object, headers?: { readonly [name: string]: string }): void;
}

/** Starts a gateway that accepts notifications, opens sessions, and leaves all else to `handle`. */
export async function startFakeGateway(handle: (message: Received) => void) {
  const received: Received[] = [];
  let endedCount = 0;
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.once("end", () => {
      if (request.method === "DELETE") endedCount += 1;
      if (request.method !== "POST")
        return void response.writeHead(request.method === "GET" ? 405 : 200).end();
      const rpc = JSON.parse(body) as Rpc;
      const { id, method } = rpc;
      const send = (status: number, content: object, headers = {}) =>
        response
          .writeHead(status, { "content-type": "application/json", ...headers })
          .end(JSON.stringify({ jsonrpc: "2.0", id, ...content }));
      const message: Received = {
        ...rpc,
        headers: request.headers,
        response,
        answer: (result, headers) => void send(200, { result }, headers),
        refuse: (status, error, headers) => void send(status, { error }, headers),
      };
      received.push(message);
      if (id === undefined || method === undefined) return void response.writeHead(202).end();
      if (method !== "initialize") return handle(message);
      const serverInfo = { name: "g", version: "1" };
      const result = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
      message.answer(result, { "mcp-session-id": "s1" });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const control = await startFakeControl();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    /** Number of sessions that were ended. */
    get endedCount() {
      return endedCount;
    },
    /** Writes a run file, so that bridges of the home use this gateway. */
    announce(directory: string, version = "0.1.0", auth = "none") {
      const folder = `${directory}/.toolcrib/run`;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const { pid } = process;
      const controlPath = control.path;
      const run = { pid, url: this.url, controlPath, startedAt: "", version, auth, configFiles: [] };
      writeFileSync(`${folder}/gateway-${pid}.json`, JSON.stringify(run), { mode: 0o600 });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      control[Symbol.dispose]();
    },
  };
}

/** Opens a control socket that only accepts connections, by which a bridge knows that a gateway runs. */
export async function startFakeControl(): Promise<Disposable & { readonly path: string }> {
  const folder = mkdtempSync(join(tmpdir(), "toolcrib-control-"));
  const path = join(folder, "c.sock");
  const server = createSocketServer((socket) => socket.on("error", () => {}).destroy());
  server.listen(path);
  await once(server, "listening");
  return {
    path,
    [Symbol.dispose]() {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a bridge. */
export function startBridge(directory: string, ...words: readonly string[]) {
  const child = spawn(process.execPath, [...commandLine, "bridge", ...words], {
    cwd: directory,
    env: cleanEnvironment(directory),
    stdio: ["pipe", "pipe", "pipe"],
  });
  const messages: Rpc[] = [];
  const waiting = new Map<unknown, PromiseWithResolvers<Rpc>>();
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => {});
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as Rpc;
    messages.push(message);
    if (message.method === undefined) waiting.get(message.id)?.resolve(message);
  });
  const answerTo = (id: number | string) => {
    const answer = waiting.get(id) ?? Promise.withResolvers<Rpc>();
    waiting.set(id, answer);
    return answer.promise;
  };
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const request = (id: number | string, method: string, params: object = {}) => {
    const answer = answerTo(id);
    send({ id, method, params });
    return answer;
  };
  return {
    child,
    /** All that the client received. */
    messages,
    get stderr() {
      return stderr;
    },
    answerTo,
    send,
    request,
    /** Opens a session of the legacy era. */
    async initialize(capabilities: object = {}) {
      const clientInfo = { name: "c", version: "1" };
      await request("init", "initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo });
      send({ method: "notifications/initialized" });
    },
    /** Ends the input. @returns how the bridge ends */
    async end(last = ""): Promise<number | null> {
      const ended = once(child, "close");
      child.stdin.end(last);
      return ((await ended) as [number | null])[0];
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "close");
      child.kill("SIGKILL");
      await ended;
    },
  };
}
