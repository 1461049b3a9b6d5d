/**
 * The tool servers of a gateway as a set that changes with its configuration: servers whose connection is declared as
 * before stay, with their processes, sessions and calls in flight; others are replaced. A server that leaves
 * takes no more calls, finishes those that it has, and then ends with its processes.
 */

import { digestServer, type GatewayConfig, type ToolServerConfig } from "@toolcrib/config";
import { isSameServer, keepsServer, type PreparedSources } from "@toolcrib/config-changes";
import type { SourceFacts } from "@toolcrib/inventory";
import { disposeOnce } from "@toolcrib/lifecycle";
import type { DefinitionMemory, ServerMemory, UpstreamServer } from "@toolcrib/upstream";
import type { ServersContext } from "./servers-context.ts";

/** A server of the gateway. */
export interface OpenServer {
  /** Its declaration in force. */
  readonly current: { server: ToolServerConfig };
  readonly upstream: UpstreamServer;
  readonly memory: ServerMemory;
  /** Returns the facts about it, as declared now. */
  facts(): Partial<SourceFacts>;
  /** Ends the logins to it. */
  forget(): void;
}

/** Servers that finish their calls at a time; of more, the one that left first is ended. */
const leavingMaxCount = 32;

/** Milliseconds in which calls that were admitted reach a server that leaves. */
const arrivalMs = 250;

/** The servers of one gateway. */
export class ServerSources implements AsyncDisposable {
  readonly #context: ServersContext;
  readonly #openServer: (server: ToolServerConfig, memory: ServerMemory) => OpenServer;
  readonly #dispose = disposeOnce(() => this.#stop());
  /** By id, in the order of the configuration. */
  #servers: ReadonlyMap<string, OpenServer> = new Map();
  #definitions: DefinitionMemory | undefined;
  /** Ends the wait for the calls of each server that leaves. */
  readonly #leaving = new Map<AbortController, Promise<void>>();
  readonly #starting = new Set<Promise<unknown>>();

  constructor(
    context: ServersContext,
    openServer: (server: ToolServerConfig, memory: ServerMemory) => OpenServer,
  ) {
    this.#context = context;
    this.#openServer = openServer;
  }

  /** Opens the servers of the configuration. @param definitions what servers listed before */
  async open(definitions: DefinitionMemory): Promise<void> {
    const { config, core } = this.#context;
    this.#definitions = definitions;
    const memories = await this.#memoriesOf(config.toolServers);
    const opened = config.toolServers.map((server) => this.#opened(server, memories));
    for (const { upstream, facts } of opened) core.roster.add(upstream, facts());
    this.#servers = new Map(opened.map((one) => [one.upstream.id, one]));
  }

  /** Starts all servers. */
  start(): Promise<unknown> {
    return this.#start([...this.#servers.values()]);
  }

  /** Prepares the servers of another configuration. */
  async prepare({ toolServers }: GatewayConfig): Promise<PreparedSources> {
    const { core } = this.#context;
    const isKept = (server: ToolServerConfig) => {
      const known = this.#servers.get(server.id);
      return known !== undefined && keepsServer(known.current.server, server);
    };
    const others = toolServers.filter((server) => !isKept(server));
    const memories = await this.#memoriesOf(others);
    await core.preparePins(others.map(({ id }) => id).filter((id) => !this.#servers.has(id)));
    let added: readonly OpenServer[] = [];
    return {
      commit: () => {
        const next = new Map<string, OpenServer>();
        const before = this.#servers;
        const kept = toolServers.filter(isKept);
        const keptIds = new Set(kept.map(({ id }) => id));
        const leaving = [...before.values()].filter(({ upstream }) => !keptIds.has(upstream.id));
        for (const one of leaving) one.forget();
        added = others.map((server) => this.#opened(server, memories));
        for (const { upstream } of leaving) core.roster.remove(upstream);
        for (const { upstream, facts } of added) core.roster.add(upstream, facts());
        for (const server of kept) this.#redeclare(server);
        const opened = new Map(added.map((one) => [one.upstream.id, one]));
        for (const { id } of toolServers) {
          const one = opened.get(id) ?? before.get(id);
          if (one !== undefined) next.set(id, one);
        }
        this.#servers = next;
        for (const one of leaving) this.#leave(one);
      },
      start: () => this.#start(added),
      abandon: async () => {
        await Promise.all([...memories.values()].map((one) => one[Symbol.asyncDispose]()));
      },
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose();
  }

  /** Opens what servers listed before, by their ids. */
  async #memoriesOf(servers: readonly ToolServerConfig[]): Promise<ReadonlyMap<string, ServerMemory>> {
    const definitions = this.#definitions as DefinitionMemory;
    const opened = servers.map(
      async (server) => [server.id, await definitions.open(server.id, digestServer(server))] as const,
    );
    return new Map(await Promise.all(opened));
  }

  #opened(server: ToolServerConfig, memories: ReadonlyMap<string, ServerMemory>): OpenServer {
    return this.#openServer(server, memories.get(server.id) as ServerMemory);
  }

  /** Puts another declaration of a server in force that stays connected. */
  #redeclare(server: ToolServerConfig): void {
    const known = this.#servers.get(server.id);
    if (known === undefined) return;
    const isOther = !isSameServer(known.current.server, server);
    known.current.server = server;
    if (isOther) this.#context.core.roster.replaceFacts(known.upstream, known.facts());
  }

  #start(servers: readonly OpenServer[]): Promise<unknown> {
    // Starts end when their servers are disposed.
    const starting = Promise.allSettled(
      servers.map(({ upstream }) => upstream.start(new AbortController().signal)),
    );
    this.#starting.add(starting);
    void starting.then(() => this.#starting.delete(starting));
    return starting;
  }

  /** Lets a server finish its calls, each within its own deadline, and ends it. */
  #leave(one: OpenServer): void {
    const ending = new AbortController();
    // Those that are being ended are among them until they have ended.
    const finishing = [...this.#leaving.keys()].filter(({ signal }) => !signal.aborted);
    if (finishing.length >= leavingMaxCount) finishing[0]?.abort();
    const left = this.#finish(one, ending.signal).finally(() => this.#leaving.delete(ending));
    this.#leaving.set(ending, left);
  }

  async #finish({ current, upstream, memory }: OpenServer, signal: AbortSignal): Promise<void> {
    const { sleep, logger } = this.#context;
    const limitMs = current.server.containment.effective.maxExecutionSeconds * 1000;
    const waiting = new AbortController();
    signal.addEventListener("abort", () => waiting.abort(), { once: true });
    try {
      await sleep(arrivalMs, waiting.signal);
      await Promise.race([upstream.idle(), sleep(limitMs, waiting.signal)]);
    } catch {
      // The gateway ends, or too many servers leave.
    }
    waiting.abort();
    await upstream[Symbol.asyncDispose]();
    await memory[Symbol.asyncDispose]();
    logger.info({ server: upstream.id }, "server has left");
  }

  async #stop(): Promise<void> {
    for (const ending of this.#leaving.keys()) ending.abort();
    await Promise.allSettled(
      [...this.#servers.values()].map(({ upstream }) => upstream[Symbol.asyncDispose]()),
    );
    await Promise.allSettled(this.#leaving.values());
    await Promise.allSettled(this.#starting);
    await Promise.all([...this.#servers.values()].map(({ memory }) => memory[Symbol.asyncDispose]()));
  }
}
