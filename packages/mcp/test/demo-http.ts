/**
 * The demo service behind real sockets: Streamable HTTP at `/mcp` (and any
 * other path, which is the view), legacy SSE at `/sse` and `/messages`. The
 * header `x-user` names the caller. Also raw clients that send exactly the
 * given messages.
 */

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "@toolcrib/json";
import { HttpEndpoint, metaKeys, ServerMemory, SseDecoder, SseEndpoint } from "@toolcrib/mcp";
import { MemorySessionStore } from "@toolcrib/store";
import { waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import { createDemoService, type DemoService } from "./demo-service.ts";
import type { HttpCaller, HttpEndpointOptions, SseEndpointOptions, SseEvent } from "./option-types.ts";

export interface DemoHttp extends AsyncDisposable {
  readonly url: string;
  readonly sseUrl: string;
  readonly port: number;
  readonly service: DemoService;
  readonly endpoint: HttpEndpoint;
  readonly sse: SseEndpoint;
  readonly unexpected: string[];
  readonly sessions: MemorySessionStore;
  /** Open responses. */
  readonly responses: ReadonlySet<ServerResponse>;
  /** Advances the clock of the endpoint. */
  advance(milliseconds: number): void;
}

type HttpDeps = ConstructorParameters<typeof HttpEndpoint>[1];

export interface DemoHttpOptions {
  readonly http?: HttpEndpointOptions;
  readonly sse?: SseEndpointOptions;
  /** The store of sessions. @default one in memory */
  readonly store?: HttpDeps["sessions"];
  /** The first time of the clock. @default 1,000,000 */
  readonly startsAt?: number;
  /** Limits of all connections together. */
  readonly memory?: ConstructorParameters<typeof ServerMemory>[0];
}

export async function startDemoHttp(options: DemoHttpOptions = {}): Promise<DemoHttp> {
  const service = createDemoService();
  const unexpected: string[] = [];
  let now = options.startsAt ?? 1_000_000;
  const sessions = new MemorySessionStore({ now: () => now });
  const responses = new Set<ServerResponse>();
  const deps = {
    now: () => now,
    newSessionId: () => randomUUID(),
    sessions: options.store ?? sessions,
    memory: new ServerMemory(options.memory),
    onUnexpected: (reason: string) => unexpected.push(reason),
  };
  const endpoint = new HttpEndpoint(service, deps, options.http);
  const sse = new SseEndpoint(service, deps, options.sse);
  const server = createServer((request, response) => {
    responses.add(response);
    response.on("close", () => responses.delete(response));
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const name = request.headers["x-user"];
    const caller: HttpCaller = {
      view: path.slice(1),
      identity: localIdentity("token", typeof name === "string" ? name : "local"),
    };
    if (path === "/sse") sse.open(request, response, caller);
    else if (path === "/messages") void sse.post(request, response, caller);
    else void endpoint.handle(request, response, caller);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    sseUrl: `http://127.0.0.1:${port}/sse`,
    port,
    service,
    endpoint,
    sse,
    unexpected,
    sessions,
    responses,
    advance(milliseconds) {
      now += milliseconds;
    },
    async [Symbol.asyncDispose]() {
      await endpoint[Symbol.asyncDispose]();
      await sse[Symbol.asyncDispose]();
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** The response to a raw client. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly type: string;
  /** The JSON body, or the parsed data of the events received so far. */
  readonly messages: WireMessage[];
  readonly events: SseEvent[];
  /** The text of a stream received so far. */
  raw(): string;
  /** Resolves when the response has ended; rejects when its connection breaks. */
  readonly ended: Promise<void>;
  /** Closes the connection. */
  close(): void;
}

/** A received message; tests know its members. */
export interface WireMessage {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject };
}

const bothForms = "application/json, text/event-stream";

/** Sends one HTTP request. A JSON response is read, an event stream is read in the background. */
export async function send(
  method: string,
  url: string,
  body?: unknown,
  headers: { readonly [name: string]: string } = {},
): Promise<RawAnswer> {
  const controller = new AbortController();
  const response = await fetch(url, {
    method,
    headers: {
      accept: bothForms,
      ...(body === undefined ? undefined : { "content-type": "application/json" }),
      ...headers,
    },
    body:
      body === undefined || typeof body === "string" ? (body as string | undefined) : JSON.stringify(body),
    signal: controller.signal,
  });
  const messages: WireMessage[] = [];
  const events: SseEvent[] = [];
  const type = response.headers.get("content-type") ?? "";
  let raw = "";
  const answer = {
    status: response.status,
    headers: response.headers,
    type,
    messages,
    events,
    raw: () => raw,
  };
  if (!type.startsWith("text/event-stream")) {
    const text = await response.text();
    if (type.startsWith("application/json")) messages.push(JSON.parse(text) as WireMessage);
    return { ...answer, ended: Promise.resolve(), close: () => {} };
  }
  const decoder = new SseDecoder(
    {
      event(event) {
        events.push(event);
        if (event.data !== "") messages.push(JSON.parse(event.data) as WireMessage);
      },
    },
    1 << 26,
  );
  const ended = (async () => {
    const text = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      const piece = text.decode(chunk, { stream: true });
      raw += piece;
      decoder.write(piece);
    }
  })();
  ended.catch(() => {});
  return { ...answer, ended, close: () => controller.abort() };
}

/** A legacy session of raw requests. */
export interface RawSession {
  readonly id: string;
  readonly headers: { readonly [name: string]: string };
  post(body: unknown, headers?: { readonly [name: string]: string }): Promise<RawAnswer>;
  call(id: string | number, name: string, given?: JsonObject, meta?: JsonObject): Promise<RawAnswer>;
  get(headers?: { readonly [name: string]: string }): Promise<RawAnswer>;
  remove(): Promise<RawAnswer>;
}

export async function openRawSession(
  url: string,
  options: {
    readonly version?: string;
    readonly capabilities?: JsonObject;
    readonly headers?: { readonly [name: string]: string };
  } = {},
): Promise<RawSession> {
  const version = options.version ?? "2025-11-25";
  const first = await send("POST", url, initializeOf(version, options.capabilities), options.headers);
  const id = first.headers.get("mcp-session-id") ?? "";
  const headers = { ...options.headers, "mcp-session-id": id, "mcp-protocol-version": version };
  const post: RawSession["post"] = (body, extra = {}) => send("POST", url, body, { ...headers, ...extra });
  await post({ jsonrpc: "2.0", method: "notifications/initialized" });
  return {
    id,
    headers,
    post,
    call: (callId, name, given = {}, meta) => post(callOf(callId, name, given, meta)),
    get: (extra = {}) => send("GET", url, undefined, { ...headers, accept: "text/event-stream", ...extra }),
    remove: () => send("DELETE", url, undefined, headers),
  };
}

export function initializeOf(version: string, capabilities: JsonObject = {}): JsonObject {
  const clientInfo = { name: "raw", version: "0" };
  return {
    jsonrpc: "2.0",
    id: "init",
    method: "initialize",
    params: { protocolVersion: version, capabilities, clientInfo },
  };
}

export function callOf(
  id: string | number,
  name: string,
  given: JsonObject = {},
  meta?: JsonObject,
): JsonObject {
  const params = { name, arguments: given, ...(meta === undefined ? undefined : { _meta: meta }) };
  return { jsonrpc: "2.0", id, method: "tools/call", params };
}

/** `_meta` of a modern request. */
export function modernMeta(extra: JsonObject = {}): JsonObject {
  return {
    [metaKeys.protocolVersion]: "2026-07-28",
    [metaKeys.clientInfo]: { name: "raw", version: "0" },
    [metaKeys.clientCapabilities]: {},
    ...extra,
  };
}

/** Headers that mirror a modern request's body. */
export function modernHeaders(method: string, name?: string): { [name: string]: string } {
  return {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(name === undefined ? undefined : { "mcp-name": name }),
  };
}

/** Sends a modern request over HTTP, valid by default. */
export function sendModern(
  url: string,
  method: string,
  params: JsonObject,
  options: { id?: string | number; meta?: JsonObject; headers?: { [name: string]: string } } = {},
): Promise<RawAnswer> {
  const name = params["name"] ?? params["uri"];
  return send(
    "POST",
    url,
    { jsonrpc: "2.0", id: options.id ?? 1, method, params: { ...params, _meta: modernMeta(options.meta) } },
    { ...modernHeaders(method, typeof name === "string" ? name : undefined), ...options.headers },
  );
}

/** Waits until `answer` has `count` messages, and returns them. */
export async function until(answer: RawAnswer, count: number): Promise<WireMessage[]> {
  await waitUntil(() => answer.messages.length >= count, { what: `${count} messages come` });
  return answer.messages;
}
