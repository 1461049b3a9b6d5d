/** MCP clients over HTTP and stdio that keep every received byte. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import type { JsonObject } from "@toolcrib/json";
import { metaKeys } from "@toolcrib/mcp";

/** The response to a call. */
export interface RawAnswer {
  /** The head and the body, or the messages, as received. */
  readonly bytes: Buffer;
  /** `result` of the response; undefined for an error or without a response. */
  readonly result: JsonObject | undefined;
}

/** Options of one call. */
export interface RawCallOptions {
  readonly meta?: JsonObject;
  /** The client disconnects when this settles, without waiting for the response. */
  readonly leave?: Promise<unknown>;
}

/** A client. */
export interface RawClient extends AsyncDisposable {
  call(name: string, args: JsonObject, options?: RawCallOptions): Promise<RawAnswer>;
}

const clientInfo = { name: "canary-client", version: "1.0.0" };

/** Creates a client of the modern era over HTTP. */
export function createHttpClient(baseUrl: string, token: string): RawClient {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port } = new URL(baseUrl);
  let id = 0;
  return {
    call(name, args, { meta, leave } = {}) {
      id += 1;
      const asked = {
        [metaKeys.protocolVersion]: "2026-07-28",
        [metaKeys.clientCapabilities]: {},
        [metaKeys.clientInfo]: clientInfo,
        ...meta,
      };
      const params = { name, arguments: args, _meta: asked };
      const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
      const headers = {
        accept: "application/json, text/event-stream",
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": name,
      };
      return new Promise((resolve, reject) => {
        const request = httpRequest({ hostname, port, path: "/mcp", method: "POST", headers, agent });
        request.on("response", (response) => readAnswer(response).then(resolve, reject));
        request.on("error", (error) => (leave === undefined ? reject(error) : resolve(nothing)));
        request.end(body);
        void leave?.then(() => request.destroy());
      });
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
    },
  };
}

const nothing: RawAnswer = { bytes: Buffer.alloc(0), result: undefined };

async function readAnswer(response: IncomingMessage): Promise<RawAnswer> {
  const pieces: Buffer[] = [
    Buffer.from(`${response.statusMessage} ${response.rawHeaders.join("\n")}\n\n`, "latin1"),
  ];
  try {
    for await (const piece of response as AsyncIterable<Buffer>) pieces.push(piece);
  } catch {
    // A client that disconnected receives no response.
  }
  const bytes = Buffer.concat(pieces);
  const text = Buffer.concat(pieces.slice(1)).toString("utf8");
  return { bytes, result: resultOf(text) };
}

/** Returns the result from a body of JSON or of events. */
function resultOf(text: string): JsonObject | undefined {
  const lines = text.startsWith("{") ? [text] : text.split("\n").filter((line) => line.startsWith("data: {"));
  const last = lines.at(-1)?.replace(/^data: /, "");
  if (last === undefined) return undefined;
  return (JSON.parse(last) as { readonly result?: JsonObject }).result;
}

/** A client over stdio, with the process of its server. */
export interface StdioClient extends RawClient {
  readonly process: ChildProcess;
  /** Returns all output of the process so far. */
  stdout(): Buffer;
  stderr(): Buffer;
  /** Kills the process with SIGKILL, and waits for its end. */
  kill(): Promise<void>;
}

/** Starts `command` and opens a session of the legacy era with all log messages enabled. */
export async function startStdioClient(
  command: string,
  args: readonly string[],
  setting: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<StdioClient> {
  const child = spawn(command, [...args], { ...setting, stdio: "pipe" });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  const waiting = new Map<number, (line: string) => void>();
  let rest = "";
  child.stderr.on("data", (piece: Buffer) => stderr.push(piece));
  child.stdout.on("data", (piece: Buffer) => {
    stdout.push(piece);
    const lines = `${rest}${piece.toString("latin1")}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const { id } = JSON.parse(line) as { readonly id?: number };
      if (id !== undefined) waiting.get(id)?.(line);
      if (id !== undefined) waiting.delete(id);
    }
  });
  child.stdin.on("error", () => {});
  let hasExited = false;
  const exited = once(child, "exit").then(() => {
    hasExited = true;
    for (const answer of waiting.values()) answer("{}");
  });
  let lastId = 0;

  function send(message: object): void {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  function ask(method: string, params: JsonObject, leave?: Promise<unknown>): Promise<string> {
    if (hasExited) return Promise.reject(new Error(`The server has ended: ${Buffer.concat(stderr)}`));
    lastId += 1;
    const id = lastId;
    send({ id, method, params });
    return new Promise((resolve) => {
      waiting.set(id, resolve);
      void leave?.then(() => {
        send({ method: "notifications/cancelled", params: { requestId: id } });
        resolve("{}");
      });
    });
  }

  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  send({ method: "notifications/initialized" });
  await ask("logging/setLevel", { level: "debug" });
  return {
    process: child,
    stdout: () => Buffer.concat(stdout),
    stderr: () => Buffer.concat(stderr),
    async call(name, args, { meta = {}, leave } = {}) {
      const line = await ask("tools/call", { name, arguments: args, _meta: meta }, leave);
      const { result } = JSON.parse(Buffer.from(line, "latin1").toString()) as {
        readonly result?: JsonObject;
      };
      return { bytes: Buffer.from(line, "latin1"), result };
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), 15_000);
      await exited;
      clearTimeout(timer);
    },
  };
}
