/**
 * The registry: a program's own functions and any number of MCP backends under
 * one index, searched, executed and served (registry document). It is the
 * gateway as a library: the same index, the same governed call.
 *
 * A composition root. It reads no configuration file and listens on nothing by
 * itself; the program that embeds it does.
 */

import { randomBytes, randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { lintServerId, parseConfig } from "@toolcrib/config";
import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { createCallIds, GatewayCore, type ToolHit, trustedCertificates } from "@toolcrib/gateway";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { disposeOnce } from "@toolcrib/lifecycle";
import {
  createHttpClient,
  HttpEndpoint,
  pageOf,
  type ServerInfo,
  SseEndpoint,
  type StdioServer,
  StdioTransport,
  startStdioServer,
} from "@toolcrib/mcp";
import { createProcessLauncher } from "@toolcrib/process";
import { SecretScrubber } from "@toolcrib/redaction";
import {
  createPauseStore,
  MemorySessionStore,
  openStore,
  type PauseStore,
  type Store,
} from "@toolcrib/store";
import { type Identity, localIdentity, type Tool, type ToolId, type Unsubscribe } from "@toolcrib/tool";
import { createUpstreamServer, type UpstreamServer } from "@toolcrib/upstream";
import { type BackendAddress, parseBackendUrl } from "./backend-url.ts";
import { checkOptions } from "./check-options.ts";
import { type LocalHandler, LocalSource, type LocalToolOptions } from "./local-source.ts";
import {
  backendOptions,
  callOptions,
  listToolsOptions,
  localToolOptions,
  registryOptions,
  serveOptions,
} from "./option-checks.ts";
import { RegistryError } from "./registry-error.ts";
import { createRegistryHooks } from "./registry-hooks.ts";
import { toRegistryValue } from "./registry-outcome.ts";
import type {
  BackendConfig,
  ListToolsOptions,
  Registry,
  RegistryChange,
  RegistryConfig,
  RegistryHealth,
  ServeOptions,
} from "./registry-types.ts";
import { type RequestHandler, serveAuthenticated } from "./serve-authenticated.ts";

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };
const identity: Identity = localIdentity("library", "library");

/** Creates a registry. It starts and writes nothing before `start`. @throws {RegistryError} `REGISTRY_INVALID_REQUEST` */
export function createRegistry(config: RegistryConfig = {}): Registry {
  checkOptions("the registry", config, registryOptions);
  return new RunningRegistry(config);
}

class RunningRegistry implements Registry {
  readonly #config: RegistryConfig;
  readonly #logger: Logger;
  readonly #serverInfo: ServerInfo;
  /** Differs between two registries, so that no cursor is valid in another one. */
  readonly #run = randomUUID();
  readonly #scrubber = new SecretScrubber();
  readonly #listeners = new Set<(change: RegistryChange) => void>();
  readonly #backends = new Map<string, UpstreamServer>();
  readonly #local = new LocalSource(Date.now);
  readonly #httpClient = createHttpClient();
  readonly #launcher;
  /** The pauses of the operator of the home. */
  readonly #pauses: PauseStore | undefined;
  #unwatchPauses: (() => Promise<void>) | undefined;
  readonly #core: GatewayCore;
  readonly #endpoints = new Set<AsyncDisposable>();
  readonly #stop = disposeOnce(() => this.#dispose());
  /** The user of this process's standard streams, which serve one client or one backend. */
  #standardStreamsUser: string | undefined;
  #certificates: ReturnType<typeof trustedCertificates> | undefined;
  #store: Store | undefined;
  #state: RegistryHealth["state"] = "new";
  #http: HttpEndpoint | undefined;
  #starting: Promise<void> | undefined;

  constructor(config: RegistryConfig) {
    this.#config = config;
    this.#logger = config.logger ?? silent;
    this.#serverInfo = config.serverInfo ?? { name: "toolcrib", version: "0.0.0" };
    const logger = this.#logger;
    const now = Date.now;
    this.#launcher = createProcessLauncher({ env: process.env, now, logger, randomBytes });
    const { auditHome } = config;
    this.#pauses = auditHome === undefined ? undefined : createPauseStore(auditHome, { randomBytes });
    this.#core = new GatewayCore(toGatewayConfig(config), {
      serverInfo: this.#serverInfo,
      audit: {
        intent: (data) => this.#recordIntent(data),
        record: (type, data) => this.#store?.audit.record(type, data),
      },
      metrics: { callStarted() {}, callFinished() {}, callDenied() {} },
      logger,
      scrubber: this.#scrubber,
      now,
      newCallId: createCallIds(now, randomBytes(8).toString("hex")),
      randomBytes,
      selectBackend: config.backendSelector,
      search: config.search,
      hasMetaTools: config.listing?.ownTools,
      pauses: this.#pauses,
      hooks: createRegistryHooks(config, { monotonicMs: () => performance.now(), randomBytes }),
    });
    this.#core.roster.add(this.#local, { namespace: undefined });
    this.#core.index.onChange(() => this.#emit({ kind: "tools" }));
  }

  registerLocal(
    name: string,
    description: string,
    inputSchema: JsonObject,
    handler: LocalHandler,
    options: LocalToolOptions = {},
  ): ToolId {
    checkOptions(`the tool "${name}"`, options, localToolOptions);
    return this.#local.register(name, description, inputSchema, handler, options);
  }

  unregisterLocal(id: ToolId): boolean {
    return this.#local.unregister(id);
  }

  registerBackend(backend: BackendConfig): void {
    checkOptions(`the backend "${backend?.name}"`, backend, backendOptions);
    const { name, namespace = name } = backend;
    if (name === undefined) {
      const hint = 'write name: "NAME"; it is also the namespace of its tools';
      throw new RegistryError("REGISTRY_INVALID_REQUEST", "A backend has no name", { hint });
    }
    if (this.#state === "stopped") this.#requireStarted(`register "${name}"`);
    for (const [title, id] of [
      ["Backend name", name],
      ["Namespace", namespace],
    ] as const) {
      const problem = lintServerId(id);
      if (problem === undefined) continue;
      const message = `${title} "${id}" is not allowed: ${problem.reason}`;
      throw new RegistryError("REGISTRY_INVALID_REQUEST", message, { hint: `write ${problem.fix}` });
    }
    if (this.#backends.has(name)) throw invalid(`A backend named "${name}" is already registered`);
    const upstream = this.#createUpstream(backend);
    this.#backends.set(name, upstream);
    this.#core.roster.add(upstream, { backendKind: "mcp", namespace });
    if (this.#state === "started") void upstream.start(new AbortController().signal);
  }

  async unregisterBackend(name: string): Promise<void> {
    const backend = this.#backends.get(name);
    if (backend === undefined) {
      throw new RegistryError("REGISTRY_BACKEND_NOT_FOUND", `No backend is named "${name}"`);
    }
    this.#backends.delete(name);
    if (this.#standardStreamsUser === backendUser(name)) this.#standardStreamsUser = undefined;
    this.#core.roster.remove(backend);
    await backend[Symbol.asyncDispose]();
  }

  async start(): Promise<void> {
    if (this.#state !== "new") {
      const isStarted = this.#state === "started";
      throw new RegistryError(
        "REGISTRY_ALREADY_STARTED",
        isStarted ? "The registry is already started" : "The registry was stopped and cannot start again",
        { hint: isStarted ? undefined : "create a new registry" },
      );
    }
    this.#state = "started";
    this.#starting = this.#open();
    try {
      await this.#starting;
    } catch (error) {
      // Nothing was started; the program can repair the home and try again.
      if (this.#isStarted()) this.#state = "new";
      throw error;
    }
  }

  stop(): Promise<void> {
    return this.#stop();
  }

  health(): RegistryHealth {
    const backends = [...this.#backends].map(
      ([name, backend]) => [name, this.#scrubber.value(backend.health())] as const,
    );
    return { state: this.#state, backends: Object.fromEntries(backends) };
  }

  async execute(
    id: ToolId,
    args: JsonObject = {},
    options: Parameters<Registry["execute"]>[2] = {},
  ): Promise<unknown> {
    this.#requireStarted(`execute "${id}"`);
    if (typeof id !== "string") throw invalid("A tool id must be a string");
    if (!isJsonObject(args)) throw invalid("Arguments must be an object");
    checkOptions(`the call of "${id}"`, options, callOptions);
    return toRegistryValue(id, await this.#core.call(identity, id, args, options));
  }

  search(query: string, limit = 20): readonly ToolHit[] {
    return this.#core.search(identity, query, limit);
  }

  getTool(id: ToolId): Tool | undefined {
    return this.#core.describe(identity, id);
  }

  listTools(options: ListToolsOptions = {}): {
    readonly tools: readonly Tool[];
    readonly nextCursor: string | undefined;
  } {
    checkOptions("the list", options, listToolsOptions);
    const { namespace, tags = [], cursor, limit = 100, ownTools = false } = options;
    const wanted = tags.map((tag) => tag.trim().toLowerCase());
    const tools = this.#core
      .listTools(identity)
      .filter(
        (tool) => (ownTools || !tool.isOwn) && (namespace === undefined || tool.namespace === namespace),
      )
      .filter((tool) => wanted.every((tag) => tool.tags.includes(tag)))
      .flatMap(({ id }) => this.getTool(id) ?? []);
    const { generation } = this.#core.index;
    const edition = `${this.#run} ${generation}/${namespace ?? ""}/${wanted.join(",")}/${limit}/${ownTools}`;
    const page = pageOf(tools, cursor, edition, limit);
    return { tools: page.items, nextCursor: page.nextCursor };
  }

  namespaces(): readonly string[] {
    const tools = this.#core.listTools(identity).filter((tool) => !tool.isOwn);
    return [...new Set(tools.map(({ namespace }) => namespace))].sort();
  }

  onChange(listener: (change: RegistryChange) => void): Unsubscribe {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  serveStdio(given?: { readonly input: Readable; readonly output: Writable }): StdioServer {
    this.#requireStarted("serve");
    if (given === undefined) this.#takeStandardStreams("a client");
    const streams = given ?? { input: process.stdin, output: process.stdout };
    const server = startStdioServer(this.#core.service, streams, {
      view: "",
      identity: localIdentity("stdio", "stdio"),
      sessionId: randomUUID(),
    });
    this.#endpoints.add(server);
    void server.ended.then(() => this.#endpoints.delete(server));
    return server;
  }

  serveHttp(options: ServeOptions = {}): RequestHandler {
    this.#requireStarted("serve");
    checkOptions("the handler", options, serveOptions);
    const { authenticate } = options;
    this.#http ??= new HttpEndpoint(this.#core.service, {
      now: Date.now,
      newSessionId: () => randomUUID(),
      sessions: new MemorySessionStore({ now: Date.now }),
    });
    const endpoint = this.#http;
    this.#endpoints.add(endpoint);
    return serveAuthenticated(authenticate, this.#logger, (request, response, client) => {
      void endpoint.handle(request, response, { view: "", identity: client });
    });
  }

  serveSse(path: string, options: ServeOptions = {}): RequestHandler {
    this.#requireStarted("serve");
    checkOptions("the handler", options, serveOptions);
    const { authenticate } = options;
    const deps = { now: Date.now, newSessionId: () => randomUUID() };
    const endpoint = new SseEndpoint(this.#core.service, deps, { messagesPath: path });
    this.#endpoints.add(endpoint);
    return serveAuthenticated(authenticate, this.#logger, (request, response, client) => {
      const caller = { view: "", identity: client };
      if (request.method === "GET") endpoint.open(request, response, caller);
      else void endpoint.post(request, response, caller);
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #isStarted(): boolean {
    return this.#state === "started";
  }

  #requireStarted(action: string): void {
    if (this.#state === "started") return;
    throw new RegistryError("REGISTRY_NOT_STARTED", `Cannot ${action}: the registry is not started`, {
      hint: this.#state === "stopped" ? "it was stopped; create a new one" : "call start() first",
    });
  }

  #emit(change: RegistryChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#logger.error({ reason: messageOf(error) }, "a listener of the registry failed");
      }
    }
  }

  #recordIntent(data: Parameters<Store["audit"]["intent"]>[0]): Promise<void> {
    if (this.#store !== undefined) return this.#store.audit.intent(data);
    // Without a trail nothing is recorded; a trail that is not open yet refuses the call.
    return this.#config.auditHome === undefined
      ? Promise.resolve()
      : Promise.reject(new Error("the trail is not open"));
  }

  async #open(): Promise<void> {
    const { auditHome } = this.#config;
    if (auditHome !== undefined) {
      this.#store = await openStore(
        { home: auditHome },
        {
          now: Date.now,
          randomBytes,
          onProblem: ({ code, message }) => this.#logger.warn({ code, reason: message }, "audit trail"),
        },
      );
      await this.#core.pauses.refresh();
      this.#unwatchPauses = this.#core.pauses.watch();
    }
    // `stop` can have been called meanwhile; it waits for this and then disposes of everything.
    if (!this.#isStarted()) return;
    // The starts of backends end when these are disposed.
    const { signal } = new AbortController();
    await Promise.all([...this.#backends.values()].map((backend) => backend.start(signal)));
  }

  async #dispose(): Promise<void> {
    this.#state = "stopped";
    // Disposed in the opposite order; an error keeps nothing from being disposed.
    await using resources = new AsyncDisposableStack();
    resources.defer(() => this.#store?.[Symbol.asyncDispose]());
    resources.defer(() => this.#unwatchPauses?.());
    resources.use(this.#local);
    resources.defer(() => this.#httpClient.destroy());
    resources.use(this.#launcher);
    // The caller of `start` received its error.
    resources.defer(async () => void (await this.#starting?.catch(() => {})));
    resources.defer(async () => {
      await Promise.allSettled([...this.#backends.values()].map((backend) => backend[Symbol.asyncDispose]()));
    });
    for (const endpoint of this.#endpoints) resources.use(endpoint);
  }

  #createUpstream(backend: BackendConfig): UpstreamServer {
    const { name, namespace, headers = {}, transport, url = "" } = backend;
    const address = transport === undefined ? parseBackendUrl(url) : undefined;
    if (address?.kind === "stdio") this.#takeStandardStreams(backendUser(name));
    for (const [header, value] of Object.entries(headers)) {
      if (/authorization|cookie|token|key|secret/i.test(header)) this.#scrubber.learn(name, value);
    }
    const upstream = createUpstreamServer(
      {
        id: name,
        namespace,
        kind: address === undefined || address.kind === "stdio" ? "custom" : address.kind,
        scrub: (text) => this.#scrubber.text(text),
        resolveTransport: () => this.#resolveTransport(backend, address),
      },
      {
        launcher: this.#launcher,
        httpClient: this.#httpClient,
        logger: this.#logger,
        now: Date.now,
        random: Math.random,
        clientInfo: this.#serverInfo,
      },
      {
        reconnectMinMs: backend.retryInterval,
        // Standard streams that ended cannot be opened again.
        reconnectMaxAttempts: address?.kind === "stdio" ? 0 : backend.maxRetries,
      },
    );
    upstream.onChange(({ kind }) => {
      if (kind === "health") this.#emit({ kind: "backend", backend: name });
    });
    return upstream;
  }

  /** Reads the certificates of `SSL_CERT_FILE` once. One that cannot be used is logged. */
  async #resolveTransport(
    { transport, headers = {} }: BackendConfig,
    address: BackendAddress | undefined,
  ): Promise<ResolvedTransport> {
    if (transport !== undefined) return { kind: "custom", transport: transport() };
    if (address === undefined || address.kind === "stdio") {
      return { kind: "custom", transport: new ParentTransport() };
    }
    this.#certificates ??= trustedCertificates(process.env["SSL_CERT_FILE"], this.#logger);
    return { kind: address.kind, url: address.url, headers, network: await this.#certificates };
  }

  #takeStandardStreams(user: string): void {
    if (this.#standardStreamsUser !== undefined) {
      throw invalid(
        `Cannot use this process's standard streams for ${user}: ${this.#standardStreamsUser} uses them`,
      );
    }
    this.#standardStreamsUser = user;
  }
}

type ResolvedTransport = Awaited<ReturnType<Parameters<typeof createUpstreamServer>[0]["resolveTransport"]>>;

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

function backendUser(name: string): string {
  return `the backend "${name}"`;
}

function invalid(message: string): RegistryError {
  return new RegistryError("REGISTRY_INVALID_REQUEST", message);
}

/** The defaults of the gateway with the policy of the registry. */
function toGatewayConfig(config: RegistryConfig) {
  const { value } = parseConfig([{ name: "<registry>", text: "{}" }]);
  if (value === undefined) throw invalid("The default configuration is not valid");
  const { mode, ownTools = true, hidden = [], pinned = [] } = config.listing ?? {};
  if (!ownTools && mode !== undefined && mode !== "full") {
    throw new RegistryError(
      "REGISTRY_INVALID_REQUEST",
      `Option "listing.mode" of the registry is "${mode}", which lists Toolcrib's own tools, and "listing.ownTools" is false`,
      { hint: 'use mode: "full", or leave out ownTools' },
    );
  }
  return {
    ...value,
    policy: { ...value.policy, ...config.policy },
    serve: { ...value.serve, mode: mode ?? value.serve.mode, tools: { hidden, pinned } },
  };
}
