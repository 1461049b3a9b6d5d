/**
 * The composition root: from a checked configuration to a running gateway. All
 * that touches the world is made here and handed down: clock, randomness,
 * environment, store, processes, connections.
 */

import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import type { GatewayConfig, ToolServerConfig } from "@toolcrib/config";
import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { readRegularFile } from "@toolcrib/files";
import { createHttpClient } from "@toolcrib/mcp";
import { createProcessLauncher } from "@toolcrib/process";
import { SecretScrubber } from "@toolcrib/redaction";
import { openStore } from "@toolcrib/store";
import { createUpstreamServer, type UpstreamLimits, type UpstreamServer } from "@toolcrib/upstream";
import { createCallIds } from "./call/call-id.ts";
import { openComposites } from "./composites/open-composites.ts";
import { digestConfig } from "./config-digest.ts";
import type { Gateway, ServerStatus } from "./gateway.ts";
import { createGatewayCore } from "./gateway-core.ts";
import { GatewayError } from "./gateway-error.ts";
import { type HttpServer, startHttpServer } from "./http/http-server.ts";
import { createMetrics } from "./http/metrics.ts";
import { openTokenStore } from "./http/token-store.ts";
import { resolveTransport } from "./resolve-transport.ts";
import { createSecretResolver } from "./secrets/secret-resolver.ts";
import type { Toolspecs, ToolspecsDeps } from "./toolspecs/open-toolspecs.ts";

/** What a gateway needs of its process. */
export interface GatewayDeps {
  /** Home directory (`~/.toolcrib`); created when it is missing. */
  readonly home: string;
  /** Environment of the process: PATH, HOME and what `secret_key_ref: {env: …}` names. */
  readonly environment: { readonly [name: string]: string | undefined };
  /** Folder that relative paths of the command line are relative to. */
  readonly directory: string;
  readonly logger: Logger;
  /** This program's version, as clients and servers see it. */
  readonly version: string;
  /** Files that the configuration was read from, for the audit. */
  readonly configFiles: readonly string[];
  /** Limits of upstream servers that tests change. @default `resolveUpstreamLimits` */
  readonly upstreamLimits?: UpstreamLimits;
}

const noToolspecs: Toolspecs = {
  started: Promise.resolve(),
  ids: [],
  startedCount: () => 0,
  status: () => [],
  async [Symbol.asyncDispose]() {},
};

/** The toolspecs of `config`. What sends their requests is loaded where there are any. */
async function openToolspecs(config: GatewayConfig, deps: ToolspecsDeps): Promise<Toolspecs> {
  if (config.toolspecs.length === 0) return noToolspecs;
  return (await import("./toolspecs/open-toolspecs.ts")).openToolspecs(config, deps);
}

/** Tools whose words are read in one go: some milliseconds. */
const searchPortion = 25;

/** Milliseconds that calls in flight get at shutdown. */
const drainMs = 10_000;

/**
 * Start a gateway. Servers are started in parallel and none is waited for;
 * `ready()` tells when each made its first contact, and each toolspec had its
 * secrets looked for.
 *
 * @throws {StoreError} when the home cannot be used.
 */
export async function startGateway(config: GatewayConfig, deps: GatewayDeps): Promise<Gateway> {
  const { logger, version, environment } = deps;
  const now = Date.now;
  const startedAt = now();
  const scrubber = new SecretScrubber();
  const store = await openStore(
    { home: deps.home, audit: { durability: config.audit.durability } },
    {
      now,
      onProblem: (problem) => logger.warn({ code: problem.code, reason: problem.message }, "audit trail"),
    },
  );
  const metrics = createMetrics(performance.timeOrigin);
  const launcher = createProcessLauncher(
    { env: environment, now, logger, randomBytes },
    { directory: deps.directory, logsDirectory: `${deps.home}/logs` },
  );
  const httpClient = createHttpClient();
  const serverInfo = { name: "toolcrib", title: "Toolcrib", version };
  const core = createGatewayCore(config, {
    serverInfo,
    audit: { intent: (event) => store.audit.intent(event), record },
    metrics: {
      ...metrics,
      callStarted() {
        metrics.callStarted();
        // Its intent, which is on record by now.
        metrics.auditEvents(1);
      },
    },
    logger,
    scrubber,
    now,
    newCallId: createCallIds(now, randomBytes(8).toString("hex")),
  });
  record("config.changed", { files: deps.configFiles, digest: digestConfig(config) });

  const composites = await openComposites(config, deps.home, {
    core,
    record,
    logger,
    now,
    randomBytes,
    monotonicMs: () => performance.now(),
    nextTurn: () => nextTurn(),
    startTimer(delayMs, callback) {
      const timer = setTimeout(callback, delayMs);
      return () => clearTimeout(timer);
    },
  }).catch((error: unknown) => {
    // What was saved is out of reach; the servers are not.
    logger.error({ reason: messageOf(error) }, "composite tools are not available");
    return undefined;
  });

  let toolspecs = noToolspecs;
  let preparing: Promise<void> = Promise.resolve();
  let http: HttpServer | undefined;
  let opening: Promise<HttpServer> | undefined;
  let disposing: Promise<void> | undefined;

  const servers = config.toolServers.map((server) => ({ server, upstream: createUpstream(server) }));
  const starts = servers.map(({ server, upstream }) => startServer(server, upstream));
  toolspecs = await openToolspecs(config, {
    core,
    home: deps.home,
    environment,
    record,
    scrubber,
    logger,
    version,
    now,
    randomBytes,
    random: Math.random,
    sleep: (ms, signal) => delay(ms, undefined, { signal }),
    startTimer(delayMs, callback) {
      const timer = setTimeout(callback, delayMs).unref();
      return () => clearTimeout(timer);
    },
  }).catch(async (error: unknown) => {
    await dispose();
    throw error;
  });
  // Behind the others: where two names cannot be told apart, a saved tool never comes first.
  if (composites !== undefined) core.add(composites.metatool.savedTools);
  preparing = Promise.allSettled([...starts, toolspecs.started]).then(prepareSearch);

  function record(...event: Parameters<typeof store.audit.record>): void {
    store.audit.record(...event);
    metrics.auditEvents(1);
  }

  /** Words are read in small portions once the tools are there, so that the first search need not wait. */
  async function prepareSearch(): Promise<void> {
    while (disposing === undefined && core.index.prepareSearch(searchPortion)) await nextTurn();
  }

  function createUpstream(server: ToolServerConfig): UpstreamServer {
    // One for each server, so that a secret is known by the server that it is for.
    const secrets = createSecretResolver({
      env: environment,
      readFile: readRegularFile,
      homeDirectory: deps.home,
    });
    const settings = {
      id: server.id,
      kind: server.transport.kind,
      tags: [],
      scrub: (text: string) => scrubber.text(text),
      async resolveTransport() {
        try {
          return await resolveTransport(server, secrets);
        } finally {
          for (const value of secrets.values()) scrubber.learn(server.id, value);
        }
      },
    };
    const upstreamDeps = { launcher, httpClient, logger, now, random: Math.random, clientInfo: serverInfo };
    return createUpstreamServer(settings, upstreamDeps, deps.upstreamLimits);
  }

  async function startServer(server: ToolServerConfig, upstream: UpstreamServer): Promise<void> {
    for (const warning of server.notEnforced) logger.warn({ server: server.id }, warning);
    core.add(upstream);
    recordHealth(server, upstream);
    // It ends when it is disposed.
    await upstream.start(new AbortController().signal);
  }

  /** Each change between ready and not is an audit event and a metric. */
  function recordHealth(server: ToolServerConfig, upstream: UpstreamServer): void {
    let wasReady = false;
    upstream.onChange(({ kind }) => {
      if (kind !== "health") return;
      const { state, reason } = upstream.health();
      const isReady = state === "ready";
      if (isReady === wasReady) return;
      wasReady = isReady;
      if (isReady) {
        const { protocolVersion } = upstream.facts();
        const toolCount = upstream.tools().length;
        record("server.started", {
          server: server.id,
          transport: server.transport.kind,
          protocolVersion,
          toolCount,
          containment: "deadline",
        });
      } else {
        record("server.stopped", {
          server: server.id,
          reason: scrubber.text(reason ?? "it was stopped"),
        });
      }
    });
  }

  function statusOf({ server, upstream }: (typeof servers)[number]): ServerStatus {
    const { enforced, notEnforced, effective } = server.containment;
    const { networkEgress, filesystemWrite, maxExecutionSeconds } = effective;
    const { protocolVersion, serverInfo: info, pid, restarts } = upstream.facts();
    const { reason, ...health } = upstream.health();
    return {
      id: server.id,
      name: server.name,
      transport: server.transport.kind,
      health: reason === undefined ? health : { ...health, reason: scrubber.text(reason) },
      trustState: server.trustState,
      mutabilityClass: server.mutabilityClass,
      containment: {
        networkEgress,
        filesystemWrite,
        maxExecutionSeconds,
        enforced: notEnforced.length === 0,
        enforcedParts: enforced,
        notEnforcedParts: notEnforced,
      },
      labels: server.labels,
      tools: upstream.tools().length,
      resources: upstream.features.resources().length,
      prompts: upstream.features.prompts().length,
      protocolVersion,
      serverInfo: scrubber.value(info),
      pid,
      restarts,
    };
  }

  function serverLog(id: string, lines: number): readonly string[] {
    // What runs in this process has no log of its own.
    if (toolspecs.ids.includes(id)) return [];
    const found = servers.find(({ server }) => server.id === id);
    if (found === undefined) {
      throw new GatewayError("SERVER_NOT_FOUND", `No tool server has the id "${id}"`, {
        hint: `the ids are ${servers.map(({ server }) => server.id).join(", ")}`,
      });
    }
    return found.upstream.stderrTail(lines).map((line) => scrubber.text(line));
  }

  function listen(): Promise<{ readonly url: string }> {
    if (disposing !== undefined) {
      return Promise.reject(
        new GatewayError("HTTP_LISTEN_FAILED", "Cannot listen: the gateway is being stopped"),
      );
    }
    opening ??= openDoor().then(
      (opened) => {
        http = opened;
        return opened;
      },
      (error: unknown) => {
        // Another attempt may find the address free.
        opening = undefined;
        throw error;
      },
    );
    return opening.then(({ url }) => ({ url }));
  }

  async function openDoor(): Promise<HttpServer> {
    const tokens =
      config.serve.auth === "none"
        ? undefined
        : openTokenStore(deps.home, {
            environmentToken: environment["TOOLCRIB_TOKEN"],
            now,
            randomBytes,
            logger,
          });
    return startHttpServer(
      {
        service: core.service,
        serverIds: () => [...servers.map(({ server }) => server.id), ...toolspecs.ids],
        status: gateway.status,
        tools: core.listTools,
        serverLog,
        readiness: () => ({
          ready:
            servers.filter(({ upstream }) => upstream.health().state !== "starting").length +
            toolspecs.startedCount(),
          total: servers.length + toolspecs.ids.length,
        }),
        metrics,
        authenticate: tokens?.authenticate,
        logger,
        now,
        newId: () => randomUUID(),
      },
      config.serve,
    );
  }

  async function dispose(): Promise<void> {
    // In reverse order: no new calls, then the answers, then the servers, at last the record of it all.
    await opening?.catch(() => {});
    const deadline = now() + drainMs;
    await http?.drain(drainMs);
    // Calls of programs in this process have no door to wait at.
    while (core.underWay.count > 0 && now() < deadline) await delay(10);
    await http?.[Symbol.asyncDispose]();
    await disposeComposites();
    await toolspecs[Symbol.asyncDispose]();
    await Promise.allSettled(servers.map(({ upstream }) => upstream[Symbol.asyncDispose]()));
    await Promise.allSettled(starts);
    await preparing;
    await launcher[Symbol.asyncDispose]();
    await httpClient.destroy();
    try {
      await store[Symbol.asyncDispose]();
    } catch (error) {
      logger.error({ reason: messageOf(error) }, "audit trail could not be closed whole");
    }
  }

  async function disposeComposites(): Promise<void> {
    try {
      await composites?.[Symbol.asyncDispose]();
    } catch (error) {
      logger.error({ reason: messageOf(error) }, "executions of saved tools could not be counted");
    }
  }

  const gateway: Gateway = {
    service: core.service,
    ready: async () => {
      await Promise.allSettled([...starts, toolspecs.started]);
    },
    prepared: () => preparing,
    status: () => ({
      version,
      startedAt: new Date(startedAt).toISOString(),
      url: http?.url,
      servers: servers.map(statusOf),
      toolspecs: toolspecs.status(),
      tools: core.index.tools.filter(({ tool }) => tool.origin !== "meta").length,
      sessions: core.service.sessionCount,
      callsInFlight: core.underWay.count,
      quarantined: core.quarantined(),
    }),
    listTools: core.listTools,
    search: core.search,
    describe: (identity, name) => core.find(identity, name)?.tool,
    call: core.call,
    serverLog,
    listen,
    [Symbol.asyncDispose]() {
      disposing ??= dispose();
      return disposing;
    },
  };
  return gateway;
}
