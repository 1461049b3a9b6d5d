/**
 * All toolspecs of a gateway: the egress that sends their requests, their
 * secrets, and the sources themselves. Secrets are checked together when the
 * gateway starts, and again when the store reports a change or, for a source
 * that is not ready, from time to time; the index is updated once for all.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import { createPlaceholder, createRecordedEgress, type Egress } from "@toolcrib/egress";
import { checkSources, type SourceDetails, type SourceFacts } from "@toolcrib/inventory";
import { disposeOnce } from "@toolcrib/lifecycle";
import { SecretCache, secretNameOf } from "@toolcrib/secrets";
import { hostsOf } from "@toolcrib/toolspec";
import { egressIdOf, ToolspecSource } from "./toolspec-source.ts";
import type { ToolspecConfig, ToolspecsContext } from "./toolspecs-context.ts";

/** Milliseconds in which calls that were admitted reach a toolspec that leaves. */
const arrivalMs = 1000;

/** Milliseconds between two attempts to read secrets that could not be read. */
const retryMs = 5000;

/** The toolspecs of a gateway. Calls have ended before it is disposed. */
export class ToolspecSources implements AsyncDisposable {
  readonly #context: ToolspecsContext;
  readonly #egress: Egress;
  readonly #secrets: SecretCache;
  readonly #egressIds: Map<string, string>;
  #sources: readonly ToolspecSource[];
  /** Sources that finish their calls. */
  readonly #leaving = new Set<ToolspecSource>();
  readonly #dispose = disposeOnce(() => this.#stop());
  readonly #closing = new AbortController();
  #isDisposed = false;
  #started: Promise<void> | undefined;
  #watch: AsyncDisposable | undefined;
  #cancelRetry: (() => void) | undefined;
  #checking: Promise<void> = Promise.resolve();

  constructor(context: ToolspecsContext) {
    const { config, core, secretResolver: resolver, now } = context;
    this.#context = context;
    this.#secrets = new SecretCache({ resolver, now });
    this.#egressIds = new Map(config.toolspecs.map(({ id }) => [egressIdOf(id), id]));
    this.#egress = createRecordedEgress(context, this.#egressIds);
    this.#sources = config.toolspecs.map((toolspec) => this.#createSource(toolspec));
    for (const source of this.#sources) {
      core.roster.add(source, factsOf(source));
      this.#logFailures(source);
    }
  }

  /**
   * Prepares the toolspecs of another configuration. Those that `isSame` calls the same stay; others are replaced, and
   * finish the calls that they have. Until `commit`, nothing changes.
   */
  prepare(
    toolspecs: readonly ToolspecConfig[],
    isSame: (one: ToolspecConfig, other: ToolspecConfig) => boolean,
  ): { readonly commit: () => void; readonly start: () => Promise<void> } {
    const { roster } = this.#context.core;
    const before = this.#sources;
    const added: { readonly source: ToolspecSource; readonly facts: Partial<SourceFacts> }[] = [];
    const next = toolspecs.map((toolspec) => {
      const kept = before.find(({ config }) => config.id === toolspec.id && isSame(config, toolspec));
      if (kept !== undefined) return kept;
      const source = this.#createSource(toolspec);
      added.push({ source, facts: factsOf(source) });
      return source;
    });
    const leaving = before.filter((one) => !next.includes(one));
    return {
      commit: () => {
        this.#sources = next;
        for (const source of leaving) {
          roster.remove(source);
          this.#leaving.add(source);
          void this.#leave(source);
        }
        for (const { source, facts } of added) {
          this.#egressIds.set(egressIdOf(source.id), source.id);
          roster.add(source, facts);
          this.#logFailures(source);
        }
      },
      start: async () => {
        await this.#started;
        this.#watch ??= await this.#watchStore();
        this.#checkSoon(added.map(({ source }) => source));
        await this.#checking;
      },
    };
  }

  /** Ends a source when it has answered the calls that it has, and those that reach it soon. */
  async #leave(source: ToolspecSource): Promise<void> {
    source.isLeaving = true;
    await this.#context.sleep(arrivalMs, this.#closing.signal).catch(() => {});
    source.isLeaving = false;
    await source.idle();
    if (!this.#leaving.delete(source)) return;
    await source[Symbol.asyncDispose]();
    const isIdFree = [...this.#sources, ...this.#leaving].every(({ id }) => id !== source.id);
    if (isIdFree) this.#egressIds.delete(egressIdOf(source.id));
  }

  /** Makes first contact with each. Resolves whether it succeeds or not. */
  start(): Promise<void> {
    this.#started ??= this.#watchAndCheck();
    return this.#started;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose();
  }

  #createSource(toolspec: ToolspecConfig): ToolspecSource {
    const { scrubber, randomBytes, now, sleep, random, serverInfo, loadOf } = this.#context;
    return new ToolspecSource(toolspec, {
      egress: this.#egress,
      secrets: this.#secrets,
      newPlaceholder: () => createPlaceholder(randomBytes),
      learn: (name, value) => scrubber.learn(name, value),
      now,
      sleep,
      random,
      version: serverInfo.version,
      load: loadOf(toolspec.id),
    });
  }

  /** Logs each new reason why a source is not available. */
  #logFailures(source: ToolspecSource): void {
    const { logger, scrubber } = this.#context;
    let lastReason: string | undefined;
    source.onChange(({ kind }) => {
      if (kind !== "health") return;
      const { state, reason } = source.health();
      if (state === "unavailable" && reason !== lastReason) {
        const fields = { toolspec: source.id, reason: scrubber.text(reason ?? "") };
        logger.warn(fields, "toolspec is not available");
      }
      lastReason = reason;
    });
  }

  async #watchAndCheck(): Promise<void> {
    this.#watch = await this.#watchStore();
    await this.#check(this.#sources);
    this.#retryLater();
  }

  /** Watches the secret store if a toolspec can use a secret of it. */
  async #watchStore(): Promise<AsyncDisposable | undefined> {
    if (this.#sources.every(({ storedNames }) => storedNames.size === 0)) return undefined;
    return await this.#secrets.watch(this.#context, (name) => this.#secretChanged(name));
  }

  #secretChanged(name: string): void {
    const affected = this.#sources.filter(({ storedNames }) => storedNames.has(name));
    if (affected.length > 0) this.#checkSoon(affected);
  }

  #checkSoon(some: readonly ToolspecSource[]): void {
    this.#checking = this.#checking.then(() => (this.#isDisposed ? undefined : this.#check(some)));
  }

  /** Reads the secrets of `some`, then updates the index once. */
  async #check(some: readonly ToolspecSource[]): Promise<void> {
    await checkSources(some, this.#context.core.index, () => this.#isDisposed);
  }

  /** Checks unavailable sources again later: not every place of a secret reports changes. */
  #retryLater(): void {
    if (this.#isDisposed) return;
    this.#cancelRetry = this.#context.startBackgroundTimer(retryMs, () => {
      const unavailable = this.#sources.filter((source) => source.health().state === "unavailable");
      if (unavailable.length > 0) this.#checkSoon(unavailable);
      this.#retryLater();
    });
  }

  async #stop(): Promise<void> {
    this.#isDisposed = true;
    this.#closing.abort();
    this.#cancelRetry?.();
    await this.#started?.catch((error: unknown) => {
      // A coded error is the health of its source already.
      if (!isCodedError(error)) throw error;
    });
    this.#cancelRetry?.();
    await this.#watch?.[Symbol.asyncDispose]();
    await this.#checking;
    await Promise.all([...this.#sources, ...this.#leaving].map((source) => source[Symbol.asyncDispose]()));
    await this.#egress[Symbol.asyncDispose]();
  }
}

function factsOf(source: ToolspecSource): Partial<SourceFacts> {
  const { config } = source;
  return {
    configured: { group: "toolspecs", transport: "toolspec", details: () => detailsOf(config) },
    backendKind: "provider",
    callsTools: false,
    // Every request of a toolspec passes the egress.
    containment: () => "egress",
    labels: config.labels,
    dataLabels: config.dataLabels,
    egressHosts: config.pair === undefined ? [] : [...hostsOf(config.pair.toolspec, config.variables)],
  };
}

function detailsOf({ id, pair, credentials }: ToolspecConfig): SourceDetails {
  const manifest = pair?.manifest;
  return {
    name: manifest?.name ?? id,
    version: manifest?.version ?? "",
    ...(manifest?.displayName === undefined ? {} : { title: manifest.displayName }),
    hosts: manifest?.entitlements?.egress ?? [],
    credentials: Object.entries(credentials).map(([credential, ref]) => ({
      id: credential,
      secret: secretNameOf(ref),
    })),
  };
}
