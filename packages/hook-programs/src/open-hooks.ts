/**
 * The hooks of a configuration: their secrets, the sandboxes of their commands, and the egress of
 * their URLs. A hook that cannot be asked, for lack of a secret or of a sandbox, fails, and so denies the
 * calls that it is asked about; an error at the start says so.
 */

import { type ConfigText, type GatewayConfig, resolveTransport, SecretResolver } from "@toolcrib/config";
import { clientKeysOf } from "@toolcrib/config-changes";
import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import {
  createPlaceholder,
  createRecordedEgress,
  type Egress,
  type EgressCredential,
  parseAllowedHost,
  ServerExits,
} from "@toolcrib/egress";
import { readRegularFile } from "@toolcrib/files";
import { createSend, type HookRule, Hooks } from "@toolcrib/hooks";
import { createProcessLauncher, type ProcessLauncher, type SpawnWrap } from "@toolcrib/process";
import type { SecretScrubber } from "@toolcrib/redaction";
import { type ContainedServer, exitPort, type Sandboxes, ServerSandboxes } from "@toolcrib/sandbox";
import { SecretCache, secretNameOf } from "@toolcrib/secrets";

type HookConfig = GatewayConfig["hooks"]["before"][number];
type SendToHook = HookRule["send"];
type HookAddress = Awaited<
  ReturnType<Extract<Parameters<typeof createSend>[0], { readonly egress: unknown }>["address"]>
>;

type RecordedEgressContext = Parameters<typeof createRecordedEgress>[0];

/** Everything that hooks take from the gateway and from the process. */
export interface HooksContext extends RecordedEgressContext {
  readonly config: Pick<GatewayConfig, "hooks" | "egress" | "sandbox" | "policy">;
  readonly env: { readonly [name: string]: string | undefined };
  readonly scrubber: SecretScrubber;
  /** The sandboxes of this machine. */
  readonly sandboxes: Sandboxes;
  /** Files that the configuration was read from. */
  readonly configFiles: readonly string[];
  /** Paths of the policy files in force. */
  readonly policyFiles: () => readonly string[];
  /** Folder that relative paths of the command line are relative to. */
  readonly directory: string;
  /** Wraps each process. @default processes are started as they are */
  readonly wrap: SpawnWrap | undefined;
  readonly monotonicMs: () => number;
}

/** Milliseconds for which the secrets of a command are kept. */
const keptMs = 60_000;

/** Opens the hooks of a configuration; undefined if it has none. @param opening owns what they need */
export function openHooks(context: HooksContext, opening: AsyncDisposableStack): Hooks | undefined {
  const { config, monotonicMs, randomBytes } = context;
  const { before, after, limits } = config.hooks;
  if (before.length + after.length === 0) return undefined;
  const opened = opening.use(new OpenedHooks(context));
  const rules = (hooks: readonly HookConfig[]) => hooks.map((hook) => opened.ruleOf(hook));
  const settings = { before: rules(before), after: rules(after), limits };
  opened.check();
  const clientKeys = (name: string) => clientKeysOf(config.policy, name);
  return new Hooks(settings, { clientKeys, monotonicMs, randomBytes });
}

/** Dependencies of the hooks of one gateway. Calls have ended before it is disposed. */
class OpenedHooks implements AsyncDisposable {
  readonly #context: HooksContext;
  readonly #resolver: SecretResolver;
  readonly #secrets: SecretCache;
  readonly #resources = new AsyncDisposableStack();
  readonly #egress: Egress;
  readonly #exits: ServerExits;
  readonly #sandboxes: ServerSandboxes;
  #launcher: ProcessLauncher | undefined;
  /** The dependencies of each hook, which it has before it is asked. */
  readonly #needs: { readonly name: string; readonly get: () => Promise<unknown> }[] = [];
  readonly #uncontained = new Set<string>();
  #checking: Promise<unknown> | undefined;

  constructor(context: HooksContext) {
    const { config, home, env, now, sandboxes } = context;
    this.#context = context;
    this.#resolver = new SecretResolver({ env, readFile: readRegularFile, home });
    this.#secrets = new SecretCache({ resolver: this.#resolver, now });
    this.#egress = this.#resources.use(createRecordedEgress(context, new Map()));
    const ids = [...config.hooks.before, ...config.hooks.after].map(({ id }) => sourceIdOf(id));
    this.#exits = this.#resources.use(new ServerExits(context, ids, exitPort));
    this.#sandboxes = new ServerSandboxes({
      sandboxes,
      openExit: (server) => this.#exits.open(server),
      mode: config.sandbox.mode,
      places: context,
    });
  }

  ruleOf(hook: HookConfig): HookRule {
    const { id: name, tools, clients, timeoutSeconds } = hook;
    // A client learns the name of the file, and not where the home is.
    const logFile = hook.containment === undefined ? undefined : `logs/hook-${name}.log`;
    return { name, tools, clients, logFile, timeoutMs: timeoutSeconds * 1000, send: this.#sendOf(hook) };
  }

  /** Reports hooks that cannot be asked. */
  check(): void {
    const { logger, scrubber } = this.#context;
    const checks = this.#needs.map(({ name, get }) =>
      get().catch((error: unknown) => {
        const hint = isCodedError(error) ? error.hint : undefined;
        const fields = { hook: name, reason: scrubber.text(messageOf(error)), hint };
        logger.error(fields, "hook cannot be asked, and denies the calls that it is about");
      }),
    );
    this.#checking = Promise.all(checks);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#checking;
    await this.#resources.disposeAsync();
  }

  #sendOf(hook: HookConfig): SendToHook {
    if (hook.containment !== undefined) return this.#commandSend(hook, hook.containment);
    const address = this.#addressOf(hook);
    this.#needs.push({ name: hook.id, get: address });
    return createSend({ egress: this.#egress, address });
  }

  #commandSend(hook: HookConfig, containment: NonNullable<HookConfig["containment"]>): SendToHook {
    const { id, transport, source } = hook;
    const { logger, scrubber, config, sandboxes } = this.#context;
    const contained: ContainedServer = {
      id: sourceIdOf(id),
      transport,
      source,
      containment: {
        needsSandbox: true,
        bySandbox: ["network_egress", "filesystem_write"],
        effective: {
          ...containment,
          filesystemWrite: "deny",
          writePaths: [],
          hasState: false,
        },
      },
    };
    // Packages of package runners are fetched for servers only.
    const contain = this.#sandboxes.containmentOf(contained, async () => undefined);
    const resolved = this.#kept(() => this.#resolve(hook));
    this.#needs.push({ name: id, get: resolved });
    if (config.sandbox.mode === "required") {
      this.#needs.push({ name: id, get: () => requireSandbox(sandboxes) });
    }
    this.#launcher ??= this.#createLauncher();
    const launcher = this.#launcher;
    const start = async (signal: AbortSignal) => {
      const settings = await resolved();
      if (settings.kind !== "stdio") throw new Error("the transport of a command is stdio");
      const { command, args, env, cwd } = settings;
      const launched = await launcher.launch(
        {
          command,
          args,
          env,
          label: `hook-${id}`,
          isTask: true,
          contain,
          scrub: (line) => scrubber.text(line),
          ...(cwd === undefined ? {} : { cwd }),
        },
        { signal },
      );
      const { reason } = this.#sandboxes.stateOf(contained) ?? {};
      if (reason !== undefined && !this.#uncontained.has(id)) {
        this.#uncontained.add(id);
        logger.warn({ hook: id, reason }, "hook runs UNCONTAINED (sandbox.mode: preferred)");
      }
      return launched;
    };
    return createSend({ start });
  }

  /** The launcher of hooks has places of its own, and gives a hook that is stopped no time. */
  #createLauncher(): ProcessLauncher {
    const { home, env, now, logger, randomBytes, directory, wrap, config } = this.#context;
    return this.#resources.use(
      createProcessLauncher(
        { env, now, logger, randomBytes },
        {
          directory,
          logsDirectory: `${home}/logs`,
          wrap,
          processesMaxCount: config.hooks.limits.maxRunning,
          graceMs: 0,
          terminateGraceMs: 0,
          orphanGraceMs: 0,
        },
      ),
    );
  }

  async #resolve({ id, transport, source }: HookConfig): ReturnType<typeof resolveTransport> {
    const { scrubber } = this.#context;
    try {
      return await resolveTransport({ id, transport, source, problems: [] }, this.#resolver, "Hook");
    } finally {
      for (const value of this.#resolver.values()) scrubber.learn(sourceIdOf(id), value);
    }
  }

  /** Returns a function that keeps what `get` returned for a while. A failure is not kept. */
  #kept<Value>(get: () => Promise<Value>): () => Promise<Value> {
    const { monotonicMs } = this.#context;
    let kept: { readonly value: Promise<Value>; readonly until: number } | undefined;
    return () => {
      if (kept !== undefined && monotonicMs() < kept.until) return kept.value;
      const value = get();
      const entry = { value, until: monotonicMs() + keptMs };
      kept = entry;
      value.catch(() => {
        if (kept === entry) kept = undefined;
      });
      return value;
    };
  }

  #addressOf(hook: HookConfig): () => Promise<HookAddress> {
    const { transport } = hook;
    if (transport.kind === "stdio" || transport.url.kind !== "literal") throw new Error("the hook has a URL");
    const url = transport.url.text;
    if (url.startsWith("http:")) {
      return this.#kept(async () => {
        const resolved = await this.#resolve(hook);
        return { url, headers: "headers" in resolved ? resolved.headers : {}, source: undefined };
      });
    }
    return this.#throughEgress(hook, url, transport.headers);
  }

  /** Placeholders stand for the secrets of the headers, which the egress inserts. */
  #throughEgress(
    { id, source: file }: HookConfig,
    url: string,
    declared: { readonly [name: string]: ConfigText },
  ): () => Promise<HookAddress> {
    const { scrubber, randomBytes } = this.#context;
    const headers: { [name: string]: string } = {};
    const credentials: EgressCredential[] = [];
    for (const [name, text] of Object.entries(declared)) {
      if (text.kind !== "secret") {
        headers[name] = text.text;
        continue;
      }
      const placeholder = createPlaceholder(randomBytes);
      const format = `${text.prefix}{token}`;
      headers[name] = format.replace("{token}", placeholder);
      const learn = (value: string) => scrubber.learn(sourceIdOf(id), value);
      credentials.push({
        id: name,
        place: { kind: "header", name, format },
        placeholder,
        secretName: secretNameOf(text.ref),
        read: this.#secrets.reader(text.ref, file.name, learn),
      });
    }
    const { hostname, port } = new URL(url);
    const host = parseAllowedHost(port === "" ? hostname : `${hostname}:${port}`);
    if (typeof host === "string") throw new Error(`the host of the hook "${id}" is not valid: ${host}`);
    const address = { url, headers, source: { id: sourceIdOf(id), allow: [host], credentials } };
    return async () => {
      // Read here so that a missing secret is found at the start, and its value is known before it is sent.
      for (const { read } of credentials) await read();
      return address;
    };
  }
}

/** The name of a hook in events, and of its secrets. */
function sourceIdOf(id: string): string {
  return `hook:${id}`;
}

/** @throws {SandboxError} `SANDBOX_UNAVAILABLE` */
async function requireSandbox(sandboxes: Sandboxes): Promise<void> {
  const reports = await sandboxes.check();
  if (reports.some(({ isAvailable }) => isAvailable)) return;
  const reasons = reports.flatMap(({ id, problems }) => problems.map(({ reason }) => `${id}: ${reason}`));
  throw new Error(
    `this machine has no sandbox for processes (sandbox.mode: required): ${reasons.join("; ")}`,
  );
}
