/** An HTTP server for a small service, and clients that send requests byte for byte. */

import { randomBytes, randomUUID } from "node:crypto";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import type { Logger } from "@toolcrib/diagnostics";
import { GatewayMetrics, type HttpServerDeps, startControlServer, startHttpServer } from "@toolcrib/http";
import type { JsonObject } from "@toolcrib/json";
import { type McpService, methodNotFound, type ServerSession } from "@toolcrib/mcp";
import { MemorySessionStore } from "@toolcrib/store";
import { issuerName, localIdentity } from "@toolcrib/tool";

type ControlServer = Awaited<ReturnType<typeof startControlServer>>;
type HttpServer = Awaited<ReturnType<typeof startHttpServer>>;
type HttpServerOptions = Parameters<typeof startHttpServer>[1];

/** Collects log records. */
export interface TestLogger extends Logger {
  readonly records: { readonly level: string; readonly fields: object; readonly message: string }[];
}

export function createTestLogger(): TestLogger {
  const records: { level: string; fields: object; message: string }[] = [];
  const at = (level: string) => (fields: object, message: string) => {
    records.push({ level, fields, message });
  };
  return { records, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** A service with the tools `echo`, `slow`, `large` and `ask`. */
export interface TestService extends McpService {
  /** Open sessions. */
  readonly sessions: Set<ServerSession>;
  /** Releases of the waiting calls of `slow`. */
  readonly waiting: Set<() => void>;
  /** View and identity of each request. */
  readonly callers: { readonly view: string; readonly identity: string }[];
}

export function createTestService(): TestService {
  const sessions = new Set<ServerSession>();
  const waiting = new Set<() => void>();
  const callers: { view: string; identity: string }[] = [];
  const text = (value: string): JsonObject => ({ content: [{ type: "text", text: value }] });

  return {
    sessions,
    waiting,
    callers,
    serverInfo: { name: "http-test-test", version: "1.0.0" },
    capabilities: () => ({ tools: { listChanged: true } }),
    instructions: () => undefined,
    async handle(request) {
      const { method, params, view, identity, signal } = request;
      callers.push({ view, identity: `${issuerName(identity)}:${identity.name}` });
      if (method === "tools/list") return { tools: [{ name: "echo", inputSchema: { type: "object" } }] };
      if (method !== "tools/call") throw methodNotFound(method);
      const args = (params["arguments"] ?? {}) as JsonObject;
      if (params["name"] === "large") return text("x".repeat(Number(args["length"])));
      if (params["name"] === "slow") {
        await new Promise<void>((resolve, reject) => {
          const release = () => {
            waiting.delete(release);
            resolve();
          };
          waiting.add(release);
          signal.addEventListener("abort", () => {
            waiting.delete(release);
            reject(signal.reason);
          });
        });
      }
      if (params["name"] === "ask") {
        const answer = await request.ask("sampling/createMessage", { messages: [], maxTokens: 1 }, signal);
        return text(JSON.stringify(answer));
      }
      return text(`${view}|${issuerName(identity)}:${identity.name}|${JSON.stringify(args)}`);
    },
    sessionOpened: (session) => void sessions.add(session),
    sessionClosed: (session) => void sessions.delete(session),
    async listen({ filter }) {
      return filter;
    },
    toolInputSchema: () => undefined,
  };
}

/** Options and dependencies that a test overrides. */
export interface TestServerOptions extends Partial<Omit<HttpServerOptions, "limits">> {
  readonly limits?: HttpServerOptions["limits"];
  readonly deps?: Partial<HttpServerDeps>;
}

/** A running HTTP server with its service and logger. */
export interface TestServer extends HttpServer {
  readonly service: TestService;
  readonly logger: TestLogger;
}

/** Tokens of the two identities `alice` and `bob`. */
export const aliceToken = `tcb_${randomBytes(32).toString("base64url")}`;
export const bobToken = `tcb_${randomBytes(32).toString("base64url")}`;
export const asAlice = { authorization: `Bearer ${aliceToken}` };
export const asBob = { authorization: `Bearer ${bobToken}` };

/** Starts an HTTP server on a free port, with the upstream servers `files` and `web`. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const service = createTestService();
  const logger = createTestLogger();
  const names = new Map([
    [asAlice.authorization, "alice"],
    [asBob.authorization, "bob"],
  ]);
  const server = await startHttpServer(
    {
      ...testServerDeps(service, logger),
      authenticate: (authorization) => {
        const name = names.get(authorization ?? "");
        return name === undefined ? undefined : localIdentity("token", name);
      },
      ...options.deps,
    },
    {
      listen: { host: "127.0.0.1", port: 0 },
      auth: "token",
      ...options,
      limits: { flushGraceMs: 100, ...options.limits },
    },
  );
  return Object.assign(server, { service, logger });
}

/** A running control server with its service and logger. */
export interface TestControl extends ControlServer {
  readonly service: TestService;
  readonly logger: TestLogger;
}

/** Starts a control server for `home`. */
export async function startControl(
  home: string,
  deps: Partial<Parameters<typeof startControlServer>[0]> = {},
): Promise<TestControl> {
  const service = createTestService();
  const logger = createTestLogger();
  const { platform } = process;
  const own = { home, platform, temporaryDirectory: tmpdir(), randomBytes };
  const server = await startControlServer(
    { ...testServerDeps(service, logger), ...own, ...deps },
    { flushGraceMs: 100 },
  );
  return Object.assign(server, { service, logger });
}

/** The dependencies that the HTTP server and the control server share. */
function testServerDeps(service: TestService, logger: TestLogger): Omit<HttpServerDeps, "authenticate"> {
  return {
    service,
    serverIds: () => ["files", "web"],
    isVisible: () => true,
    status: () => testStatus(service),
    tools: ({ name }) => testTools(name),
    serverLog: (id, lines) => [`${id} started`, "ready"].slice(-lines),
    readiness: () => ({ ready: 2, total: 2 }),
    metrics: new GatewayMetrics(),
    logger,
    now: Date.now,
    newId: randomUUID,
    sessions: new MemorySessionStore({ now: Date.now }),
  };
}

/** Returns one tool for all clients, and one that is named after the client. */
function testTools(name: string): readonly object[] {
  return ["echo", name].map((tool) => ({
    id: `files:${tool}`,
    wireName: `files__${tool}`,
    namespace: "files",
    origin: "server",
    isOwn: false,
    tags: [],
  }));
}

function testStatus(service: TestService) {
  const server = (id: string, state: "ready" | "unavailable") => ({
    id,
    transport: "stdio" as const,
    health: { state, since: 0 },
    trustState: "verified",
    mutabilityClass: "unknown",
    containment: {
      networkEgress: "allow",
      filesystemWrite: "deny",
      maxExecutionSeconds: 60,
      enforced: false,
      enforcedParts: ["max_execution_seconds" as const],
      notEnforcedParts: ["filesystem_write" as const],
      judgedParts: [],
    },
    labels: {},
    tools: 3,
    resources: 0,
    prompts: 0,
    restarts: id === "web" ? 2 : 0,
  });
  return {
    version: "0.1.0",
    startedAt: "2026-11-22T00:00:00.000Z",
    servers: [server("files", "ready"), server("web", "unavailable")],
    toolspecs: [],
    tools: 6,
    sessions: service.sessions.size,
    callsInFlight: 0,
    ownTools: 3,
    idleRules: [],
    pauses: [],
    limits: [],
    anchors: [],
    waiting: [],
    quarantined: [],
  };
}

/** A raw HTTP response. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON. */
  readonly json: { readonly [name: string]: never } & JsonObject;
  /** `error.data.code` of a JSON-RPC error. */
  readonly code: string | undefined;
}

/** An HTTP request. */
export interface Question {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: { readonly [name: string]: string | undefined };
  readonly body?: string | JsonObject | readonly JsonObject[];
}

/** Sends one request on its own connection. */
export function ask(
  server: { readonly port: number } | { readonly path: string },
  question: Question = {},
): Promise<Answer> {
  const { body } = question;
  const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
  const headers = {
    accept: "application/json, text/event-stream",
    ...(text === undefined
      ? undefined
      : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
    ...question.headers,
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      ...("port" in server ? { host: "127.0.0.1", port: server.port } : { socketPath: server.path }),
      path: question.path ?? "/mcp",
      method: question.method ?? (text === undefined ? "GET" : "POST"),
      headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)),
      agent: false,
    });
    let hasAnswer = false;
    request.on("response", (response) => {
      hasAnswer = true;
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => resolve(toAnswer(response.statusCode ?? 0, response.headers, chunks)));
    });
    // A server that rejects a body early may close the connection before all of it is sent.
    request.on("error", (error) => (hasAnswer ? undefined : reject(error)));
    request.end(text);
  });
}

function toAnswer(status: number, headers: IncomingHttpHeaders, chunks: readonly Buffer[]): Answer {
  const text = Buffer.concat(chunks).toString("utf8");
  return {
    status,
    headers,
    text,
    get json() {
      return JSON.parse(text);
    },
    get code() {
      return JSON.parse(text).error?.data?.code;
    },
  };
}

/** Writes `text` to a connection and returns everything that it receives until the connection closes. */
export function talk(port: number, text: string, host = "127.0.0.1"): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    let answer = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      answer += chunk;
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(answer));
    socket.write(text);
  });
}

/** Returns a JSON-RPC request. */
export function rpc(method: string, params: JsonObject = {}, id: number | string = 1): JsonObject {
  return { jsonrpc: "2.0", id, method, params };
}

export const initialize = rpc("initialize", {
  protocolVersion: "2025-11-25",
  capabilities: { sampling: {} },
  clientInfo: { name: "http-test-client", version: "1.0.0" },
});

/** Opens a legacy session and returns its id. */
export async function openSession(
  server: { readonly port: number },
  headers: { readonly [name: string]: string } = asAlice,
  path = "/mcp",
): Promise<string> {
  const { headers: answered } = await ask(server, { path, headers, body: initialize });
  return String(answered["mcp-session-id"]);
}

/** Returns a request of the modern era with its required headers. */
export function modern(
  method: string,
  params: JsonObject = {},
): Required<Pick<Question, "headers" | "body">> {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "http-test-client", version: "1.0.0" },
  };
  return {
    headers: {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof params["name"] === "string" ? { "mcp-name": params["name"] } : undefined),
    },
    body: rpc(method, { ...params, _meta: meta }),
  };
}
