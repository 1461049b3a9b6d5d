/**
 * A gateway that governs calls by the parts of its command line: policy files, pins, the audit trail. For the benchmark
 * alone, because the command has no switch for the last two. It is composed of the packages of the gateway: the same
 * HTTP server, core and upstream, and for each part what `startGateway` opens for it.
 *
 * `--parts none` leaves the parts out of the governed call; `--parts ungoverned` has no governed call, and hands what the
 * client sends to the server. It prints its URL, and ends at SIGTERM.
 */

import { randomBytes, randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import { openPins } from "@toolcrib/admission";
import { LivePolicies } from "@toolcrib/cedar";
import { type GatewayConfig, loadConfig, resolveTransport, SecretResolver } from "@toolcrib/config";
import { formatDiagnostics, type Logger } from "@toolcrib/diagnostics";
import { readRegularFile } from "@toolcrib/files";
import { createCallIds, GatewayCore } from "@toolcrib/gateway";
import { GatewayMetrics, startHttpServer } from "@toolcrib/http";
import type { SourceFacts } from "@toolcrib/inventory";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { createHttpClient, type McpService, methodNotFound, type ServiceRequest } from "@toolcrib/mcp";
import { createClientAttributes } from "@toolcrib/policy";
import { createProcessLauncher } from "@toolcrib/process";
import { SecretScrubber } from "@toolcrib/redaction";
import { MemorySessionStore, openFingerprints, openStore, SeenLabels, type Store } from "@toolcrib/store";
import { createUpstreamServer, type UpstreamServer } from "@toolcrib/upstream";
import { type GovernancePart, partsOf } from "./governance-parts.ts";

const { values } = parseArgs({
  options: {
    config: { type: "string", default: "" },
    home: { type: "string", default: "" },
    parts: { type: "string", default: "" },
  },
});
const { home } = values;
const parts = partsOf(values.parts);
const now = Date.now;
const deadlineMs = 60_000;
const serverInfo = { name: "bench", version: "1.0.0" };
const logger: Logger = {
  debug() {},
  info() {},
  warn: (fields, message) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
  error: (fields, message) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
};

await using opened = new AsyncDisposableStack();
const config = await readConfig(values.config);
const scrubber = new SecretScrubber();
const metrics = new GatewayMetrics(performance.timeOrigin);
const upstream = createUpstream(config);
const ready = upstream.start(new AbortController().signal);
const service = parts === "ungoverned" ? ungoverned(upstream) : await governed(parts);
await ready;
const http = opened.use(
  await startHttpServer(
    {
      service,
      authenticate: undefined,
      serverIds: () => [],
      isVisible: () => false,
      status: () => ({
        ...{ servers: [], toolspecs: [], tools: 0, sessions: 0 },
        ...{ quarantined: [], pauses: [], limits: [] },
      }),
      tools: () => [],
      serverLog: () => [],
      readiness: () => ({ ready: 1, total: 1 }),
      metrics,
      logger,
      now,
      newId: () => randomUUID(),
      sessions: new MemorySessionStore({ now }),
    },
    { ...config.serve, auth: "none", listen: { host: "127.0.0.1", port: 0 } },
  ),
);
const ended = new Promise((resolve) => process.once("SIGTERM", resolve));
process.stdout.write(`${http.url}/mcp\n`);
await ended;

/** The configuration, which must be valid. */
async function readConfig(path: string): Promise<GatewayConfig> {
  const { value, diagnostics } = await loadConfig([path], { readFile: readRegularFile, catalogFolder: home });
  if (value === undefined) throw new Error(formatDiagnostics(diagnostics));
  return value;
}

/** The first server of the configuration. */
function createUpstream({ toolServers }: GatewayConfig): UpstreamServer {
  const [server] = toolServers;
  if (server === undefined) throw new Error("the configuration has no server");
  const secrets = new SecretResolver({ env: process.env, readFile: readRegularFile, home });
  const launcher = opened.use(createProcessLauncher({ env: process.env, now, logger, randomBytes }));
  const httpClient = createHttpClient();
  opened.defer(() => httpClient.destroy());
  return opened.use(
    createUpstreamServer(
      {
        id: server.id,
        kind: server.transport.kind,
        scrub: (text) => scrubber.text(text),
        resolveTransport: () => resolveTransport(server, secrets),
      },
      { launcher, httpClient, logger, now, random: Math.random, clientInfo: serverInfo },
    ),
  );
}

/** A core with `parts`, as the composition root of the gateway opens it. */
async function governed(chosen: ReadonlySet<GovernancePart>): Promise<McpService> {
  const audit = chosen.has("audit") ? opened.use(await openTrail(config)).audit : undefined;
  const record: Store["audit"]["record"] = (type, data) => {
    audit?.record(type, data);
    metrics.auditEvents(1);
  };
  const seenLabels = chosen.has("policy")
    ? new SeenLabels(home, { known: config.dataLabels, now, randomBytes, onProblem: report })
    : undefined;
  await seenLabels?.refresh();
  const ids = config.toolServers.map(({ id }) => id);
  const core = new GatewayCore(config, {
    serverInfo,
    audit: { intent: (event) => audit?.intent(event) ?? Promise.resolve(), record },
    metrics,
    logger,
    scrubber,
    now,
    newCallId: createCallIds(now, randomBytes(8).toString("hex")),
    randomBytes,
    pins: chosen.has("pins") ? await openPins(ids, { home, logger, randomBytes }, opened) : undefined,
    fingerprints: chosen.has("audit") ? await openFingerprints(home, { randomBytes }) : undefined,
    seenLabels,
  });
  opened.defer(() => core.stored());
  if (chosen.has("policy")) {
    const { files, clients } = config.policy;
    if (files.length === 0) throw new Error("the configuration has no policy files");
    opened.use(
      await LivePolicies.open(files, {
        policy: core.policy,
        attributesOf: createClientAttributes(clients),
        record,
        logger,
        onReplaced: () => core.service.policyReplaced(),
        checkNames() {},
      }),
    );
  }
  core.roster.add(upstream, factsOf(config, chosen));
  return core.service;
}

async function openTrail({ audit }: GatewayConfig): Promise<Store> {
  const { durability, retentionMaxBytes: retainMaxBytes, clientMaxBytesPerDay } = audit;
  const options = { durability, retainMaxBytes, clientMaxBytesPerDay };
  return await openStore({ home, audit: options }, { now, randomBytes, onProblem: report });
}

function report({ code, message }: { readonly code: string; readonly message: string }): void {
  logger.error({ code }, message);
}

/** Returns the settings of the server that `chosen` uses. */
function factsOf(
  { toolServers: [server] }: GatewayConfig,
  chosen: ReadonlySet<GovernancePart>,
): Partial<SourceFacts> {
  if (server === undefined) return {};
  const { trustState, mutabilityClass, firstContact, pinsResources, labels, dataLabels, transport } = server;
  return {
    backendKind: "mcp",
    callsTools: false,
    trust: { trustState, mutabilityClass, transport: transport.kind, denied: server.containment.judged },
    pinning: chosen.has("pins") ? { trustState, firstContact, pinsResources } : undefined,
    labels,
    dataLabels: chosen.has("policy") ? dataLabels : [],
  };
}

/** A service without governance: it lists the tools of the server under their prefixed names, and passes calls on. */
function ungoverned(server: UpstreamServer): McpService {
  const prefix = `${server.id}__`;
  let calls = 0;
  const call = async ({ params, identity, era, session, signal, ...channel }: ServiceRequest) => {
    const name = String(params["name"]).slice(prefix.length);
    const tool = server.tools().find(({ definition }) => definition.name === name);
    const args = params["arguments"];
    if (tool === undefined || !isJsonObject(args)) throw methodNotFound(`tools/call of ${name}`);
    calls += 1;
    const context = {
      callId: String(calls),
      depth: 0,
      deadline: now() + deadlineMs,
      ...{ identity, era, signal, wantsProgress: channel.wantsProgress },
      ...(session === undefined ? {} : { session }),
      progress: channel.progress,
      notify: channel.notify,
      ask: channel.ask,
    };
    return (await server.call(tool, args, context, () => undefined)) as unknown as JsonObject;
  };
  return {
    serverInfo,
    capabilities: () => ({ tools: {} }),
    instructions: () => undefined,
    async handle(request) {
      if (request.method === "tools/call") return await call(request);
      if (request.method !== "tools/list") throw methodNotFound(request.method);
      const tools = server
        .tools()
        .map(({ definition }) => ({ ...definition, name: `${prefix}${definition.name}` }));
      return { tools } as unknown as JsonObject;
    },
    sessionOpened() {},
    sessionClosed() {},
    listen: async () => ({}),
    toolInputSchema: () => undefined,
  };
}
