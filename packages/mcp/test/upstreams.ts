/**
 * Client connections to servers for tests: the echo servers of
 * `@toolcrib/testing`, and HTTP servers with scripted responses.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "@toolcrib/json";
import {
  type Connection,
  createHttpClient,
  HttpTransport,
  openConnection,
  SseTransport,
  StdioTransport,
} from "@toolcrib/mcp";
import { echoStdioPath, fixtureCommand } from "@toolcrib/testing";
import { textOf } from "./demo-service.ts";
import type {
  ConnectionHandlers,
  ConnectionOptions,
  HttpTransportOptions,
  StdioTransportOptions,
} from "./option-types.ts";

/** A connection with its notifications and unexpected messages. */
export interface Upstream extends AsyncDisposable {
  readonly connection: Connection;
  readonly unexpected: string[];
  readonly notifications: { method: string; params: JsonObject }[];
  /** Calls a tool and returns the text of its result. */
  call(name: string, given?: JsonObject, options?: Parameters<Connection["request"]>[2]): Promise<string>;
}

export interface UpstreamOptions {
  readonly connection?: Partial<ConnectionOptions>;
  readonly transport?: Partial<HttpTransportOptions> & StdioTransportOptions;
  readonly request?: ConnectionHandlers["request"];
  readonly maxConnections?: number;
}

/** Handlers that record their calls. */
function listening(options: UpstreamOptions) {
  const unexpected: string[] = [];
  const notifications: Upstream["notifications"] = [];
  const handlers: ConnectionHandlers = {
    request: options.request,
    notification: (method, params) => void notifications.push({ method, params }),
    unexpected: (reason) => void unexpected.push(reason),
  };
  return { unexpected, notifications, handlers };
}

const clientInfo = { name: "toolcrib-test", version: "0.0.1" };

export async function openHttp(
  url: string,
  options: UpstreamOptions = {},
  kind: "http" | "sse" = "http",
): Promise<Upstream> {
  const client = createHttpClient({ maxConnectionsPerOrigin: options.maxConnections });
  const settings = { url, ...options.transport };
  const transport =
    kind === "http" ? new HttpTransport(client, settings) : new SseTransport(client, settings);
  const { unexpected, notifications, handlers } = listening(options);
  try {
    const connection = await openConnection(transport, handlers, { clientInfo, ...options.connection });
    return {
      connection,
      unexpected,
      notifications,
      call: callOn(connection),
      async [Symbol.asyncDispose]() {
        await connection[Symbol.asyncDispose]();
        await client.destroy();
      },
    };
  } catch (error) {
    await client.destroy();
    throw error;
  }
}

export function openSse(url: string, options: UpstreamOptions = {}): Promise<Upstream> {
  return openHttp(url, options, "sse");
}

/** The echo server in a process of its own. */
export async function openStdio(
  flags: readonly string[] = [],
  options: UpstreamOptions = {},
): Promise<Upstream & { readonly kill: () => void }> {
  const { command, args } = fixtureCommand(echoStdioPath, ...flags);
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
  const exited = once(child, "exit");
  const transport = new StdioTransport({ stdin: child.stdin, stdout: child.stdout }, options.transport);
  const { unexpected, notifications, handlers } = listening(options);
  try {
    const connection = await openConnection(transport, handlers, { clientInfo, ...options.connection });
    return {
      connection,
      unexpected,
      notifications,
      call: callOn(connection),
      kill: () => child.kill("SIGKILL"),
      async [Symbol.asyncDispose]() {
        await connection[Symbol.asyncDispose]();
        await exited;
      },
    };
  } catch (error) {
    child.kill("SIGKILL");
    await exited;
    throw error;
  }
}

function callOn(connection: Connection): Upstream["call"] {
  return async (name, given = {}, options) =>
    textOf(await connection.request("tools/call", { name, arguments: given }, options));
}

/** An HTTP request to a scripted server. */
export interface ScriptedRequest {
  readonly request: IncomingMessage;
  /** The parsed body; an empty object without a body. */
  readonly body: { readonly id?: string | number; readonly method?: string; readonly params?: JsonObject };
  readonly response: ServerResponse;
  /** Answers with JSON. */
  json(status: number, value: unknown, headers?: { readonly [name: string]: string }): void;
  /** Answers with a result. */
  result(result: JsonObject, headers?: { readonly [name: string]: string }): void;
  /** Starts an event stream with `text`. */
  stream(text?: string): void;
}

export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly origin: string;
  /** `METHOD rpc/method` of each request so far. */
  readonly log: string[];
}

/** The default answer to `initialize`. */
export const initialized = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  serverInfo: { name: "s", version: "0" },
};

/**
 * A server that passes every request to `script`. Handshake, GET and DELETE have
 * default answers if it returns false.
 */
export async function startScripted(script: (given: ScriptedRequest) => unknown): Promise<ScriptedServer> {
  const log: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const body = (text === "" ? {} : JSON.parse(text)) as ScriptedRequest["body"];
      log.push(`${request.method} ${body.method ?? (body.id === undefined ? "" : "(answer)")}`.trim());
      const json: ScriptedRequest["json"] = (status, value, headers = {}) => {
        response.writeHead(status, { "content-type": "application/json", ...headers });
        response.end(JSON.stringify(value));
      };
      const given: ScriptedRequest = {
        request,
        body,
        response,
        json,
        result: (result, headers) => json(200, { jsonrpc: "2.0", id: body.id, result }, headers),
        stream(begin = "") {
          response.writeHead(200, { "content-type": "text/event-stream" });
          response.write(begin === "" ? ":\n\n" : begin);
        },
      };
      if (script(given) !== false) return;
      if (body.method === "initialize") given.result(initialized, { "mcp-session-id": "session-1" });
      else if (request.method === "GET") response.writeHead(405).end();
      else response.writeHead(202).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/mcp`,
    origin,
    log,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** Formats one event with a message. */
export function eventOf(message: object, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;
}
