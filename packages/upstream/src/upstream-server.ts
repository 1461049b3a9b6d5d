/**
 * An upstream MCP server as a tool source. It connects, lists, and stays connected: after a failure it tries again
 * with growing pauses, and its lists stay known meanwhile, so that one failing server disturbs neither the other
 * servers nor the names that clients know.
 *
 * It never repeats a request that the server can have started to process, unless the
 * operator trusts the declaration that a repetition changes nothing more, and never
 * sends a call to a session without a check that its tool is still the one in the lists.
 */

import type { JsonObject } from "@toolcrib/json";
import { disposeOnce, ListenerSet } from "@toolcrib/lifecycle";
import type {
  CallContext,
  ClientSession,
  Era,
  Health,
  SourceChange,
  SourceFeatures,
  Tool,
  ToolResult,
  ToolSource,
  Unsubscribe,
} from "@toolcrib/tool";
import { CallRounds } from "./call-rounds.ts";
import {
  ClientSessions,
  extensionAsks,
  knownAsks,
  type Lease,
  needsOwnSession,
  passedOnCapabilities,
  sharedCapabilities,
} from "./client-sessions.ts";
import { askable, isAskedForInner } from "./input-required.ts";
import { LivenessCheck } from "./liveness-check.ts";
import { withLoginQuestion } from "./login-questions.ts";
import { type ChosenSessionOptions, openSession } from "./open-session.ts";
import { ParkedCalls } from "./parked-calls.ts";
import { Quarantine } from "./quarantine.ts";
import { type Sender, senderOf } from "./received.ts";
import { lingerMsOf, ResourceWatch } from "./resource-watch.ts";
import { type RequestedServer, sendRequest } from "./send-request.ts";
import { ServerCatalogue } from "./server-catalogue.ts";
import type { ServerFacts } from "./server-facts.ts";
import { ServerHealth } from "./server-health.ts";
import { type LinkOptions, ServerLinks } from "./server-links.ts";
import { ServerLoad } from "./server-load.ts";
import { ServerTasks } from "./server-tasks.ts";
import type { SharedSession } from "./shared-session.ts";
import { StderrTail } from "./stderr-tail.ts";
import { UpstreamError } from "./upstream-error.ts";
import { isRefused, reasonOf, toCallerError } from "./upstream-failure.ts";
import {
  type CredentialsChange,
  resolveUpstreamLimits,
  startNodeTimer,
  type UpstreamDeps,
  type UpstreamLimits,
  type UpstreamSettings,
} from "./upstream-options.ts";
import type { RequestOptions, UpstreamSession } from "./upstream-session.ts";

/** Creates the tool source of a server. Nothing is started before `start`. */
export function createUpstreamServer(
  settings: UpstreamSettings,
  deps: UpstreamDeps,
  limits: UpstreamLimits = {},
): UpstreamServer {
  return new UpstreamServer(settings, deps, resolveUpstreamLimits(limits));
}

/** An upstream server as a tool source. */
export class UpstreamServer implements ToolSource {
  readonly id: string;
  readonly origin = "server";
  readonly returnsQuestions = true;
  readonly features: SourceFeatures;
  readonly explainTool: UpstreamSettings["explainTool"];
  readonly #settings: UpstreamSettings;
  readonly #deps: UpstreamDeps;
  readonly #limits: Required<UpstreamLimits>;
  readonly #scrub: (text: string) => string;
  readonly #sender: Sender;
  readonly #links: ServerLinks;
  readonly #shared: SharedSession;
  readonly #rounds: CallRounds;
  readonly #tasks: ServerTasks;
  /** This server, as the functions that send requests see it. */
  readonly #requested: RequestedServer;
  readonly #catalogue: ServerCatalogue;
  readonly #clients: ClientSessions;
  readonly #load: ServerLoad;
  readonly #quarantine: Quarantine;
  readonly #watch: ResourceWatch;
  readonly #stderr = new StderrTail();
  readonly #listeners = new ListenerSet<[change: SourceChange]>();
  readonly #liveness: LivenessCheck;
  readonly #dispose = disposeOnce(() => this.#stop());
  readonly #health: ServerHealth;
  #capabilities: JsonObject = {};
  #instructions: string | undefined;
  #isStopping = false;
  /** Capabilities that the server is known to ask clients for. */
  readonly #asks: Set<string>;

  constructor(settings: UpstreamSettings, deps: UpstreamDeps, limits: Required<UpstreamLimits>) {
    const { id: serverId, scrub = (text) => text, fetching = () => undefined } = settings;
    const { logger, now, random, startBackgroundTimer = startNodeTimer } = deps;
    this.id = serverId;
    this.explainTool = settings.explainTool;
    this.#settings = settings;
    this.#deps = deps;
    this.#limits = limits;
    this.#scrub = scrub;
    this.#sender = senderOf(settings);
    this.#health = new ServerHealth({
      serverId,
      now,
      ...{ logger, scrub, fetching },
      unresponsiveReason: () => this.#load.trouble() ?? this.#catalogue.leftOut,
      onChange: () => this.#emit("health"),
    });
    this.#asks = new Set(settings.isInteractive === true ? askable : knownAsks(settings));
    this.#load = new ServerLoad(serverId, now, limits);
    this.#quarantine = new Quarantine(serverId, now, limits);
    this.#links = new ServerLinks(
      {
        serverId,
        now,
        random,
        startBackgroundTimer,
        settings,
        open: (link) => this.#openShared(link),
        onSecondDown: (reason) =>
          logger.debug({ server: serverId, reason: scrub(reason) }, "the second link of a server is down"),
        prepare: (session, signal) => this.#prepare(session, signal),
        idleMs: settings.idleMs,
        advise: settings.advise,
        scrub,
        usesOf: (session) => (this.#watch.isWatchedOn(session) ? undefined : session.endedRequests),
        onIdle: () => this.#health.change("idle"),
        onDown: (...failure) => this.#health.failed(...failure),
      },
      limits,
    );
    this.#shared = this.#links.main;
    const { stopped } = this.#shared;
    this.#rounds = new CallRounds({
      serverId,
      places: deps.parkedPlaces ?? ParkedCalls.places(limits.maxParkedCalls, now),
      answerTimeoutMs: limits.answerTimeoutMs,
      asks: this.#asks,
      logs: () => this.#capabilities["logging"] !== undefined,
      isLegacy: (context) => this.#isLegacy(context),
    });
    this.#requested = {
      settings,
      sender: this.#sender,
      links: this.#links,
      shared: this.#shared,
      asks: this.#asks,
      lease: (client, signal, era) => this.#lease(client, signal, era),
      logger,
      toCallerError: (error) => toCallerError(this.#sender, error, this.#isStopping),
      isStopping: () => this.#isStopping,
    };
    this.#tasks = new ServerTasks({
      ...this.#requested,
      isInteractive: settings.isInteractive !== false,
      call: (params, context, options) => this.#request("tools/call", params, context, options),
      send: (method, params, context) => sendRequest(this.#requested, method, params, context, undefined),
      isLegacy: (context) => this.#isLegacy(context),
      capabilities: () => this.#capabilities,
      stopped,
    });
    this.#liveness = new LivenessCheck(
      {
        session: () => this.#shared.current,
        onResult: (session, error) => this.#onPing(session, error),
      },
      limits,
    );
    this.#catalogue = new ServerCatalogue({
      settings,
      limits,
      logger,
      now,
      startBackgroundTimer,
      session: () => this.#shared.current,
      stopped,
      onChange: (kind) => this.#emit(kind),
      onRead: () => this.#remember(),
    });
    this.#capabilities = settings.remembered?.capabilities ?? {};
    this.#instructions = settings.remembered?.instructions;
    const open = (client: ClientSession) => this.#openForClient(client);
    const refusal = () => this.#quarantine.error;
    this.#clients = new ClientSessions({ serverId, now, random, logger, scrub, open, refusal }, limits);
    this.#watch = new ResourceWatch({
      serverId,
      random,
      now,
      logger,
      lingerMs: lingerMsOf(settings.kind),
      maxUris: limits.maxWatchedUris,
      lease: (client, signal) => this.#lease(client, AbortSignal.any([signal, stopped])),
      onNotification: (method) => this.#catalogue.notified(method),
      onGap: () => this.#catalogue.missed(),
      onFailure: (session, error) => {
        if (isRefused(error) && session === this.#shared.current)
          this.#shared.renew(session, reasonOf(error, this.#scrub), "after a pause");
      },
    });
    this.features = this.#createFeatures();
  }

  async start(signal: AbortSignal): Promise<void> {
    const stop = () => void this[Symbol.asyncDispose]();
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    const { idleMs, remembered } = this.#settings;
    await this.#shared.start(
      remembered === undefined ? "at once" : idleMs === undefined ? "soon" : "on request",
    );
    signal.removeEventListener("abort", stop);
  }

  tools(): readonly Tool[] {
    return this.#catalogue.offered;
  }

  /** The names of all tools that the server lists, also those that are not offered. */
  toolNames(): readonly string[] {
    return this.#catalogue.lists.tools.map(({ definition }) => definition.name);
  }

  hasLists(): boolean {
    return this.#settings.remembered !== undefined || this.#shared.connections > 0;
  }

  connect({ session, signal }: CallContext): Promise<void> | undefined {
    const shared = this.#shared;
    if (shared.current !== undefined || (shared.connections > 0 && !shared.isIdle)) return undefined;
    return needsOwnSession(session, this.#asks) && this.#clients.has(session)
      ? undefined
      : shared.get(signal).then(() => undefined);
  }

  onChange(listener: (change: SourceChange) => void): Unsubscribe {
    return this.#listeners.add((change) => {
      try {
        listener(change);
      } catch (error) {
        // An error of one listener is neither the server's nor the other listeners'.
        this.#deps.logger.error(
          { server: this.id, kind: change.kind, err: error },
          "a listener of the server's changes failed",
        );
      }
    });
  }

  call(
    { definition }: Tool,
    args: JsonObject,
    context: CallContext,
    beforeSend?: () => void,
  ): Promise<ToolResult> {
    const { name, inputSchema, annotations } = definition;
    const { task } = context;
    const options = { inputSchema, annotations, beforeSend };
    const result =
      task === undefined
        ? this.#request("tools/call", { name, arguments: args }, context, options)
        : this.#tasks.run(definition, args, { ...context, task }, beforeSend);
    return result as Promise<unknown> as Promise<ToolResult>;
  }

  health(): Health {
    return this.#health.current;
  }

  /** Uses a quarantined server again. @returns whether it was quarantined */
  release(): boolean {
    if (!this.#quarantine.end()) return false;
    this.#health.change("unavailable", "It was released from quarantine and is being connected");
    this.#links.resume();
    return true;
  }

  /** Connects again where the login of one client, or of the gateway, changed. */
  credentialsChanged({ owner, isReplaced }: CredentialsChange): void {
    if (owner === undefined) this.#shared.retryNow();
    if (isReplaced) this.#clients.retireAll(owner);
  }

  /** Returns facts about the connection; fields are absent while there is none. */
  facts(): ServerFacts {
    const { current, connections } = this.#shared;
    return {
      protocolVersion: current?.connection.protocolVersion,
      serverInfo: current?.connection.serverInfo,
      pid: current?.process?.pid,
      restarts: Math.max(0, connections - 1),
      clientSessions: this.#clients.size,
    };
  }

  /** Resolves when no call runs or waits. */
  readonly idle = (): Promise<void> => this.#load.idle();

  /** Returns the last lines of the server's standard error (stdio), including those before its last restart. */
  stderrTail(lineCount: number): readonly string[] {
    return this.#stderr.tail(lineCount);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose();
  }

  #createFeatures(): SourceFeatures {
    return {
      capabilities: () => this.#capabilities,
      instructions: () => this.#instructions,
      resources: () => this.#catalogue.lists.resources,
      resourceTemplates: () => this.#catalogue.lists.resourceTemplates,
      prompts: () => this.#catalogue.lists.prompts,
      request: (method, params, context, beforeSend) =>
        this.#request(method, params, context, { beforeSend }),
      watch: (uri, watcher) => this.#withCallerErrors(this.#watch.add(uri, watcher)),
      unwatch: (uri, watcher) => this.#withCallerErrors(this.#watch.remove(uri, watcher)),
    };
  }

  #openShared(link: LinkOptions): Promise<UpstreamSession> {
    return this.#open({
      capabilities: this.#settings.isInteractive === false ? {} : sharedCapabilities,
      owner: undefined,
      ...link,
      onProcess: (process) => this.#stderr.follow(process),
      onPrinted: (text) => this.#health.printed(text),
    });
  }

  #openForClient(client: ClientSession): Promise<UpstreamSession> {
    const { isPerIdentity = false } = this.#settings;
    return this.#open({
      capabilities: this.#settings.isInteractive === false ? {} : passedOnCapabilities(client),
      owner: client,
      era: isPerIdentity ? undefined : "legacy",
      isPinned: !isPerIdentity,
      signal: this.#shared.stopped,
    });
  }

  #open(options: ChosenSessionOptions & Pick<LinkOptions, "timeoutMs">): Promise<UpstreamSession> {
    return openSession(this.#settings, this.#deps, {
      timeoutMs: this.#limits.handshakeTimeoutMs,
      ...options,
      messageMaxBytes: this.#limits.messageMaxBytes,
      onAsked: (capability) => this.#asked(capability),
      taskContext: (id) => this.#tasks.contextOf(id, options.owner),
      onViolation: (error) => this.#violated(error.message),
      onSlowed: () => this.#load.slowed(),
      onMissed: (missing) => this.#watch.missed(missing),
      onNotification: (method, params, session) => {
        this.#catalogue.notified(method);
        if (session?.owner !== undefined && method === "notifications/tools/list_changed")
          this.#catalogue.announcedTo(session);
        if (session !== undefined) this.#watch.notified(method, params, session);
      },
    });
  }

  async #prepare(session: UpstreamSession, signal: AbortSignal): Promise<() => void> {
    this.#health.listing();
    const replaceLists = await this.#catalogue.read(session, signal);
    return () => {
      const { era, protocolVersion, capabilities, instructions } = session.connection;
      this.#capabilities = capabilities;
      this.#instructions = instructions;
      if (this.#settings.isInteractive !== false)
        for (const one of extensionAsks(capabilities)) this.#asks.add(one);
      replaceLists();
      const { length: tools } = this.#catalogue.lists.tools;
      this.#deps.logger.info({ server: this.id, era, protocolVersion, tools }, "server is ready");
      this.#health.connected();
      this.#remember();
      if (this.#settings.kind === "streamable_http" || this.#settings.kind === "sse") this.#liveness.start();
      void this.#watch.restore(session);
    };
  }

  /** Passes the current definitions on, to be remembered for the next start. */
  #remember(): void {
    this.#settings.remember?.({
      capabilities: this.#capabilities,
      instructions: this.#instructions,
      ...this.#catalogue.definitions(),
      asks: [...this.#asks],
      eras: this.#links.known?.eras,
      erasFoundAt: this.#links.known?.foundAt,
    });
  }

  /** The server asked for `capability`: from now on, clients that have it get sessions of their own. */
  #asked(capability: string): void {
    if (this.#asks.has(capability)) return;
    this.#asks.add(capability);
    this.#deps.logger.info(
      { server: this.id, capability },
      "server asks clients; those that can be asked get sessions of their own",
    );
    if (this.#shared.connections > 0) this.#remember();
  }

  /** Updates the health after a ping. `error` is absent when the server answered. */
  #onPing(session: UpstreamSession, error: unknown): void {
    if (session !== this.#shared.current) return;
    if (isRefused(error)) this.#shared.renew(session, reasonOf(error, this.#scrub), "after a pause");
    else this.#health.pinged(error);
  }

  #emit(kind: SourceChange["kind"]): void {
    this.#listeners.emit({ kind });
  }

  #violated(violation: string): void {
    const reason = this.#quarantine.add(violation);
    if (reason === undefined) return;
    const text = this.#scrub(reason);
    this.#deps.logger.warn(
      { server: this.id, code: "UPSTREAM_QUARANTINED", reason: text },
      "server is quarantined",
    );
    this.#health.change("quarantined", text);
    // The failed call is answered before its session ends.
    setImmediate(() => {
      if (this.#quarantine.error === undefined) return;
      this.#links.suspend();
      this.#clients.endAll();
    });
  }

  async #isLegacy({ era, signal }: CallContext): Promise<boolean> {
    return (await this.#links.get(era, signal)).connection.era === "legacy";
  }

  /** Leases the session for the calls of `client`. */
  async #lease(client: ClientSession | undefined, signal: AbortSignal, era: Era = "legacy"): Promise<Lease> {
    if (this.#quarantine.error !== undefined) throw this.#quarantine.error;
    if (this.#settings.isPerIdentity === true && client !== undefined)
      return this.#clients.lease(client, signal);
    // There is one custom transport, so all clients share it.
    const canHaveOwn = this.#settings.kind !== "custom" && needsOwnSession(client, this.#asks);
    if (canHaveOwn && this.#clients.has(client)) return this.#clients.lease(client, signal);
    const session = await this.#links.get(canHaveOwn ? "legacy" : era, signal);
    // A modern request carries the capabilities of its client, and modern servers send no requests.
    if (canHaveOwn && session.connection.era === "legacy") return this.#clients.lease(client, signal);
    return { session, release() {} };
  }

  #request(
    method: string,
    params: JsonObject,
    context: CallContext,
    options?: RequestOptions,
  ): Promise<JsonObject> {
    if (this.#quarantine.error !== undefined) return Promise.reject(this.#quarantine.error);
    const send = (one: CallContext) => sendRequest(this.#requested, method, params, one, options);
    const make = (given = context) =>
      given.rounds !== undefined || isAskedForInner(given) ? this.#rounds.send(given, send) : send(given);
    const { askForLogin: ask } = this.#settings;
    const work = ask === undefined ? make : () => withLoginQuestion(this.id, ask, context, make);
    return this.#load.run(context, work);
  }

  async #withCallerErrors(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      throw toCallerError(this.#sender, error, this.#isStopping);
    }
  }

  async #stop(): Promise<void> {
    this.#isStopping = true;
    this.#liveness.stop();
    this.#health.change("stopped");
    this.#rounds.endAll(new UpstreamError("UPSTREAM_CLOSED", `The server "${this.id}" was stopped`));
    await Promise.allSettled([this.#links[Symbol.asyncDispose](), this.#clients[Symbol.asyncDispose]()]);
  }
}
