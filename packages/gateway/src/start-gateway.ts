/**
 * The composition root: starts a gateway from a checked configuration. It
 * creates every dependency with side effects and passes it on: clock,
 * randomness, environment, store, processes, connections. It is one piece: the
 * order of creation, read from the top, is the reverse of that of disposal.
 */

import { randomBytes, randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { openPins, watchApprovals } from "@toolcrib/admission";
import { digestConfig, type GatewayConfig } from "@toolcrib/config";
import type { ConfigOutcome } from "@toolcrib/config-changes";
import type { CodedError } from "@toolcrib/diagnostics";
import { openToolUse } from "@toolcrib/discovery";
import { openTaskFiles } from "@toolcrib/extensions";
import { openHooks } from "@toolcrib/hook-programs";
import {
  GatewayMetrics,
  type HttpServerDeps,
  operatorRoutes,
  serverRoutes,
  startControlServer,
  startHttpServer,
} from "@toolcrib/http";
import { findIdleRules, type IdleRule, type SourceStatuses, warnAboutIdleRules } from "@toolcrib/inventory";
import type { JsonObject } from "@toolcrib/json";
import { disposeOnce } from "@toolcrib/lifecycle";
import { createHttpClient } from "@toolcrib/mcp";
import { createProcessLauncher } from "@toolcrib/process";
import { SecretScrubber } from "@toolcrib/redaction";
import { Sandboxes } from "@toolcrib/sandbox";
import { openSessionStore } from "@toolcrib/sessions";
import {
  BudgetStore,
  CallApprovals,
  createPauseStore,
  type HeadAnchors,
  openAnchors,
  openFingerprints,
  type Store,
} from "@toolcrib/store";
import { type Identity, isOperator, localIdentity, type Tool } from "@toolcrib/tool";
import { openServers } from "@toolcrib/tool-servers";
import { runAnchorCommand } from "./anchor-command.ts";
import { createCallIds } from "./call/call-id.ts";
import { openClientAuthentication, openRevocations } from "./client-authentication.ts";
import { clientStatus } from "./client-status.ts";
import { openComposites } from "./composites/open-composites.ts";
import type { CallOptions, CallOutcome, Gateway, GatewayStatus, ToolHit, ToolSummary } from "./gateway.ts";
import { GatewayCore } from "./gateway-core.ts";
import type { GatewayDeps } from "./gateway-deps.ts";
import { GatewayError } from "./gateway-error.ts";
import { LateLoginPages } from "./late-login-pages.ts";
import { openAudit } from "./open-audit.ts";
import { openEmbeddings } from "./open-embeddings.ts";
import { openLearning } from "./open-learning.ts";
import { openPackages } from "./packages/open-installed-packages.ts";
import {
  type LimitQuestion,
  openPolicies,
  openSeenLabels,
  type PolicySituation,
  policySituationOf,
  refusingLimitOf,
} from "./policy/open-policy-state.ts";
import { LiveConfig } from "./reload/live-config.ts";
import { sandboxFacts, userHomeOf } from "./sandbox-facts.ts";
import { scrubbedLogger } from "./scrubbed-logger.ts";
import { openDisabled } from "./sources/open-disabled.ts";
import type { OpenedSources, OpenSources, SourceContext } from "./sources/open-sources.ts";
import { openSwitches } from "./sources/open-switches.ts";
import { openToolspecs } from "./sources/open-toolspecs.ts";
import { type GatewayTelemetry, openGatewayTelemetry } from "./telemetry/open-gateway-telemetry.ts";
import { trustedCertificates } from "./trusted-certificates.ts";

/**
 * The kinds of sources, in the order in which they open. They start after all were opened. What is disabled comes first:
 * an entry that is switched on is added when it has left there.
 */
const kindsOfSources: readonly OpenSources[] = [
  openDisabled,
  openToolServers,
  openToolspecs,
  openPackages,
  openComposites,
];

function openToolServers(context: SourceContext): Promise<OpenedSources> {
  return openServers({ ...context, onLoginPages: (pages) => context.logins.use(pages) });
}

type HttpServer = Awaited<ReturnType<typeof startHttpServer>>;
type ControlServer = Awaited<ReturnType<typeof startControlServer>>;

/** Tools that are indexed for search in one go: some milliseconds of work. */
const searchPortion = 25;

/** Milliseconds that calls in flight get at shutdown. */
const drainMs = 10_000;

/** The share of a millisecond's time from which on the event loop counts as busy. */
const busyShare = 0.5;

/** Resolves when the event loop has time to spare, after `maxMs` at the latest. */
async function untilIdle(maxMs: number): Promise<void> {
  const end = performance.now() + maxMs;
  while (performance.now() < end) {
    const before = performance.eventLoopUtilization();
    await delay(1);
    if (performance.eventLoopUtilization(before).utilization < busyShare) return;
  }
}

/**
 * Starts a gateway. Servers start in parallel, and this function waits for
 * none of them; `ready()` resolves when each made its first contact and the
 * secrets of each toolspec were read.
 *
 * @throws {StoreError} when the home cannot be used or its audit trail cannot be written.
 */
export async function startGateway(config: GatewayConfig, deps: GatewayDeps): Promise<Gateway> {
  await using opening = new AsyncDisposableStack();
  const scrubber = new SecretScrubber();
  const logger = scrubbedLogger(deps.logger, scrubber);
  const { home, env, directory, version, wrap, configFiles, trialPackages = [] } = deps;
  const now = Date.now;
  const metrics = new GatewayMetrics(performance.timeOrigin);
  const logsDirectory = `${home}/logs`;
  // Disposed of after the trail: its last signed end is handed to a process, too.
  const launcher = opening.use(
    createProcessLauncher({ env, now, logger, randomBytes }, { directory, logsDirectory, wrap }),
  );
  const anchors = opening.use(
    openAnchors(config.audit.anchor, {
      runCommand: (...run) => runAnchorCommand({ launcher, scrubber }, ...run),
      logger,
      now,
      userHome: userHomeOf(env),
    }),
  );
  const network = await trustedCertificates(env["SSL_CERT_FILE"], logger);
  const monotonicMs = () => performance.now();
  const sending = { home, env, logger, scrubber, network, version, instanceId: randomUUID() };
  // Disposed of after the trail, too: it sends the last records.
  const telemetry = await openGatewayTelemetry(
    config.telemetry,
    { ...sending, now, monotonicMs, random: Math.random, randomBytes },
    opening,
  );
  const onLines = telemetry?.recorded;
  const taskFiles = opening.use(await openTaskFiles(home, { logger, randomBytes }));
  const trail = { home, logger, anchors, onLines, now, randomBytes, openCalls: taskFiles?.openCalls() };
  const store = await openAudit(config, trail, opening);
  const httpClient = createHttpClient(network);
  opening.defer(() => httpClient.destroy());
  const record: Store["audit"]["record"] = (type, data) => {
    store.audit.record(type, data);
    metrics.auditEvents(1);
  };
  const serverInfo = { name: "toolcrib", title: "Toolcrib", version };
  const sandboxes = new Sandboxes(sandboxFacts(env), { totals: config.sandbox.totals });
  const running: { live?: LiveConfig } = {};
  const inForce = () => running.live?.config ?? config;
  const policyFiles = () => inForce().policy.files.map(({ path }) => path);
  const inputs = { policyFiles, env, directory, wrap, now, monotonicMs, randomBytes, logger };
  const shared = { ...inputs, config, home, configFiles, trialPackages, record, scrubber, sandboxes };
  const hookResources = opening.use(new AsyncDisposableStack());
  const hooks = openHooks(shared, hookResources);
  const embeddings = await openEmbeddings(shared, opening);
  const seenLabels = await openSeenLabels(config.dataLabels, { home, logger, now, randomBytes }, opening);
  const newCallId = createCallIds(now, randomBytes(8).toString("hex"));
  const budgetStore = new BudgetStore(home, { now, randomBytes });
  const core = new GatewayCore(config, {
    serverInfo,
    audit: { intent: (event) => store.audit.intent(event), record },
    metrics: {
      callStarted() {
        metrics.callStarted();
        // The intent of the call is on record by now.
        metrics.auditEvents(1);
      },
      callFinished: (server, outcome, seconds) => metrics.callFinished(server, outcome, seconds),
      callDenied: (server) => metrics.callDenied(server),
      trace: telemetry?.trace,
    },
    logger,
    scrubber,
    now,
    newCallId,
    randomBytes,
    pins: await openPins(
      config.toolServers.map(({ id }) => id),
      { home, logger, randomBytes },
      opening,
    ),
    fingerprints: config.audit.fingerprints ? await openFingerprints(home, { randomBytes }) : undefined,
    callApprovals: new CallApprovals(home, { now, randomBytes }),
    learning: await openLearning(config, { home, logger, scrubber, now, randomBytes }, opening),
    embeddings,
    mostUsed: await openToolUse(config, {
      audit: store.audit,
      now,
      sleep: (ms) => delay(ms, undefined, { ref: false }),
      logger,
    }),
    seenLabels,
    hooks: hooks && { hooks, monotonicMs },
    taskFiles,
    approveCommand: `toolcrib${deps.homeFlag ?? ""} approve`,
    pauses: opening.use(createPauseStore(home, { randomBytes })),
    budgetStore,
    resumeCommand: `toolcrib${deps.homeFlag ?? ""} resume`,
  });
  opening.defer(() => core.stored());
  opening.use(core.tasks);
  if (deps.authenticate === undefined && config.serve.oauth?.acceptsTokens !== false)
    core.tasks.endRevoked(await openRevocations({ home, now, randomBytes, logger }));
  opening.defer(async () => await running.live?.[Symbol.asyncDispose]());
  const policies = await openPolicies(config, { core, record, logger, config: inForce });
  policies?.start();
  await Promise.all([core.pauses.refresh(), core.callLimits?.restore()]);
  record("config.changed", { files: configFiles, digest: digestConfig(config) });
  // A gateway that cannot write its trail would refuse every call, so it does not start.
  await store.audit.flush();
  const context: SourceContext = {
    ...shared,
    core,
    homeFlag: deps.homeFlag,
    projectFolder: deps.projectFolder ?? directory,
    serverInfo,
    launcher,
    httpClient,
    authorities: network.ca,
    upstreamLimits: deps.upstreamLimits,
    packageRunner: { runner: undefined },
    logins: new LateLoginPages(),
    machine: {
      system: { platform: process.platform, arch: process.arch },
      node: { command: process.execPath, version: process.versions.node },
    },
    random: Math.random,
    sleep: (ms, signal) => delay(ms, undefined, { signal }),
    nextTurn: () => nextTurn(),
    untilIdle,
    startTimer: (delayMs, callback) => cancellation(setTimeout(callback, delayMs)),
    startBackgroundTimer: (delayMs, callback) => cancellation(setTimeout(callback, delayMs).unref()),
  };
  const opened: OpenedSources[] = [];
  for (const openKind of kindsOfSources) opened.push(opening.use(await openKind(context)));
  const gateway = { current: undefined as RunningGateway | undefined };
  running.live = new LiveConfig({
    ...{ context, opened, newCallId, budgetStore, hookResources },
    parts: { policies, seenLabels, hooks: hooks && { hooks, monotonicMs } },
    onApplied: () => gateway.current?.configApplied(),
  });
  gateway.current = new RunningGateway(
    { ...deps, logger },
    {
      live: running.live,
      core,
      metrics,
      anchors,
      embeddings,
      telemetry,
      opened,
      record,
      scrubber,
      authorities: network.ca,
      logins: context.logins,
      switches: openSwitches(context, inForce),
      resources: opening.move(),
    },
  );
  return gateway.current;
}

function cancellation(timer: NodeJS.Timeout): () => void {
  return () => clearTimeout(timer);
}

/** The parts of a running gateway. */
interface GatewayParts {
  readonly core: GatewayCore;
  readonly metrics: GatewayMetrics;
  readonly live: LiveConfig;
  readonly anchors: HeadAnchors;
  readonly embeddings: Awaited<ReturnType<typeof openEmbeddings>>;
  readonly telemetry: GatewayTelemetry | undefined;
  readonly opened: readonly OpenedSources[];
  readonly record: Store["audit"]["record"];
  readonly scrubber: SecretScrubber;
  readonly authorities: string | undefined;
  readonly logins: SourceContext["logins"];
  readonly switches: ReturnType<typeof openSwitches>;
  /** Everything that is disposed with the gateway, in the order in which it was opened. */
  readonly resources: AsyncDisposableStack;
}

class RunningGateway implements Gateway {
  readonly #deps: GatewayDeps;
  readonly #core: GatewayCore;
  readonly #parts: GatewayParts;
  readonly #resources: AsyncDisposableStack;
  readonly #startedAt = Date.now();
  readonly #sessions: ReturnType<typeof openSessionStore>;
  readonly #ready: Promise<unknown>;
  #prepared: Promise<void>;
  readonly #dispose = disposeOnce(() => this.#stop());
  #isStopping = false;
  #opening: Promise<HttpServer> | undefined;
  #http: HttpServer | undefined;
  #openingControl: Promise<ControlServer> | undefined;
  #control: ControlServer | undefined;

  constructor(deps: GatewayDeps, parts: GatewayParts) {
    const { core, embeddings, opened, resources } = parts;
    this.#deps = deps;
    this.#core = core;
    this.#parts = parts;
    this.#resources = resources;
    const { home, logger } = deps;
    this.#sessions = resources.use(openSessionStore(home, { now: Date.now, randomBytes, logger }));
    this.#ready = Promise.allSettled(opened.map((sources) => sources.start()));
    this.#prepared = this.#ready.then(() => {
      warnAboutIdleRules(deps.logger, this.#idleRules());
      core.settle();
      return this.#indexTools();
    });
    core.resumeTasks();
    embeddings?.follow(core.tools);
    resources.defer(watchApprovals(core.approvals));
    resources.defer(core.pauses.watch());
  }

  get approvals(): GatewayCore["approvals"] {
    return this.#core.approvals;
  }

  get pauses(): GatewayCore["pauses"] {
    return this.#core.pauses;
  }

  get service(): GatewayCore["service"] {
    return this.#core.service;
  }

  async ready(): Promise<void> {
    await this.#ready;
  }

  nextCall(): Promise<void> {
    return this.#core.inFlight.next();
  }

  prepared(): Promise<void> {
    return this.#prepared;
  }

  status(): GatewayStatus {
    const { live, anchors, embeddings } = this.#parts;
    const { policies, hooks } = live.parts;
    const policy = policies?.status();
    const facts = { ...this.#facts(), idleRules: this.#idleRules(), anchors: anchors.status() };
    const { disabled: disabledTools = [] } = live.config.policy;
    return {
      ...facts,
      configuration: live.status(),
      ...(disabledTools.length === 0 ? {} : { disabledTools }),
      ...(policy === undefined ? {} : { policy }),
      ...(hooks === undefined ? {} : { hooks: hooks.hooks.usage() }),
      ...(embeddings === undefined ? {} : { embeddings: embeddings.status() }),
    };
  }

  sources(): SourceStatuses {
    return this.#core.roster.status();
  }

  callsInFlight(): number {
    return this.#core.inFlight.count;
  }

  #idleRules(): readonly IdleRule[] {
    const { index, roster } = this.#core;
    const { scrubber, live } = this.#parts;
    const { config, parts } = live;
    // Hints name tools that are spelled like a pattern.
    return scrubber.value(findIdleRules(config, index, roster, parts.policies?.namedTargets()));
  }

  /** The status without the comparison of rules with tools, which takes time. */
  #facts(identity?: Identity): Omit<GatewayStatus, "idleRules" | "anchors"> {
    const { roster, toolCount, ownToolCount, service, inFlight, tasks } = this.#core;
    const telemetry = this.#parts.telemetry?.status();
    return {
      version: this.#deps.version,
      startedAt: new Date(this.#startedAt).toISOString(),
      url: this.#http?.url,
      ...roster.status(),
      tools: toolCount,
      ownTools: ownToolCount,
      sessions: service.sessions.size,
      callsInFlight: inFlight.count,
      tasks: tasks.usage(),
      quarantined: this.#core.quarantined(identity),
      waiting: this.#core.approvals.servers(),
      ...this.#core.pauses.facts(),
      limits: this.#core.callLimits?.usage() ?? [],
      discovery: this.#core.discovery(identity),
      ...(telemetry === undefined ? {} : { telemetry }),
    };
  }

  listTools(identity: Identity): readonly ToolSummary[] {
    return this.#core.listTools(identity);
  }

  async search(
    identity: Identity,
    query: string,
    limit: number,
    explains?: boolean,
  ): Promise<readonly ToolHit[]> {
    const meaning = this.#core.meaningOf(identity, query);
    return this.#core.search(identity, query, limit, explains, meaning && (await meaning));
  }

  explain(identity: Identity, name: string): CodedError {
    return this.#core.explain(identity, name);
  }

  describe(identity: Identity, name: string): Tool | undefined {
    return this.#core.describe(identity, name);
  }

  call(identity: Identity, name: string, args: JsonObject, options?: CallOptions): Promise<CallOutcome> {
    return this.#core.call(identity, name, args, options);
  }

  policySituation(asked?: LimitQuestion): PolicySituation {
    const { config, parts } = this.#parts.live;
    const targets = this.#core.policyTargets();
    const situation = policySituationOf(config.policy, parts.policies, targets);
    const limit = asked && refusingLimitOf(this.#core.callLimits, targets, asked);
    if (asked === undefined) return situation;
    const approval = this.#core.approvals.bindingOf(asked.target);
    return { ...situation, approval, ...(limit === undefined ? {} : { limit }) };
  }

  profilesOf(identity: Identity): readonly string[] {
    return this.#core.tools.profilesOf(identity);
  }

  applyConfig(config: GatewayConfig, files: readonly string[]): Promise<ConfigOutcome> {
    return this.#parts.live.apply(config, files);
  }

  refuseConfig(problem: string): ConfigOutcome {
    return this.#parts.live.refuse(problem);
  }

  /** Indexes the tools of another configuration, as after the start. */
  configApplied(): void {
    this.#prepared = this.#prepared.then(() => this.#indexTools());
  }

  serverLog(id: string, lines: number): readonly string[] {
    return this.#core.roster.log(id, lines);
  }

  async listen(): Promise<{ readonly url: string }> {
    if (this.#isStopping) {
      throw new GatewayError("HTTP_LISTEN_FAILED", "Cannot listen: the gateway is being stopped");
    }
    this.#opening ??= this.#openHttp();
    return { url: (await this.#opening).url };
  }

  async listenControl(): Promise<{ readonly path: string }> {
    if (this.#isStopping) {
      throw new GatewayError("CONTROL_LISTEN_FAILED", "Cannot listen: the gateway is being stopped");
    }
    this.#openingControl ??= this.#openControl();
    return { path: (await this.#openingControl).path };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose();
  }

  async #openHttp(): Promise<HttpServer> {
    try {
      const authentication = await this.#openAuthentication();
      if (authentication.isRevoked !== undefined) this.#core.tasks.endRevoked(authentication.isRevoked);
      const deps = { ...this.#serverDeps(), ...authentication, logins: this.#parts.logins };
      const http = await startHttpServer(deps, this.#parts.live.config.serve);
      this.#http = this.#resources.use(http);
      return http;
    } catch (error) {
      // Another attempt can find the address free.
      this.#opening = undefined;
      throw error;
    }
  }

  async #openControl(): Promise<ControlServer> {
    const { home } = this.#deps;
    const ownDeps = { home, platform: process.platform, temporaryDirectory: tmpdir(), randomBytes };
    const { limits } = this.#parts.live.config.serve;
    try {
      const control = await startControlServer({ ...this.#serverDeps(), ...ownDeps }, limits);
      this.#control = this.#resources.use(control);
      return control;
    } catch (error) {
      this.#openingControl = undefined;
      throw error;
    }
  }

  /** Returns the check of clients of the HTTP server; without `authenticate` when the configuration requires none. */
  async #openAuthentication(): Promise<
    Pick<HttpServerDeps, "authenticate" | "isRevoked" | "resource" | "tokenEndOf">
  > {
    const { live, scrubber, authorities, resources, record } = this.#parts;
    if (live.config.serve.auth === "none") return { authenticate: undefined };
    const { authenticate, home, env, logger } = this.#deps;
    if (authenticate !== undefined) return { authenticate };
    const own = { home, env, logger, now: Date.now, randomBytes };
    return await openClientAuthentication(live.config, { ...own, scrubber, authorities, resources, record });
  }

  /** The status without the servers that `identity` may not see; complete for the operator. */
  #statusFor(identity: Identity | undefined): GatewayStatus {
    if (identity !== undefined && isOperator(identity)) return this.status();
    const status = this.#facts(identity ?? localIdentity("anonymous", "anonymous"));
    const isShown = (id: string) => identity !== undefined && this.#core.visibility.isVisible(identity, id);
    const tools = identity === undefined ? [] : this.#core.listTools(identity);
    const waiting = identity === undefined ? [] : this.#core.waitingFor(identity);
    return clientStatus({ ...status, waiting }, tools, isShown);
  }

  #serverDeps(): Omit<HttpServerDeps, "authenticate"> {
    const { service, roster, approvals } = this.#core;
    const serverIds = () => roster.configuredIds;
    return {
      service,
      serverIds,
      serverRouteOf: serverRoutes({
        serverIds,
        release: (id) => roster.release(id),
        approvals,
        switches: this.#parts.switches,
      }),
      routes: operatorRoutes({
        approvals,
        pauses: this.#core.pauses,
        search: (operator, query, limit) => this.search(operator, query, limit, true),
        policySituation: (asked) => this.policySituation(asked),
        reload: this.#deps.reload,
      }),
      status: (identity) => this.#statusFor(identity),
      profilesOf: (identity) => this.#core.tools.profilesOf(identity),
      isVisible: (identity, id) => this.#core.visibility.isVisible(identity, id),
      tools: async (identity) => {
        await this.#core.untilListed({ identity });
        return this.#core.listTools(identity);
      },
      serverLog: (id, lines) => roster.log(id, lines),
      readiness: () => roster.readiness(),
      metrics: this.#parts.metrics,
      logger: this.#deps.logger,
      now: Date.now,
      newId: () => randomUUID(),
      sessions: this.#sessions,
    };
  }

  /** Indexes tools in small portions after the start, so that the first search does not wait. */
  async #indexTools(): Promise<void> {
    while (!this.#isStopping && this.#core.index.indexPending(searchPortion)) await nextTurn();
  }

  /** Accepts no new calls, waits for those in flight, then disposes of everything in reverse order of opening. */
  async #stop(): Promise<void> {
    this.#isStopping = true;
    this.#core.tasks.leave();
    await this.#parts.live.stop();
    await Promise.allSettled([this.#opening, this.#openingControl]);
    const deadline = Date.now() + drainMs;
    await Promise.all([this.#http?.drain(drainMs), this.#control?.drain(drainMs)]);
    // Calls of programs in this process do not come through a server.
    const { inFlight } = this.#core;
    const remainingMs = deadline - Date.now();
    if (inFlight.count > 0 && remainingMs > 0) await this.#idleWithin(remainingMs);
    await this.#resources.disposeAsync();
    await this.#prepared;
  }

  async #idleWithin(ms: number): Promise<void> {
    const late = new AbortController();
    await Promise.race([
      this.#core.inFlight.idle(),
      delay(ms, undefined, { signal: late.signal }).catch(() => {}),
    ]);
    late.abort();
  }
}
