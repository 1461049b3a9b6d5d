/**
 * One entry of `toolspecs` as a source of tools: the engine of the pair, whose
 * requests go out through the egress with placeholders in place of secrets, and
 * the health of the entry, which is that of its secrets. While a secret cannot
 * be read it offers nothing and says why; once it has been ready its tools stay
 * listed, and a call says what is missing.
 *
 * Neither the engine nor this file ever holds a secret.
 */

import assert from "node:assert/strict";
import type { SecretRef, ToolspecConfig } from "@toolcrib/config";
import { isCodedError } from "@toolcrib/diagnostics";
import type { Egress, EgressSource } from "@toolcrib/egress";
import type { Health, SourceChange, Tool, ToolSource } from "@toolcrib/tool";
import { createToolpackSource } from "@toolcrib/toolpack";
import { egressPatterns, placedCredentials } from "@toolcrib/toolspec";
import type { ReadSecret, SecretCache } from "./secret-cache.ts";

/** What an entry needs. */
export interface ToolspecSourceDeps {
  readonly egress: Pick<Egress, "fetch">;
  readonly secrets: Pick<SecretCache, "reader">;
  /** A placeholder that nobody can guess. */
  readonly newPlaceholder: () => string;
  /** Told of each secret value, for scrubbing. */
  readonly learn: (id: string, value: string) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** In [0, 1). */
  readonly random: () => number;
  readonly version: string;
}

/** An entry of `toolspecs`. */
export interface ToolspecSource extends ToolSource {
  readonly config: ToolspecConfig;
  /** Names of the stored secrets that it reads. */
  readonly storedNames: ReadonlySet<string>;
  /** Try every secret. @returns whether the health or the tools changed; nobody is told before `announce` */
  check(): Promise<boolean>;
  /** Tell the listeners what `check` found. */
  announce(): void;
}

/** The id of an entry as the egress knows it. */
export function egressIdOf(id: string): string {
  return `toolspec:${id}`;
}

/** Where a secret is kept, as people say it. */
export function secretNameOf(ref: SecretRef): string {
  if (ref.kind === "file") return `file:${ref.path}`;
  return ref.kind === "named" || ref.kind === "store" ? ref.name : `${ref.kind}:${ref.name}`;
}

const noTools: readonly Tool[] = [];

/** Create the source of `config`; its secrets are first read by `start`. */
export function createToolspecSource(config: ToolspecConfig, deps: ToolspecSourceDeps): ToolspecSource {
  const { id, pair } = config;
  const listeners = new Set<(change: SourceChange) => void>();
  const readers: NamedReader[] = [];
  const engine = pair === undefined ? undefined : createEngine(config, readers, deps);
  const allTools = engine?.tools() ?? noTools;
  let health: Health = { state: "starting", since: deps.now() };
  let tools = noTools;

  function settle(state: Health["state"], reason?: string): boolean {
    if (state === health.state && reason === health.reason) return false;
    const since = state === health.state ? health.since : deps.now();
    health = reason === undefined ? { state, since } : { state, reason, since };
    return true;
  }

  async function check(): Promise<boolean> {
    if (health.state === "stopped") return false;
    if (pair === undefined) return settle("unavailable", "its manifest and toolspec were not read");
    const results = await Promise.allSettled(readers.map(({ read }) => read()));
    if ((health.state as Health["state"]) === "stopped") return false;
    const reasons = results.flatMap((one, at) =>
      one.status === "rejected" ? [reasonOf(one.reason, readers[at]?.ref)] : [],
    );
    if (reasons.length > 0) return settle("unavailable", reasons.join("; "));
    tools = allTools;
    return settle("ready");
  }

  function announce(): void {
    for (const kind of ["tools", "health"] as const) for (const listener of listeners) listener({ kind });
  }

  return {
    id,
    origin: "toolspec",
    config,
    storedNames: new Set(
      Object.values(config.credentials).flatMap((ref) =>
        ref.kind === "named" || ref.kind === "store" ? [ref.name] : [],
      ),
    ),
    checksArguments: engine?.checksArguments ?? false,
    deadlineMs: (tool) => engine?.deadlineMs?.(tool) ?? callDeadlineMs,
    check,
    announce,
    async start() {
      if (await check()) announce();
    },
    tools: () => tools,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    call(tool, args, context) {
      assert(engine !== undefined, "a tool of this source was listed");
      return engine.call(tool, args, context);
    },
    health: () => health,
    async [Symbol.asyncDispose]() {
      settle("stopped");
      await engine?.[Symbol.asyncDispose]();
    },
  };
}

/** Milliseconds that a call may take. */
const callDeadlineMs = 30_000;

/** A secret and how it is read. */
interface NamedReader {
  readonly ref: SecretRef;
  readonly read: ReadSecret;
}

function createEngine(config: ToolspecConfig, readers: NamedReader[], deps: ToolspecSourceDeps): ToolSource {
  const { id, pair, credentials, source: declaredIn } = config;
  assert(pair !== undefined, "the caller has looked");
  const { manifest, toolspec } = pair;
  const placeholders = new Map<string, string>();
  const source: EgressSource = {
    id: egressIdOf(id),
    allow: egressPatterns(manifest),
    credentials: placedCredentials(manifest, toolspec).map(({ id: credentialId, place, encoding }) => {
      const ref = credentials[credentialId];
      assert(ref !== undefined, "the configuration was checked");
      const read = deps.secrets.reader(ref, declaredIn.name, (value) => {
        deps.learn(id, value);
        // The password alone is a secret too.
        if (encoding === "basic") deps.learn(id, value.slice(value.indexOf(":") + 1));
      });
      readers.push({ ref, read });
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
  const offered =
    config.tools === "all"
      ? toolspec.tools.map(({ name }) => name)
      : config.tools === "default"
        ? undefined
        : config.tools;
  return createToolpackSource(
    {
      id,
      manifest,
      toolspec,
      variables: config.variables,
      reserved: config.reserved,
      ...(offered === undefined ? {} : { tools: offered }),
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

/** Why a secret cannot be read, and what to do. */
function reasonOf(error: unknown, ref: SecretRef | undefined): string {
  if (!isCodedError(error)) return "a secret cannot be read";
  const isKeptByName = ref?.kind === "named" || ref?.kind === "store";
  if (error.code === "CONFIG_SECRET_NOT_FOUND" && isKeptByName) {
    return `Cannot find secret ${JSON.stringify(ref.name)}: run toolcrib secret set ${ref.name}`;
  }
  return error.hint === undefined ? error.message : `${error.message}: ${error.hint}`;
}
