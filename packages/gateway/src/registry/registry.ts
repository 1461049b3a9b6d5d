/**
 * The registry: a program's own functions and any number of MCP backends under
 * one index, searched, executed and served (registry document). It is the
 * library face of the gateway: the same index, the same governed call.
 *
 * It reads no configuration file and listens on nothing by itself; the program
 * that embeds it does.
 */

import { randomBytes, randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable, Writable } from "node:stream";
import type { PolicyConfig } from "@toolcrib/config";
import { lintServerId, parseConfig } from "@toolcrib/config";
import { isCodedError, type Logger, messageOf } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import {
  type ClientTransport,
  createHttpClient,
  HttpEndpoint,
  type ServerInfo,
  SseEndpoint,
  type StdioServer,
  StdioTransport,
  startStdioServer,
} from "@toolcrib/mcp";
import { createProcessLauncher } from "@toolcrib/process";
import { SecretScrubber } from "@toolcrib/redaction";
import { openStore, type Store } from "@toolcrib/store";
import {
  type Health,
  type Identity,
  localIdentity,
  type Tool,
  type ToolId,
  type Unsubscribe,
} from "@toolcrib/tool";
import { createUpstreamServer, type UpstreamServer } from "@toolcrib/upstream";
import { createCallIds } from "../call/call-id.ts";
import type { CallOptions, ToolHit } from "../gateway.ts";
import { GatewayCore } from "../gateway-core.ts";
import type { BackendSelector } from "../index/backend.ts";
import { pageOf } from "../service/list-pages.ts";
import { parseBackendUrl } from "./backend-url.ts";
import { createLocalSource, type LocalHandler, type LocalToolOptions } from "./local-source.ts";
import { RegistryError } from "./registry-error.ts";

/** What a registry is made with. Everything has a default. */
export interface RegistryConfig {
  /** What clients are told in `initialize`. @default toolcrib 0.0.0 */
  readonly serverInfo?: ServerInfo;
  /** Choose among several backends of one tool. @default local, then provider, then mcp */
  readonly backendSelector?: BackendSelector;
  /** Allow and deny lists of tool patterns. @default everything is allowed */
  readonly policy?: Partial<PolicyConfig>;
  /** Home directory of the audit trail. @default no trail is kept */
  readonly auditHome?: string;
  /** Takes structured records. @default nobody */
  readonly logger?: Logger;
}

/** An MCP server to aggregate (registry document, BackendConfig). */
export interface BackendConfig {
  /** Unique; the namespace of its tools. */
  readonly name: string;
  /** `http(s)://`, `sse(s)://` or `stdio://` (this process's standard streams). Not needed with `transport`. */
  readonly url?: string;
  /** Sent with each HTTP request. */
  readonly headers?: { readonly [name: string]: string };
  /** Failed connections in a row before it is left alone. @default tried again for ever */
  readonly maxRetries?: number;
  /** Milliseconds before the first retry; doubled each time, a minute at most. @default 250 */
  readonly retryInterval?: number;
  /** In place of `url`: makes a new transport for each connection. */
  readonly transport?: () => ClientTransport;
}

/** Which tools to list. */
export interface ListToolsOptions {
  readonly namespace?: string;
  /** Tools that have all of these tags. */
  readonly tags?: readonly string[];
  /** From the page before. */
  readonly cursor?: string;
  /** Tools on a page, 1 to 1000. @default 100 */
  readonly limit?: number;
}

/** What happened in a registry. */
export interface RegistryChange {
  readonly kind: "tools" | "backend";
  /** The backend whose health changed. */
  readonly backend?: string;
}

/** Where a registry and its backends stand. */
export interface RegistryHealth {
  readonly state: "new" | "started" | "stopped";
  readonly backends: { readonly [name: string]: Health };
}

/** A registry. Disposing it is `stop()`. */
export interface Registry extends AsyncDisposable {
  /**
   * Register a function as a tool, before or after `start`.
   *
   * @returns its id, `namespace:name` or `namespace:name:version`.
   * @throws {RegistryError} `REGISTRY_INVALID_REQUEST`, `REGISTRY_HANDLER_NOT_FOUND`
   */
  registerLocal(
    name: string,
    description: string,
    inputSchema: JsonObject,
    handler: LocalHandler,
    options?: LocalToolOptions,
  ): ToolId;
  /** @returns whether there was such a local tool. */
  unregisterLocal(id: ToolId): boolean;
  /** Register an MCP server; it is connected by `start`, or at once when the registry runs. @throws {RegistryError} `REGISTRY_INVALID_REQUEST` */
  registerBackend(backend: BackendConfig): void;
  /** Disconnect and forget a backend. @throws {RegistryError} `REGISTRY_BACKEND_NOT_FOUND` */
  unregisterBackend(name: string): Promise<void>;
  /** Connect all backends; resolves when each made its first contact or failed to. @throws {RegistryError} `REGISTRY_ALREADY_STARTED` */
  start(): Promise<void>;
  /** Close backends and clients. Safe to repeat. */
  stop(): Promise<void>;
  health(): RegistryHealth;
  /**
   * Execute a tool and map its result: structured content when there is some,
   * else the one text, else the list of content blocks.
   *
   * @throws {RegistryError} `REGISTRY_NOT_STARTED`, `REGISTRY_TOOL_NOT_FOUND`,
   *   `REGISTRY_BACKEND_NOT_FOUND`, `REGISTRY_HANDLER_NOT_FOUND`, `REGISTRY_EXECUTION_FAILED`
   */
  execute(id: ToolId, args?: JsonObject, options?: CallOptions): Promise<unknown>;
  /** @param limit 1 to 1000. @default 20 */
  search(query: string, limit?: number): readonly ToolHit[];
  getTool(id: ToolId): Tool | undefined;
  /** @throws {GatewayError} `CURSOR_STALE` when the tools changed since the cursor was given */
  listTools(options?: ListToolsOptions): {
    readonly tools: readonly Tool[];
    readonly nextCursor: string | undefined;
  };
  /** Namespaces that have tools, sorted. */
  namespaces(): readonly string[];
  onChange(listener: (change: RegistryChange) => void): Unsubscribe;
  /** Serve a client on a pair of streams. @throws {RegistryError} `REGISTRY_NOT_STARTED` */
  serveStdio(streams?: { readonly input: Readable; readonly output: Writable }): StdioServer;
  /** A handler of streamable HTTP for a `node:http` server; the program authenticates before. */
  serveHttp(): (request: IncomingMessage, response: ServerResponse) => void;
  /** A handler of legacy SSE: GET opens the stream, POSTs to the same path carry messages. */
  serveSse(path: string): (request: IncomingMessage, response: ServerResponse) => void;
}

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };
const identity: Identity = localIdentity("library", "library");

/** Create a registry. Nothing is started and nothing is written before `start`. */
export function createRegistry(config: RegistryConfig = {}): Registry {
  const logger = config.logger ?? silent;
  const serverInfo = config.serverInfo ?? { name: "toolcrib", version: "0.0.0" };
  const now = Date.now;
  const run = randomUUID();
  const scrubber = new SecretScrubber();
  const listeners = new Set<(change: RegistryChange) => void>();
  const backends = new Map<string, UpstreamServer>();
  const local = createLocalSource(now);
  const httpClient = createHttpClient();
  const launcher = createProcessLauncher({ env: process.env, now, logger, randomBytes });
  const doors = new Set<AsyncDisposable>();
  let standardStreamsTakenBy: string | undefined;
  let store: Store | undefined;
  let state: RegistryHealth["state"] = "new";
  let http: HttpEndpoint | undefined;
  let starting: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;

  const core = new GatewayCore(toGatewayConfig(config), {
    serverInfo,
    audit: {
      intent(data) {
        if (store !== undefined) return store.audit.intent(data);
        // Without a trail nothing is recorded; a trail that is not open yet refuses.
        return config.auditHome === undefined
          ? Promise.resolve()
          : Promise.reject(new Error("the trail is not open"));
      },
      record: (type, data) => store?.audit.record(type, data),
    },
    metrics: { callStarted() {}, callFinished() {}, callDenied() {} },
    logger,
    scrubber,
    now,
    newCallId: createCallIds(now, randomBytes(8).toString("hex")),
    selectBackend: config.backendSelector,
  });
  core.roster.add(local);
  core.index.onChange(() => emit({ kind: "tools" }));

  function emit(change: RegistryChange): void {
    for (const listener of listeners) {
      try {
        listener(change);
      } catch (error) {
        logger.error({ reason: messageOf(error) }, "a listener of the registry failed");
      }
    }
  }

  function requireStarted(action: string): void {
    if (state === "started") return;
    throw new RegistryError("REGISTRY_NOT_STARTED", `Cannot ${action}: the registry is not started`, {
      hint: state === "stopped" ? "it was stopped; create a new one" : "call start() first",
    });
  }

  function connect(backend: BackendConfig): UpstreamServer {
    const address = backend.transport === undefined ? parseBackendUrl(backend.url ?? "") : undefined;
    if (address?.kind === "stdio") takeStandardStreams(standardUserOf(backend.name));
    const { headers = {} } = backend;
    for (const [name, value] of Object.entries(headers)) {
      if (/authorization|cookie|token|key|secret/i.test(name)) scrubber.learn(backend.name, value);
    }
    const upstream = createUpstreamServer(
      {
        id: backend.name,
        kind: address === undefined || address.kind === "stdio" ? "custom" : address.kind,
        scrub: (text) => scrubber.text(text),
        resolveTransport: async () => {
          if (backend.transport !== undefined) return { kind: "custom", transport: backend.transport() };
          if (address === undefined || address.kind === "stdio") {
            return { kind: "custom", transport: new ParentTransport() };
          }
          return { kind: address.kind, url: address.url, headers };
        },
      },
      { launcher, httpClient, logger, now, random: Math.random, clientInfo: serverInfo },
      {
        reconnectMinMs: backend.retryInterval,
        // Standard streams that ended do not come back.
        reconnectMaxAttempts: address?.kind === "stdio" ? 0 : backend.maxRetries,
      },
    );
    upstream.onChange(({ kind }) => {
      if (kind === "health") emit({ kind: "backend", backend: backend.name });
    });
    return upstream;
  }

  async function start(): Promise<void> {
    if (config.auditHome !== undefined) {
      store = await openStore(
        { home: config.auditHome },
        {
          now,
          onProblem: ({ code, message }) => logger.warn({ code, reason: message }, "audit trail"),
        },
      );
    }
    // `stop` may have come meanwhile; it waits for this and then takes all down.
    if (state !== "started") return;
    // Backends end when they are disposed.
    await Promise.all([...backends.values()].map((backend) => backend.start(new AbortController().signal)));
  }

  async function stop(): Promise<void> {
    state = "stopped";
    for (const door of [...doors].reverse()) await door[Symbol.asyncDispose]();
    await Promise.allSettled([...backends.values()].map((backend) => backend[Symbol.asyncDispose]()));
    // A start that failed has told its caller.
    await starting?.catch(() => {});
    await launcher[Symbol.asyncDispose]();
    await httpClient.destroy();
    await local[Symbol.asyncDispose]();
    await store?.[Symbol.asyncDispose]();
  }

  /** This process has one pair of standard streams, for one client or one backend. */
  function takeStandardStreams(by: string): void {
    if (standardStreamsTakenBy !== undefined) {
      throw new RegistryError(
        "REGISTRY_INVALID_REQUEST",
        `Cannot use this process's standard streams for ${by}: ${standardStreamsTakenBy} uses them`,
      );
    }
    standardStreamsTakenBy = by;
  }

  const registry: Registry = {
    registerLocal: (name, description, inputSchema, handler, options) =>
      local.register(name, description, inputSchema, handler, options),
    unregisterLocal: (id) => local.unregister(id),
    registerBackend(backend) {
      if (state === "stopped") requireStarted(`register "${backend.name}"`);
      const problem = lintServerId(backend.name);
      if (problem !== undefined) {
        const message = `Backend name "${backend.name}" is not allowed: ${problem.reason}`;
        throw new RegistryError("REGISTRY_INVALID_REQUEST", message, { hint: `write ${problem.fix}` });
      }
      if (backends.has(backend.name)) {
        throw new RegistryError(
          "REGISTRY_INVALID_REQUEST",
          `A backend named "${backend.name}" is already registered`,
        );
      }
      const upstream = connect(backend);
      backends.set(backend.name, upstream);
      core.roster.add(upstream, { backendKind: "mcp" });
      if (state === "started") void upstream.start(new AbortController().signal);
    },
    async unregisterBackend(name) {
      const backend = backends.get(name);
      if (backend === undefined) {
        throw new RegistryError("REGISTRY_BACKEND_NOT_FOUND", `No backend is named "${name}"`);
      }
      backends.delete(name);
      if (standardStreamsTakenBy === standardUserOf(name)) standardStreamsTakenBy = undefined;
      core.roster.remove(backend);
      await backend[Symbol.asyncDispose]();
    },
    async start() {
      if (state !== "new") {
        throw new RegistryError(
          "REGISTRY_ALREADY_STARTED",
          state === "started"
            ? "The registry is already started"
            : "The registry was stopped and cannot start again",
          { hint: state === "started" ? undefined : "create a new registry" },
        );
      }
      state = "started";
      starting = start();
      try {
        await starting;
      } catch (error) {
        // Nothing was started; what was wrong with the home can be mended.
        if (state === "started") state = "new";
        throw error;
      }
    },
    stop() {
      stopping ??= stop();
      return stopping;
    },
    health: () => ({
      state,
      backends: Object.fromEntries(
        [...backends].map(([name, backend]) => [name, scrubber.value(backend.health())]),
      ),
    }),
    async execute(id, args = {}, options = {}) {
      requireStarted(`execute "${id}"`);
      if (typeof id !== "string")
        throw new RegistryError("REGISTRY_INVALID_REQUEST", "A tool id must be a string");
      if (!isJsonObject(args))
        throw new RegistryError("REGISTRY_INVALID_REQUEST", "Arguments must be an object");
      const outcome = await core.call(identity, id, args, options);
      if (outcome.kind === "result" && outcome.result.isError !== true) return mapResult(outcome.result);
      throw toRegistryError(id, outcome);
    },
    search: (query, limit = 20) => core.search(identity, query, limit),
    getTool: (id) => core.find(identity, id)?.tool,
    listTools(options = {}) {
      const { namespace, tags = [], cursor, limit = 100 } = options;
      if (!Number.isInteger(limit) || limit < 1 || limit > 1000) {
        throw new RegistryError(
          "REGISTRY_INVALID_REQUEST",
          `limit must be a whole number from 1 to 1000, not ${limit}`,
        );
      }
      const wanted = tags.map((tag) => tag.trim().toLowerCase());
      const tools = core
        .listTools(identity)
        .filter((tool) => !tool.isOwn && (namespace === undefined || tool.namespace === namespace))
        .filter((tool) => wanted.every((tag) => tool.tags.includes(tag)))
        .flatMap(({ id }) => core.find(identity, id)?.tool ?? []);
      const edition = `${run} ${core.index.generation}/${namespace ?? ""}/${wanted.join(",")}/${limit}`;
      const page = pageOf(tools, cursor, edition, limit);
      return { tools: page.items, nextCursor: page.nextCursor };
    },
    namespaces() {
      const names = core.listTools(identity).filter((tool) => !tool.isOwn);
      return [...new Set(names.map(({ namespace }) => namespace))].sort();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    serveStdio(given) {
      requireStarted("serve");
      if (given === undefined) takeStandardStreams("a client");
      const streams = given ?? { input: process.stdin, output: process.stdout };
      const server = startStdioServer(core.service, streams, { view: "", identity, sessionId: randomUUID() });
      doors.add(server);
      void server.ended.then(() => doors.delete(server));
      return server;
    },
    serveHttp() {
      requireStarted("serve");
      http ??= new HttpEndpoint(core.service, { now, newSessionId: () => randomUUID() });
      const endpoint = http;
      doors.add(endpoint);
      return (request, response) => void endpoint.handle(request, response, { view: "", identity });
    },
    serveSse(path) {
      requireStarted("serve");
      const deps = { now, newSessionId: () => randomUUID() };
      const endpoint: SseEndpoint = new SseEndpoint(core.service, deps, { messagesPath: path });
      doors.add(endpoint);
      return (request, response) => {
        if (request.method === "GET") endpoint.open(request, response, { view: "", identity });
        else void endpoint.post(request, response, { view: "", identity });
      };
    },
    [Symbol.asyncDispose]() {
      return registry.stop();
    },
  };
  return registry;
}

function standardUserOf(backendName: string): string {
  return `the backend "${backendName}"`;
}

/** Connects to the process that started this one, over the standard streams. */
class ParentTransport extends StdioTransport {
  constructor() {
    super({ stdin: process.stdout, stdout: process.stdin });
  }

  override async close(): Promise<void> {
    await super.close();
    // A stream that is read keeps the process from ending.
    process.stdin.pause();
  }
}

/** A result as a program wants it (registry document, Result Mapping). */
function mapResult(result: Awaited<ReturnType<UpstreamServer["call"]>>): unknown {
  if (result.structuredContent !== undefined) return result.structuredContent;
  const [only] = result.content;
  return result.content.length === 1 && only?.type === "text" ? only["text"] : result.content;
}

function toRegistryError(id: ToolId, outcome: Awaited<ReturnType<GatewayCore["call"]>>): RegistryError {
  if (outcome.kind === "denied") {
    return new RegistryError("REGISTRY_EXECUTION_FAILED", `Cannot execute "${id}": ${outcome.reason}`, {
      hint: outcome.hint,
      data: { cause: outcome.code },
    });
  }
  if (outcome.kind === "result") {
    const text = outcome.result.content.map((block) => block["text"] ?? `[${block.type}]`).join("\n");
    return new RegistryError("REGISTRY_EXECUTION_FAILED", `"${id}" failed: ${text}`, {
      data: { callId: outcome.callId },
    });
  }
  const { error } = outcome;
  if (error instanceof RegistryError) return error;
  if (isCodedError(error) && error.code === "TOOL_NOT_FOUND") {
    return new RegistryError("REGISTRY_TOOL_NOT_FOUND", `No tool has the id "${id}"`, {
      hint: "see listTools() and search()",
    });
  }
  if (isCodedError(error) && error.code === "PARAMS_INVALID") {
    return new RegistryError("REGISTRY_INVALID_REQUEST", error.message, { cause: error });
  }
  if (isCodedError(error) && error.code === "REGISTRY_HANDLER_NOT_FOUND") {
    return new RegistryError("REGISTRY_HANDLER_NOT_FOUND", error.message, { cause: error });
  }
  if (isCodedError(error) && error.code === "BACKEND_NOT_FOUND") {
    return new RegistryError("REGISTRY_BACKEND_NOT_FOUND", error.message, { cause: error });
  }
  return new RegistryError("REGISTRY_EXECUTION_FAILED", `"${id}" failed: ${messageOf(error)}`, {
    cause: error,
    hint: isCodedError(error) ? error.hint : undefined,
    data: isCodedError(error) ? { ...error.data, cause: error.code } : undefined,
  });
}

/** The gateway's defaults with the registry's policy. */
function toGatewayConfig(config: RegistryConfig) {
  const { value } = parseConfig([{ name: "<registry>", text: "{}" }]);
  if (value === undefined)
    throw new RegistryError("REGISTRY_INVALID_REQUEST", "The default configuration is not valid");
  return { ...value, policy: { ...value.policy, ...config.policy } };
}
