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
  /** Returns the facts about it under a declaration. */
  facts(declared: ToolServerConfig): Partial<SourceFacts>;
  /** Ends the logins to it, after its last call. @param isIdFree whether no other server has its id, in force, leaving or prepared */
  forget(isIdFree: boolean): void;
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
  /** Servers that are open, by id: in force, leaving, or prepared and not yet in force. */
  readonly #open = new Map<string, number>();

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
    for (const { current, upstream, facts } of opened) core.roster.add(upstream, facts(current.server));
    this.#servers = new Map(opened.map((one) => [one.upstream.id, one]));
  }

  /** Starts all servers. */
  start(): Promise<unknown> {
    return this.#start([...this.#servers.values()]);
  }

  /** Prepares the servers of another configuration: opens those that are new, so that `commit` only puts them in place. */
  async prepare({ toolServers }: GatewayConfig): Promise<PreparedSources> {
    const { core } = this.#context;
    const before = this.#servers;
    const isKept = (server: ToolServerConfig) => {
      const known = before.get(server.id);
      return known !== undefined && keepsServer(known.current.server, server);
    };
    const others = toolServers.filter((server) => !isKept(server));
    await using opening = new AsyncDisposableStack();
    const memories = await this.#memoriesOf(others);
    for (const memory of memories.values()) opening.use(memory);
    await core.preparePins(others.map(({ id }) => id).filter((id) => !before.has(id)));
    const added = others.map((server) => {
      const one = this.#opened(server, memories);
      opening.defer(() => one.upstream[Symbol.asyncDispose]());
      opening.defer(() => this.#forget(one));
      return { one, facts: one.facts(server) };
    });
    const next = new Map(added.map(({ one }) => [one.upstream.id, one]));
    const declared = toolServers.flatMap((server) => {
      const one = next.has(server.id) ? undefined : before.get(server.id);
      if (one === undefined) return [];
      const facts = isSameServer(one.current.server, server) ? undefined : one.facts(server);
      return [{ one, server, facts }];
    });
    const stays = new Set(declared.map(({ one }) => one));
    const leaving = [...before.values()].filter((one) => !stays.has(one));
    const servers = toolServers.map(({ id }) => [id, next.get(id) ?? before.get(id)] as const);
    const opened = opening.move();
    return {
      commit: (take) => {
        this.#servers = new Map(servers.flatMap(([id, one]) => (one === undefined ? [] : [[id, one]])));
        for (const { upstream } of leaving) take(() => core.roster.remove(upstream));
        for (const { one, facts } of added) take(() => core.roster.add(one.upstream, facts));
        for (const { one, server, facts } of declared) {
          one.current.server = server;
          if (facts !== undefined) take(() => core.roster.replaceFacts(one.upstream, facts));
        }
        for (const one of leaving) take(() => this.#leave(one));
      },
      start: () => this.#start(added.map(({ one }) => one)),
      abandon: () => opened.disposeAsync(),
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
    const one = this.#openServer(server, memories.get(server.id) as ServerMemory);
    this.#open.set(server.id, (this.#open.get(server.id) ?? 0) + 1);
    return one;
  }

  /** Forgets a server that has ended. What is kept by its id is that of the others of this id, too. */
  #forget({ upstream: { id }, forget }: OpenServer): void {
    const left = (this.#open.get(id) ?? 0) - 1;
    if (left > 0) this.#open.set(id, left);
    else this.#open.delete(id);
    forget(left <= 0);
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

  async #finish(one: OpenServer, signal: AbortSignal): Promise<void> {
    const { current, upstream, memory } = one;
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
    this.#forget(one);
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
