/**
 * All toolspecs of a gateway: the one egress that they go out through, their
 * secrets, and the sources themselves. Secrets are looked at together when the
 * gateway starts, and again when the store says that one changed or, for what
 * is not ready, from time to time; the index follows once for all of them.
 */

import type { GatewayConfig } from "@toolcrib/config";
import { isCodedError, type Logger, messageOf } from "@toolcrib/diagnostics";
import { createEgress, createPlaceholder, type EgressEvent } from "@toolcrib/egress";
import { readRegularFile } from "@toolcrib/files";
import type { SecretScrubber } from "@toolcrib/redaction";
import { openSecretStore } from "@toolcrib/secrets";
import type { Store } from "@toolcrib/store";
import type { ToolspecStatus } from "../gateway.ts";
import type { GatewayCore } from "../gateway-core.ts";
import { createSecretResolver } from "../secrets/secret-resolver.ts";
import { createSecretCache } from "./secret-cache.ts";
import { createToolspecSource, egressIdOf, secretNameOf, type ToolspecSource } from "./toolspec-source.ts";

/** What toolspecs take from their gateway and from the world. */
export interface ToolspecsDeps {
  readonly core: GatewayCore;
  readonly home: string;
  readonly environment: { readonly [name: string]: string | undefined };
  readonly record: Store["audit"]["record"];
  readonly scrubber: SecretScrubber;
  readonly logger: Logger;
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: (length: number) => Buffer;
  /** In [0, 1). */
  readonly random: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Calls back once after `delayMs` without keeping the process alive. @returns how to call it off */
  readonly startTimer: (delayMs: number, callback: () => void) => () => void;
}

/** The toolspecs of a gateway. Calls have ended before it is disposed of. */
export interface Toolspecs extends AsyncDisposable {
  /** Resolves when every secret was tried for the first time. Never rejects. */
  readonly started: Promise<void>;
  readonly ids: readonly string[];
  /** How many of them are past their first look. */
  startedCount(): number;
  status(): readonly ToolspecStatus[];
}

/** Toolspecs whose secrets are tried at the same time. */
const checksAtATime = 8;

/** Milliseconds between two looks at secrets that could not be read. */
const retryMs = 5000;

/** Put the toolspecs of `config` behind the gateway. */
export function openToolspecs(config: GatewayConfig, deps: ToolspecsDeps): Toolspecs {
  const { core, home, environment, record, scrubber, logger, now, randomBytes } = deps;
  const resolver = createSecretResolver({ env: environment, readFile: readRegularFile, homeDirectory: home });
  const secrets = createSecretCache({ resolver, now });
  const idByEgress = new Map(config.toolspecs.map(({ id }) => [egressIdOf(id), id]));
  const { internalRanges, connectTo, caCertificates } = config.egress;
  const egress = createEgress(
    { internalRanges, connectTo, caCertificates },
    { directory: `${home}/egress`, now, randomBytes, onEvent: recordEvent },
  );
  const sources = config.toolspecs.map((toolspec) =>
    createToolspecSource(toolspec, {
      egress,
      secrets,
      newPlaceholder: () => createPlaceholder(randomBytes),
      learn: (name, value) => scrubber.learn(name, value),
      now,
      sleep: deps.sleep,
      random: deps.random,
      version: deps.version,
    }),
  );
  for (const source of sources) {
    core.add(source);
    recordHealth(source);
  }
  let isDisposed = false;
  let stopRetry: (() => void) | undefined;
  let checking = Promise.resolve();
  const watching = watchStore();
  const started = watching.then(() => check(sources)).then(() => retryLater());

  /** A watch of the store where a secret may be in it. */
  async function watchStore(): Promise<AsyncDisposable | undefined> {
    if (sources.every(({ storedNames }) => storedNames.size === 0)) return undefined;
    try {
      const store = await openSecretStore({ home, env: environment }, { now, randomBytes });
      const watch = await store.watch(({ name }) => secretChanged(name));
      secrets.watched();
      return watch;
    } catch (error) {
      logger.warn({ reason: messageOf(error) }, "secret store is not watched: it is read again and again");
      return undefined;
    }
  }

  function secretChanged(name: string): void {
    secrets.changed(name);
    const concerned = sources.filter(({ storedNames }) => storedNames.has(name));
    if (concerned.length > 0) checkSoon(concerned);
  }

  function checkSoon(some: readonly ToolspecSource[]): void {
    checking = checking.then(() => (isDisposed ? undefined : check(some)));
  }

  /** Try the secrets of `some`, and let the index follow once. */
  async function check(some: readonly ToolspecSource[]): Promise<void> {
    const changed: ToolspecSource[] = [];
    // A few at a time: each takes files and memory while it is under way.
    const waiting = some.values();
    const work = async () => {
      for (const source of waiting) if (await source.check()) changed.push(source);
    };
    await Promise.all(Array.from({ length: checksAtATime }, work));
    if (isDisposed) return;
    core.index.together(() => {
      for (const source of changed) source.announce();
    });
  }

  /** Places that tell of no change are looked at again while something is missing. */
  function retryLater(): void {
    if (isDisposed) return;
    stopRetry = deps.startTimer(retryMs, () => {
      const missing = sources.filter(({ health }) => health().state === "unavailable");
      if (missing.length > 0) checkSoon(missing);
      retryLater();
    });
  }

  /** Each change between ready and not is an audit event, as for servers. */
  function recordHealth(source: ToolspecSource): void {
    let wasReady = false;
    let lastReason: string | undefined;
    source.onChange(({ kind }) => {
      if (kind !== "health") return;
      const { state, reason } = source.health();
      const { id } = source;
      if (state === "unavailable" && reason !== lastReason) {
        logger.warn({ toolspec: id, reason: scrubber.text(reason ?? "") }, "toolspec is not available");
      }
      lastReason = reason;
      const isReady = state === "ready";
      if (isReady === wasReady) return;
      wasReady = isReady;
      if (isReady) {
        const toolCount = source.tools().length;
        record("server.started", { server: id, transport: "toolspec", toolCount, containment: "egress" });
      } else {
        record("server.stopped", { server: id, reason: scrubber.text(reason ?? "it was stopped") });
      }
    });
  }

  /** What the egress did is on the audit trail, and in the log where it is worth a look. */
  function recordEvent(event: EgressEvent): void {
    const { host, callId } = event;
    const server = idByEgress.get(event.source) ?? event.source;
    const about = { server, ...(callId === undefined ? {} : { callId }), host: scrubber.text(host) };
    try {
      if (event.kind === "secret.used" || event.kind === "secret.echoed") {
        const { credential, secretName } = event;
        const where = event.kind === "secret.echoed" ? { where: event.where } : {};
        record(event.kind, { ...about, credential, secret: secretName, ...where });
        const fields = { ...about, credential, secretName, ...where };
        if (event.kind === "secret.used") logger.debug(fields, "secret was used");
        else logger.warn(fields, "a response held the secret that was sent; it was taken out");
      } else if (event.kind === "egress.denied") {
        const { code } = event;
        const reason = scrubber.text(event.reason);
        record(event.kind, { ...about, code, reason });
        logger.warn({ ...about, code, reason }, "request was refused");
      } else {
        const { credential, where } = event;
        const owner = event.owner === undefined ? undefined : (idByEgress.get(event.owner) ?? event.owner);
        record(event.kind, { ...about, credential, owner, where });
        logger.error(
          { ...about, credential, owner, where },
          "a placeholder for a secret is out of its place",
        );
      }
    } catch (error) {
      logger.error({ type: event.kind, reason: messageOf(error) }, "audit record could not be taken");
    }
  }

  return {
    started,
    ids: sources.map(({ id }) => id),
    startedCount: () => sources.filter(({ health }) => health().state !== "starting").length,
    status: () => sources.map((source) => statusOf(source, scrubber)),
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      stopRetry?.();
      await started.catch((error: unknown) => {
        // A coded error was told as the health of its source.
        if (!isCodedError(error)) throw error;
      });
      stopRetry?.();
      const watch = await watching;
      await watch?.[Symbol.asyncDispose]();
      await checking;
      await Promise.all(sources.map((source) => source[Symbol.asyncDispose]()));
      await egress[Symbol.asyncDispose]();
    },
  };
}

function statusOf(source: ToolspecSource, scrubber: SecretScrubber): ToolspecStatus {
  const { id, config } = source;
  const { reason, ...health } = source.health();
  const manifest = config.pair?.manifest;
  return {
    id,
    name: manifest?.name ?? id,
    version: manifest?.version ?? "",
    ...(manifest?.displayName === undefined ? {} : { title: manifest.displayName }),
    health: reason === undefined ? health : { ...health, reason: scrubber.text(reason) },
    tools: source.tools().length,
    hosts: manifest?.entitlements?.egress ?? [],
    credentials: Object.entries(config.credentials).map(([credential, ref]) => ({
      id: credential,
      secret: secretNameOf(ref),
    })),
    labels: config.labels,
  };
}
