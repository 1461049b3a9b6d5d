/**
 * One entry of `toolspecs` as a source of tools: the engine of its manifest and
 * toolspec, whose requests pass the egress with placeholders in place of
 * secrets. The health of the entry is that of its secrets. While a secret
 * cannot be read, the entry offers no tools and reports why; after it has been
 * ready once its tools stay listed, and a call reports what is missing.
 *
 * Neither the engine nor this file ever receives a secret.
 */

import assert from "node:assert/strict";
import { isCodedError } from "@toolcrib/diagnostics";
import type { Egress, EgressSource } from "@toolcrib/egress";
import type { JsonObject } from "@toolcrib/json";
import { ListenerSet } from "@toolcrib/lifecycle";
import { refFor, type SecretCache, type SecretRef, secretNameOf } from "@toolcrib/secrets";
import {
  type CallContext,
  clientArgument,
  type Health,
  type Identity,
  identityKey,
  type SourceChange,
  type Tool,
  type ToolResult,
  type ToolSource,
  type Unsubscribe,
} from "@toolcrib/tool";
import { egressPatterns, offeredTools, placedCredentials } from "@toolcrib/toolspec";
import { createToolpackSource } from "../create-toolpack-source.ts";
import type { CallLoad, ToolspecConfig } from "./toolspecs-context.ts";

/** Dependencies of an entry. */
export interface ToolspecSourceDeps {
  readonly egress: Pick<Egress, "fetch">;
  readonly secrets: Pick<SecretCache, "reader" | "release">;
  /** Returns a placeholder that cannot be guessed. */
  readonly newPlaceholder: () => string;
  /** Receives each secret value, for scrubbing. */
  readonly learn: (id: string, value: string) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** In [0, 1). */
  readonly random: () => number;
  readonly version: string;
  /** Limits the concurrent calls. */
  readonly load: CallLoad;
}

/** The id of an entry as the egress knows it. */
export function egressIdOf(id: string): string {
  return `toolspec:${id}`;
}

const noTools: readonly Tool[] = [];

/** Clients with secrets of their own whose engine is kept; that of the least recently used is created again. */
const maxIdentityEngines = 256;

/** The engine of one client with secrets of its own. */
interface IdentityEngine {
  readonly engine: ToolSource;
  readonly readers: readonly NamedReader[];
}

/** The source of one entry. Its secrets are first read by `start` or `check`. */
export class ToolspecSource implements ToolSource {
  readonly id: string;
  readonly origin = "toolspec";
  readonly config: ToolspecConfig;
  /** Names of the stored secrets that it reads. */
  readonly storedNames: ReadonlySet<string>;
  readonly checksArguments: boolean;
  readonly #now: () => number;
  readonly #listeners = new ListenerSet<[change: SourceChange]>();
  readonly #readers: NamedReader[] = [];
  readonly #engine: ToolSource | undefined;
  /** By `identityKey`, the one that was used last at the end. */
  readonly #identityEngines = new Map<string, IdentityEngine>();
  readonly #deps: ToolspecSourceDeps;
  readonly #isPerIdentity: boolean;
  readonly #load: CallLoad;
  readonly #offered: ReadonlySet<string>;
  /** Whether it has just left the lists, so that calls which were admitted before still reach it. */
  isLeaving = false;
  #health: Health;
  #tools = noTools;

  constructor(config: ToolspecConfig, deps: ToolspecSourceDeps) {
    this.id = config.id;
    this.config = config;
    this.storedNames = storedNamesOf(config);
    this.#deps = deps;
    this.#isPerIdentity = Object.values(config.credentials).some(isOfIdentity);
    this.#now = deps.now;
    this.#load = deps.load;
    this.#offered = new Set(namesOf(config));
    this.#engine = config.pair === undefined ? undefined : createEngine(config, this.#readers, deps);
    this.checksArguments = this.#engine?.checksArguments ?? false;
    this.#health = { state: "starting", since: deps.now() };
  }

  async start(): Promise<void> {
    if (await this.check()) this.emitChanges();
  }

  /** Resolves when no call of it runs or waits for its turn. */
  idle(): Promise<void> {
    return this.#load.idle();
  }

  /** Reads every secret. @returns whether the health or the tools changed; listeners are called by `emitChanges` */
  async check(): Promise<boolean> {
    if (this.#isStopped()) return false;
    if (this.#engine === undefined) {
      return this.#setHealth("unavailable", "its manifest and toolspec were not read");
    }
    const results = await Promise.allSettled(this.#readers.map(({ read }) => read()));
    if (this.#isStopped()) return false;
    const reasons = results.flatMap((one, at) =>
      one.status === "rejected" ? [reasonOf(one.reason, this.#readers[at]?.ref)] : [],
    );
    if (reasons.length > 0) return this.#setHealth("unavailable", reasons.join("; "));
    this.#tools = this.#engine.tools();
    return this.#setHealth("ready");
  }

  /** Notifies listeners of the changes that `check` found. */
  emitChanges(): void {
    for (const kind of ["tools", "health"] as const) this.#listeners.emit({ kind });
  }

  tools(): readonly Tool[] {
    return this.#tools;
  }

  onChange(listener: (change: SourceChange) => void): Unsubscribe {
    return this.#listeners.add(listener);
  }

  explainTool(name: string): string | undefined {
    const { id, pair, tools } = this.config;
    if (this.#offered.has(name) || pair?.toolspec.tools.some((tool) => tool.name === name) !== true) {
      return undefined;
    }
    const change = tools === "default" ? `write tools: [default, ${name}]` : `add ${name} to "tools"`;
    return `it is not enabled; to enable it, ${change} in the entry "${id}" of toolspecs in the configuration`;
  }

  health(): Health {
    return this.#health;
  }

  deadlineMs(tool: Tool): number {
    return this.#engine?.deadlineMs?.(tool) ?? callDeadlineMs;
  }

  async call(
    tool: Tool,
    args: JsonObject,
    context: CallContext,
    beforeSend = () => context.recheck?.(),
  ): Promise<ToolResult> {
    const engine = this.#engine;
    assert(engine !== undefined, "a tool of this source was listed");
    // A person can have taken minutes. A call that arrives right after its tool left the lists is sent, unless it waits.
    if (this.isLeaving) context.recheck?.();
    else beforeSend();
    return await this.#load.run({ ...context, recheck: beforeSend }, () =>
      this.#isPerIdentity
        ? this.#callAs(tool, args, context, beforeSend)
        : engine.call(tool, args, context, beforeSend),
    );
  }

  /** Makes a call with the secrets of its client, and with no others. @throws {CodedError} where one is missing */
  async #callAs(
    tool: Tool,
    args: JsonObject,
    context: CallContext,
    beforeSend: () => void,
  ): Promise<ToolResult> {
    const { engine, readers } = this.#engineOf(context.identity);
    for (const { read } of readers) await read();
    context.signal.throwIfAborted();
    beforeSend();
    return await engine.call(tool, args, context, beforeSend);
  }

  #engineOf(identity: Identity): IdentityEngine {
    const key = identityKey(identity);
    let known = this.#identityEngines.get(key);
    if (known === undefined) {
      const readers: NamedReader[] = [];
      const owner = { key, name: clientArgument(identity) };
      known = { engine: createEngine(this.config, readers, this.#deps, owner), readers };
    } else this.#identityEngines.delete(key);
    this.#identityEngines.set(key, known);
    const [oldestKey, oldest] = this.#identityEngines.entries().next().value as [string, IdentityEngine];
    if (this.#identityEngines.size > maxIdentityEngines) {
      this.#identityEngines.delete(oldestKey);
      for (const { read } of oldest.readers) this.#deps.secrets.release(read);
    }
    return known;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#setHealth("stopped");
    await this.#engine?.[Symbol.asyncDispose]();
  }

  #isStopped(): boolean {
    return this.#health.state === "stopped";
  }

  #setHealth(state: Health["state"], reason?: string): boolean {
    const known = this.#health;
    if (state === known.state && reason === known.reason) return false;
    const since = state === known.state ? known.since : this.#now();
    this.#health = reason === undefined ? { state, since } : { state, reason, since };
    return true;
  }
}

/** Names of the tools that an entry offers. */
function namesOf({ pair, tools }: ToolspecConfig): readonly string[] {
  return pair === undefined ? [] : offeredTools(pair.manifest, pair.toolspec.tools, tools);
}

function storedNamesOf({ credentials }: ToolspecConfig): ReadonlySet<string> {
  return new Set(
    Object.values(credentials).flatMap((ref) =>
      ref.kind === "named" || ref.kind === "store" ? [ref.name] : [],
    ),
  );
}

function isOfIdentity(ref: SecretRef): boolean {
  return ref.kind === "store" && ref.per === "identity";
}

/** Milliseconds that a call may take. */
const callDeadlineMs = 30_000;

/** A secret, and the reader of it. */
interface NamedReader {
  readonly ref: SecretRef;
  readonly read: () => Promise<string>;
}

/** @param owner the client whose secrets it uses; without one, the engine lists tools and calls none that need a client's */
function createEngine(
  config: ToolspecConfig,
  readers: NamedReader[],
  deps: ToolspecSourceDeps,
  owner?: Parameters<typeof refFor>[1],
): ToolSource {
  const { id, pair, credentials, source: declaredIn } = config;
  assert(pair !== undefined, "the caller has checked");
  const { manifest, toolspec } = pair;
  const placeholders = new Map<string, string>();
  const source: EgressSource = {
    id: egressIdOf(id),
    allow: egressPatterns(manifest),
    credentials: placedCredentials(manifest, toolspec).map(({ id: credentialId, place, encoding }) => {
      const declared = credentials[credentialId];
      assert(declared !== undefined, "the configuration was checked");
      const ref = refFor(declared, owner);
      const read = deps.secrets.reader(ref, declaredIn.name, (value) => {
        deps.learn(id, value);
        // The password alone is a secret too.
        if (encoding === "basic") deps.learn(id, value.slice(value.indexOf(":") + 1));
      });
      if (owner !== undefined || !isOfIdentity(ref)) readers.push({ ref, read });
      const placeholder = deps.newPlaceholder();
      placeholders.set(credentialId, placeholder);
      return {
        id: credentialId,
        place,
        placeholder,
        secretName: secretNameOf(ref),
        ...(encoding === undefined ? {} : { encoding }),
        read,
      };
    }),
  };
  return createToolpackSource(
    {
      id,
      manifest,
      toolspec,
      variables: config.variables,
      reserved: config.reserved,
      tools: namesOf(config),
      tokenOf: (credentialId) => placeholders.get(credentialId) ?? "",
    },
    {
      send: (request) => deps.egress.fetch(request, source),
      now: deps.now,
      sleep: deps.sleep,
      random: deps.random,
      version: deps.version,
    },
  );
}

/** The reason why a secret cannot be read, and what to do. */
function reasonOf(error: unknown, ref: SecretRef | undefined): string {
  if (!isCodedError(error)) return "a secret cannot be read";
  const isKeptByName = ref?.kind === "named" || ref?.kind === "store";
  if (error.code === "CONFIG_SECRET_NOT_FOUND" && isKeptByName) {
    return `Cannot find secret ${JSON.stringify(ref.name)}: run toolcrib secret set ${ref.name}`;
  }
  return error.hint === undefined ? error.message : `${error.message}: ${error.hint}`;
}
