/** A complete gateway in a temporary home, its clients and upstream servers, and readers of its audit trail. */

import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import {
  StreamableHTTPClientTransport as HttpV2,
  Client as V2Client,
  type ClientOptions as V2Options,
} from "@modelcontextprotocol/client";
import { Client, type ClientOptions } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { makeToken, readToken, tokenDirectory } from "@toolcrib/auth";
import { type GatewayConfig, loadConfig, parseConfig } from "@toolcrib/config";
import { formatDiagnostic, type Logger } from "@toolcrib/diagnostics";
import { readRegularFile } from "@toolcrib/files";
import { type Gateway, startGateway } from "@toolcrib/gateway";
import type { JsonObject } from "@toolcrib/json";
import { HttpEndpoint, type McpService, methodNotFound, type ServiceRequest } from "@toolcrib/mcp";
import { approveStoredTool, openSavedToolStore } from "@toolcrib/metatool";
import { openSecretStore } from "@toolcrib/secrets";
import { type AuditEvents, type AuditRecord, MemorySessionStore, openApprovalStore } from "@toolcrib/store";
import {
  echoStdioPath,
  fixtureCommand,
  makeTemporaryDirectory,
  waitUntil,
  writeFiles,
} from "@toolcrib/testing";
import { type Identity, localIdentity, type ToolDefinition, type ToolResult } from "@toolcrib/tool";
import { sharedValidators } from "./shared-validators.ts";

type GatewayDeps = Parameters<typeof startGateway>[1];

/** Parses a configuration, which must be valid. */
export function configOf(document: JsonObject): GatewayConfig {
  const { value, diagnostics } = parseConfig([{ name: "toolcrib.json", text: JSON.stringify(document) }]);
  return value ?? assert.fail(diagnostics.map((one) => formatDiagnostic(one)).join("\n"));
}

/** Loads a configuration in `folder`, next to the files that it names and a catalog. It must be valid. */
export async function configIn(folder: string, document: JsonObject): Promise<GatewayConfig> {
  const path = join(folder, "toolcrib.json");
  writeFileSync(path, JSON.stringify(document));
  const deps = { readFile: readRegularFile, catalogFolder: join(folder, "catalog") };
  const { value, diagnostics } = await loadConfig([path], deps);
  return value ?? assert.fail(diagnostics.map((one) => formatDiagnostic(one)).join("\n"));
}

/** Log records, oldest first. */
export interface TestLogger extends Logger {
  readonly records: { readonly level: string; readonly fields: object; readonly message: string }[];
}

export function createTestLogger(): TestLogger {
  const records: TestLogger["records"] = [];
  const at = (level: string) => (fields: object, message: string) => {
    records.push({ level, fields, message });
  };
  return { records, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** The identity and the endpoint of a client. */
export interface Caller {
  /** The endpoint of this server. @default that of all servers */
  readonly server?: string;
  /** The endpoint of this profile, in place of that of a server. */
  readonly profile?: string;
  /** Name of the token that the client sends. With `authenticate`, the token itself. @default none */
  readonly as?: string;
}

/** A gateway under test. */
export interface TestGateway extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly home: string;
  readonly logger: TestLogger;
  /** Returns the URL of the endpoint of all servers, or of one; starts the HTTP server on first use. */
  endpoint(server?: string, profile?: string): Promise<URL>;
  /** Connects a client of the SDK's first generation. */
  connect(options?: Caller & ClientOptions): Promise<Client>;
  /** Connects a client of the SDK's second generation. */
  connectModern(options?: Caller & V2Options): Promise<V2Client>;
  /** Stops the gateway, which writes its audit trail to the end. */
  stop(): Promise<void>;
  /** Reads the audit trail from the home folder. */
  audit(): AuditRecord[];
}

/** Names of the tools that save and run composites, in their order in `tools/list` after the search tools. */
export const compositeTools: readonly string[] = [
  "save_tool",
  "list_saved_tools",
  "show_saved_tool",
  "delete_saved_tool",
  "test_saved_tool",
  "eval_starlark",
  "describe_language",
];

/** Identity of calls from this process. */
export const somebody: Identity = localIdentity("cli", "somebody");

/**
 * Starts a gateway for `document`, with trusted servers, so that containment
 * restricts nothing, and waits until they are ready.
 */
export async function startTestGateway(
  document: JsonObject,
  options: {
    readonly environment?: GatewayDeps["env"];
    readonly upstreamLimits?: GatewayDeps["upstreamLimits"];
    /** @default true */
    readonly isAwaited?: boolean;
    /** Files next to the configuration, by path. @default none; no file is read then */
    readonly files?: { readonly [path: string]: string };
    /** Secrets of the store, by name. @default none */
    readonly secrets?: { readonly [name: string]: string };
    /** Names of clients, each with a token; the HTTP server then requires one. @default none: every client may call */
    readonly clients?: readonly string[];
    /** Authenticates clients in place of tokens of the home. */
    readonly authenticate?: GatewayDeps["authenticate"];
    readonly wrap?: GatewayDeps["wrap"];
    /** Called before each record of the log; it fails where this throws. */
    readonly onLog?: () => void;
    /** Home folder. @default a new one, which is removed with the gateway */
    readonly home?: string;
  } = {},
): Promise<TestGateway> {
  const directory = await makeTemporaryDirectory();
  const home = options.home ?? join(directory.path, "home");
  const logger = createTestLogger();
  const clients = new Set<{ close(): Promise<void> }>();
  const serve = (document["serve"] ?? {}) as JsonObject;
  const { authenticate } = options;
  const auth = options.clients === undefined && authenticate === undefined ? "none" : "token";
  const send = (as: string | undefined) =>
    as === undefined ? {} : withToken(authenticate === undefined ? readToken(home, as) : as);
  const whole = { ...document, serve: { listen: "127.0.0.1:0", auth, ...serve } };
  writeFiles(directory.path, options.files ?? {});
  const config = options.files === undefined ? configOf(whole) : await configIn(directory.path, whole);
  for (const [name, value] of Object.entries(options.secrets ?? {})) await setSecret(home, name, value);
  for (const name of options.clients ?? []) writeToken(home, name);
  const gateway = await startGateway(config, {
    home,
    env: { PATH: process.env["PATH"], ...options.environment },
    directory: directory.path,
    logger: options.onLog === undefined ? logger : listening(logger, options.onLog),
    version: "0.0.1",
    configFiles: ["toolcrib.json"],
    authenticate,
    wrap: options.wrap,
    upstreamLimits: { reconnectMinMs: 20, ...options.upstreamLimits },
  });
  if (options.isAwaited !== false) await gateway.ready();
  let opened: Promise<{ readonly url: string }> | undefined;

  const test: TestGateway = {
    gateway,
    home,
    logger,
    async endpoint(server, profile) {
      opened ??= gateway.listen();
      const { url } = await opened;
      if (profile !== undefined) return new URL(`${url}/mcp/p/${profile}`);
      return new URL(server === undefined ? `${url}/mcp` : `${url}/mcp/s/${server}`);
    },
    async connect({ server, profile, as, ...clientOptions } = {}) {
      const client = new Client(
        { name: "first", version: "1.0.0" },
        { jsonSchemaValidator: sharedValidators, ...clientOptions },
      );
      const url = await test.endpoint(server, profile);
      await client.connect(new StreamableHTTPClientTransport(url, send(as)));
      clients.add(client);
      return client;
    },
    async connectModern({ server, profile, as, ...clientOptions } = {}) {
      const client = new V2Client(
        { name: "second", version: "2.0.0" },
        { versionNegotiation: { mode: { pin: "2026-07-28" } }, ...clientOptions },
      );
      await client.connect(new HttpV2(await test.endpoint(server, profile), send(as)));
      clients.add(client);
      return client;
    },
    async stop() {
      await Promise.allSettled([...clients].map((client) => client.close()));
      await gateway[Symbol.asyncDispose]();
    },
    audit: () => readAudit(home),
    async [Symbol.asyncDispose]() {
      await test.stop();
      await directory[Symbol.asyncDispose]();
    },
  };
  return test;
}

function listening(logger: TestLogger, onLog: () => void): GatewayDeps["logger"] {
  const log = (level: "debug" | "info" | "warn" | "error"): TestLogger[typeof level] => {
    return (fields, message) => {
      onLog();
      logger[level](fields, message);
    };
  };
  return { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
}

function writeToken(home: string, name: string): void {
  const file = join(tokenDirectory(home), name);
  // Another token would not have the sessions and tasks of an earlier gateway of the home.
  if (existsSync(file)) return;
  mkdirSync(tokenDirectory(home), { recursive: true, mode: 0o700 });
  writeFileSync(file, makeToken(randomBytes), { mode: 0o600 });
}

function withToken(token: string) {
  return { requestInit: { headers: { authorization: `Bearer ${token}` } } };
}

/** Stores a secret below a home folder, as another process does. */
export async function setSecret(home: string, name: string, value: string): Promise<void> {
  await using store = await openSecretStore({ home, env: {} }, { now: Date.now, randomBytes });
  await store.set(name, value);
}

/** Approves a saved tool, as `toolcrib saved approve` does in another process. */
export async function approve({ home }: Pick<TestGateway, "home">, name: string): Promise<void> {
  const directory = join(home, "tools");
  await using saved = await openSavedToolStore({ now: Date.now, randomBytes }, { directory });
  await using approvals = await openApprovalStore(home, { randomBytes });
  await approveStoredTool({ saved, approvals, now: Date.now }, name);
}

/** Returns all audit records below a home folder, in the order in which they were written. */
export function readAudit(home: string): AuditRecord[] {
  const folder = join(home, "audit");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"))
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as AuditRecord);
}

/** Returns the data of the records of one type. */
export function dataOf<Type extends keyof AuditEvents>(
  records: readonly AuditRecord[],
  type: Type,
): AuditEvents[Type][] {
  return records.filter((one) => one.type === type).map((one) => one.data as AuditEvents[Type]);
}

/**
 * Returns the calls of an audit trail, each as one line such as
 * `echo:fail intent, completed tool_error`. Every call must have exactly one outcome.
 */
export function callsIn(records: readonly AuditRecord[]): string[] {
  const calls = new Map<string, string[]>();
  for (const { type, data } of records) {
    if (!type.startsWith("call.")) continue;
    const { callId, tool } = data as AuditEvents["call.intent"];
    const { outcome, code } = data as { readonly outcome?: string; readonly code?: string };
    const steps = calls.get(callId) ?? [tool];
    const words = [type.slice("call.".length), outcome === "denied" ? undefined : outcome, code];
    steps.push(words.filter((word) => word !== undefined).join(" "));
    calls.set(callId, steps);
  }
  return [...calls.values()].map(([tool, ...steps]) => `${tool} ${steps.join(", ")}`);
}

/** An echo server on stdio. */
export function echoStdio(id: string, ...flags: readonly string[]): JsonObject {
  return {
    id,
    transport: { kind: "stdio", ...fixtureCommand(echoStdioPath, ...flags) },
    trust_state: "certified",
  };
}

/** A server on streamable HTTP. */
export function onHttp(id: string, url: string, more: JsonObject = {}): JsonObject {
  return { id, transport: { kind: "streamable_http", url }, trust_state: "certified", ...more };
}

/** Sends one raw request of the modern era and returns the response. */
export async function askModern(url: URL, method: string, params: JsonObject) {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
  };
  const name = params["name"] ?? params["uri"];
  const response = await fetch(url, {
    method: "POST",
    headers: {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(name === undefined ? undefined : { "mcp-name": String(name) }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } }),
  });
  return (await response.json()) as { readonly result?: JsonObject; readonly error?: JsonObject };
}

/** Returns the text of a tool's result. */
export function textOf(result: unknown): string {
  const { content } = result as ToolResult;
  return content.map((block) => String(block["text"])).join("\n");
}

/** The lists and handlers of a scripted server. */
export interface Script {
  /** Called for each list request. */
  readonly tools?: () => readonly ToolDefinition[] | Promise<readonly ToolDefinition[]>;
  readonly resources?: () => readonly JsonObject[];
  readonly templates?: () => readonly JsonObject[];
  readonly prompts?: () => readonly JsonObject[];
  readonly instructions?: string;
  /** Answers `tools/call`. */
  call?(request: ServiceRequest, name: string, args: JsonObject): unknown;
  /** Answers any other method; returns `undefined` for an unknown method. */
  other?(request: ServiceRequest): JsonObject | undefined;
}

/** A server whose responses a test defines. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  /** Received `Authorization` headers, in order. */
  readonly authorizations: (string | undefined)[];
  /** Notifies every client. */
  notify(method: string, params?: JsonObject): void;
  /** Loses its sessions, as a server that was started again: it answers 404 to requests that name one of them. */
  loseSessions(): void;
}

/** Starts a scripted server on streamable HTTP. */
export async function startScriptedServer(script: Script): Promise<ScriptedServer> {
  const sessions = new Set<{ notify(method: string, params: JsonObject): void }>();
  const authorizations: (string | undefined)[] = [];
  const service: McpService = {
    serverInfo: { name: "scripted", version: "1.0.0" },
    capabilities: () => ({
      tools: { listChanged: true },
      ...(script.resources === undefined ? undefined : { resources: { subscribe: true, listChanged: true } }),
      ...(script.prompts === undefined ? undefined : { prompts: { listChanged: true } }),
    }),
    instructions: () => script.instructions,
    async handle(request) {
      const { method, params } = request;
      const other = script.other?.(request);
      if (other !== undefined) return other;
      if (method === "tools/list") {
        const tools = (await script.tools?.()) ?? [];
        return { tools: tools as readonly JsonObject[] };
      }
      if (method === "resources/list") return { resources: script.resources?.() ?? [] };
      if (method === "resources/templates/list") return { resourceTemplates: script.templates?.() ?? [] };
      if (method === "prompts/list") return { prompts: script.prompts?.() ?? [] };
      if (method !== "tools/call" || script.call === undefined) throw methodNotFound(method);
      return (await script.call(
        request,
        String(params["name"]),
        params["arguments"] as JsonObject,
      )) as JsonObject;
    },
    sessionOpened: (session) => void sessions.add(session),
    sessionClosed: (session) => void sessions.delete(session),
    listen: async ({ filter }) => filter,
    toolInputSchema: () => undefined,
  };
  const endpoint = new HttpEndpoint(service, {
    now: Date.now,
    newSessionId: randomUUID,
    sessions: new MemorySessionStore({ now: Date.now }),
  });
  const known = new Set<string>();
  const lost = new Set<string>();
  const server = createServer((request, response) => {
    authorizations.push(request.headers.authorization);
    const sessionId = String(request.headers["mcp-session-id"] ?? "");
    if (lost.has(sessionId)) {
      response.writeHead(404).end();
      return;
    }
    known.add(sessionId);
    void endpoint.handle(request, response, {
      view: "",
      identity: localIdentity("anonymous", "gateway"),
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    authorizations,
    notify(method, params = {}) {
      for (const session of sessions) session.notify(method, params);
    },
    loseSessions() {
      for (const id of known) if (id !== "") lost.add(id);
    },
    async [Symbol.asyncDispose]() {
      await endpoint[Symbol.asyncDispose]();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A server with one tool, `wait`, whose calls end when they are cancelled. */
export async function startWaitingServer(): Promise<
  ScriptedServer & {
    /** Numbers of waiting and of cancelled calls. */
    readonly counts: { waiting: number; cancelled: number };
  }
> {
  const counts = { waiting: 0, cancelled: 0 };
  const server = await startScriptedServer({
    tools: () => [toolNamed("wait")],
    call({ signal }) {
      counts.waiting += 1;
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          counts.waiting -= 1;
          counts.cancelled += 1;
          reject(signal.reason);
        });
      });
    },
  });
  return { ...server, counts };
}

/** A tool of a scripted server. */
export function toolNamed(name: string, more: Partial<ToolDefinition> = {}): ToolDefinition {
  return { name, description: `The tool ${name}`, inputSchema: { type: "object" }, ...more };
}

/** Waits until the index contains `name`, which happens shortly after the server's notification. */
export async function untilListed(gateway: Gateway, name: string): Promise<void> {
  await waitUntil(() => gateway.listTools(somebody).some(({ wireName }) => wireName === name), {
    what: `"${name}" is listed`,
  });
}
