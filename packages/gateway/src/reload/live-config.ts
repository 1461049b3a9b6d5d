/**
 * The configuration of a running gateway. Another one is prepared first (files read, policies checked, servers opened,
 * nothing of it in force), and then put in force in one turn of the event loop, so that every call sees all of the
 * old or all of the new one. What cannot be prepared changes nothing. Changes are applied one after the other.
 */

import { createCallLimits, type GuardDeps } from "@toolcrib/admission";
import type { LivePolicies } from "@toolcrib/cedar";
import { digestConfig, type GatewayConfig } from "@toolcrib/config";
import {
  type ConfigOutcome,
  type ConfigStatus,
  commitSteps,
  compareConfigs,
  isSameConfig,
  PartlyInForceError,
  type PreparedSources,
  RetiredParts,
  type TakeStep,
} from "@toolcrib/config-changes";
import { messageOf } from "@toolcrib/diagnostics";
import { openHooks } from "@toolcrib/hook-programs";
import type { CallHooksDeps } from "@toolcrib/hooks";
import type { SeenLabels } from "@toolcrib/store";
import { openSeenLabels, preparePolicies } from "../policy/open-policy-state.ts";
import type { OpenedSources, SourceContext } from "../sources/open-sources.ts";

/** Longest time that clients are not notified of changed lists, so that the servers of one change are one change of a list. */
const togetherMs = 300;

/** The parts of a gateway that belong to one configuration, besides its sources. */
export interface ConfiguredParts {
  readonly hooks: Pick<CallHooksDeps, "hooks" | "monotonicMs"> | undefined;
  readonly policies: LivePolicies | undefined;
  readonly seenLabels: SeenLabels | undefined;
}

/** Dependencies of `LiveConfig`. */
export interface LiveConfigDeps extends Pick<GuardDeps, "newCallId" | "budgetStore"> {
  readonly context: SourceContext;
  readonly opened: readonly OpenedSources[];
  /** The parts of the configuration at the start, which are disposed with those that follow. */
  readonly parts: ConfiguredParts;
  /** Processes and connections of the hooks. */
  readonly hookResources: AsyncDisposableStack;
  /** Called after each change. */
  readonly onApplied: () => void;
}

/** The parts of a change that are not in force. */
interface FailedParts {
  readonly reasons: readonly string[];
  /** Paths of the configuration to which they belong, such as `tool_servers`. */
  readonly sections: readonly string[];
}

const nothingFailed: FailedParts = { reasons: [], sections: [] };

/** The configuration in force. */
export class LiveConfig implements AsyncDisposable {
  readonly #deps: LiveConfigDeps;
  readonly #retired: RetiredParts;
  #config: GatewayConfig;
  #parts: ConfiguredParts;
  #status: ConfigStatus;
  /** Resources of the hooks in force. */
  #hookResources: AsyncDisposableStack;
  #endLimits: () => Promise<void>;
  /** Parts that are opened once, with the first configuration that needs them. */
  readonly #resources = new AsyncDisposableStack();
  #turn: Promise<unknown> = Promise.resolve();
  #release: (() => void) | undefined;
  #isStopping = false;

  constructor(deps: LiveConfigDeps) {
    const { context, parts } = deps;
    const { config, core, configFiles: files, now, sleep } = context;
    this.#deps = deps;
    this.#config = config;
    this.#parts = parts;
    this.#hookResources = deps.hookResources;
    this.#retired = new RetiredParts({ inFlight: core.inFlight, sleep });
    this.#status = { files, digest: digestConfig(config), loadedAt: new Date(now()).toISOString() };
    this.#endLimits = core.callLimits?.keep() ?? (async () => {});
  }

  /** The configuration in force. */
  get config(): GatewayConfig {
    return this.#config;
  }

  get parts(): ConfiguredParts {
    return this.#parts;
  }

  status(): ConfigStatus {
    return this.#status;
  }

  /** Puts another configuration in force. Resolves when it is, or is refused. Never rejects. */
  apply(next: GatewayConfig, files: readonly string[]): Promise<ConfigOutcome> {
    const applied = this.#turn.then(() => this.#apply(next, files));
    this.#turn = applied;
    return applied;
  }

  /**
   * Reports that a changed configuration is not used.
   *
   * @param problem the errors with their places
   * @param isPartly whether a part of it is in force, which could not be taken back
   */
  refuse(problem: string, isPartly = false): ConfigOutcome {
    const { record, scrubber, now } = this.#deps.context;
    const text = scrubber.text(problem);
    const { digest, files } = this.#status;
    const isKnown = this.#status.lastError?.message === text;
    const at = new Date(now()).toISOString();
    const incomplete = isPartly && { incomplete: withReasons(this.#status.incomplete, [text]) };
    this.#status = { ...this.#status, lastError: { at, message: text }, ...incomplete };
    if (!isKnown) {
      this.#recordSafely(() => record("config.rejected", { files, digest, problem: text }));
      const rest = isPartly ? "but for a part, until a restart" : "the previous one stays in force";
      this.#log("warn", { digest, problem: text }, `changed configuration is not used; ${rest}`);
    }
    const needsRestart = this.#status.pendingRestart ?? [];
    return { digest, applied: [], needsRestart, error: text, ...incomplete };
  }

  /** Applies nothing more. Resolves when nothing is being applied. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#turn;
  }

  /** Ends the parts in force, after `stop` and after the sources. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.#retired[Symbol.asyncDispose]();
    await this.#endLimits();
    await this.#hookResources.disposeAsync();
    await this.#resources.disposeAsync();
    await this.#parts.policies?.[Symbol.asyncDispose]();
  }

  async #apply(next: GatewayConfig, files: readonly string[]): Promise<ConfigOutcome> {
    if (this.#isStopping) return this.refuse("the gateway is being stopped");
    try {
      const { applied, needsRestart, config, loosened } = compareConfigs(this.#config, next);
      const digest = digestConfig(config);
      // What failed earlier is not made good by a later change.
      const earlier = this.#status.incomplete;
      const isChanged = applied.length > 0;
      const { reasons, sections } = isChanged ? await this.#replace(config) : nothingFailed;
      const failed = withReasons(earlier, reasons);
      const incomplete = failed.length === 0 ? {} : { incomplete: failed };
      const whole = applied.filter((path) => !isWithin(path, sections));
      const inForce = loosened.filter(({ server }) => whole.includes(`tool_servers.${server}`));
      for (const one of inForce) this.#log("warn", one, "containment of a server allows more than before");
      const outcome = { digest, applied: whole, needsRestart, ...incomplete };
      return this.#report(outcome, { files, isChanged, loosened: inForce });
    } catch (error) {
      return this.refuse(messageOf(error), error instanceof PartlyInForceError);
    }
  }

  /**
   * Prepares a configuration and puts it in force.
   *
   * @returns the parts of it that are not in force
   * @throws what cannot be prepared, or put in force at all; nothing has changed then
   */
  async #replace(config: GatewayConfig): Promise<FailedParts> {
    const { context, opened, onApplied } = this.#deps;
    const { core } = context;
    await using prepared = new AsyncDisposableStack();
    const sources: PreparedSources[] = [];
    for (const one of opened) {
      const other = await one.prepare?.(config);
      if (other === undefined) continue;
      sources.push(other);
      prepared.defer(() => other.abandon());
    }
    const settings = core.prepare(config);
    const ids = [...config.toolServers, ...config.toolspecs].map(({ id }) => id);
    const { record, logger } = context;
    const policyDeps = { core, record, logger, config: () => this.#config };
    const policies = await preparePolicies(this.#parts.policies, config, policyDeps);
    prepared.defer(() => policies.abandon());
    const hooks = this.#hooksOf(config, prepared);
    const limits = await this.#limitsOf(config);
    const seenLabels = await this.#labelsOf(config);
    const { files } = policies;
    const { callLimits } = limits;
    const before = this.#partsInForce();
    let inForce: LivePolicies | undefined;
    const failedSections: string[] = [];
    // From here on, nothing waits, and everything exists.
    const reconfigured = {
      take() {
        core.reconfigure(settings, { hooks: hooks.deps, seenLabels, callLimits, files });
        // The files that are watched are those that decide: both change, or neither. It changes all or throws.
        inForce = policies.commit();
      },
      takeBack: () => core.reconfigure(core.prepare(this.#config), before),
    };
    const reasons = commitSteps(reconfigured, (take) => {
      const takeOf =
        (...sections: readonly string[]): TakeStep =>
        (step) => {
          const isTaken = take(step);
          if (!isTaken) failedSections.push(...sections);
          return isTaken;
        };
      prepared.move();
      this.#config = config;
      const takeSource = takeOf("tool_servers", "toolspecs", "packages");
      // The index is built once, at the end.
      const together = (steps: () => void) => takeSource(() => core.index.together(steps));
      together(() => {
        for (const one of sources) takeSource(() => one.commit(takeSource));
        takeSource(() => core.roster.arrange(ids));
        takeOf("hooks")(hooks.take);
        takeOf("guards")(limits.take);
      });
    });
    this.#parts = { hooks: hooks.deps, policies: inForce, seenLabels };
    for (const reason of reasons) this.#log("error", { reason }, "a step of a changed configuration failed");
    this.#step(() => this.#announce(sources));
    this.#step(onApplied);
    return { reasons, sections: failedSections };
  }

  #partsInForce() {
    const { hooks, seenLabels } = this.#parts;
    const { callLimits, policy } = this.#deps.context.core;
    // Those that decide, whether or not an earlier change could hand them over to their owner.
    return { hooks, seenLabels, callLimits, files: policy.files };
  }

  #step(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#log("error", { reason: messageOf(error) }, "a step of a changed configuration failed");
    }
  }

  /** Logs without throwing: the configuration in force does not depend on the log. */
  #log(level: "info" | "warn" | "error", fields: object, message: string): void {
    try {
      this.#deps.context.logger[level](fields, message);
    } catch {
      // There is nothing left to report it with.
    }
  }

  /** Starts what is new. Clients are notified of changed lists when it has listed, and soon in any case. */
  #announce(sources: readonly PreparedSources[]): void {
    const { core, sleep } = this.#deps.context;
    const sendListChanges = core.service.reconfigured();
    const started = Promise.all(sources.map((one) => one.start())).then(() => core.settle());
    // Changes in a row do not put off the notification of the first one.
    if (this.#release !== undefined) {
      sendListChanges();
      return;
    }
    const release = () => {
      this.#release = undefined;
      sendListChanges();
    };
    this.#release = release;
    const waiting = new AbortController();
    const late = sleep(togetherMs, waiting.signal).catch(() => {});
    const first = Promise.race([started, late]);
    void first.then(() => {
      waiting.abort();
      release();
    });
  }

  /** The hooks of a configuration: those in force where nothing about them changes. */
  #hooksOf(config: GatewayConfig, prepared: AsyncDisposableStack) {
    const isSame =
      isSameConfig(config.hooks, this.#config.hooks) &&
      isSameConfig(config.policy.clients, this.#config.policy.clients);
    if (isSame) return { deps: this.#parts.hooks, take() {} };
    const { context } = this.#deps;
    const resources = new AsyncDisposableStack();
    prepared.use(resources);
    const hooks = openHooks({ ...context, config }, resources);
    const { monotonicMs } = context;
    return {
      deps: hooks && { hooks, monotonicMs },
      take: () => {
        const left = this.#hookResources;
        this.#hookResources = resources;
        this.#retired.add(() => left.disposeAsync());
      },
    };
  }

  /** The limits of a configuration, with what was used of those that stay as they are. */
  async #limitsOf(config: GatewayConfig) {
    const { core, now, logger } = this.#deps.context;
    const { clients } = config.policy;
    const isSame =
      isSameConfig(config.guards, this.#config.guards) && isSameConfig(clients, this.#config.policy.clients);
    if (isSame) return { callLimits: core.callLimits, take() {} };
    const clientKeys = (name: string) => core.clientKeys(name, config);
    const callLimits = createCallLimits(config.guards, { ...this.#deps, now, logger, clientKeys });
    const previous = core.callLimits;
    await callLimits?.restore(previous);
    return {
      callLimits,
      take: () => {
        const end = this.#endLimits;
        this.#endLimits = callLimits?.keep() ?? (async () => {});
        this.#retired.add(end);
        if (previous !== undefined) callLimits?.continueFrom(previous);
      },
    };
  }

  async #labelsOf({ dataLabels }: GatewayConfig): Promise<SeenLabels | undefined> {
    const { context } = this.#deps;
    const known = this.#parts.seenLabels;
    if (known === undefined) return await openSeenLabels(dataLabels, context, this.#resources);
    known.know(dataLabels);
    return known;
  }

  #report(outcome: ConfigOutcome, { files, isChanged, loosened }: AppliedChange): ConfigOutcome {
    const { digest, applied, needsRestart, incomplete } = outcome;
    const { record, now } = this.#deps.context;
    const previous = this.#status;
    const isPending = needsRestart.length > 0;
    this.#status = {
      files,
      digest,
      loadedAt: isChanged ? new Date(now()).toISOString() : previous.loadedAt,
      ...(isPending ? { pendingRestart: needsRestart } : {}),
      ...(incomplete === undefined ? {} : { incomplete }),
    };
    const isNews = isChanged || needsRestart.join() !== (previous.pendingRestart ?? []).join();
    if (isNews) {
      const pending = { ...(isPending && { needsRestart }), ...(incomplete && { incomplete }) };
      const data = { files, digest, previousDigest: previous.digest, changed: applied, ...pending };
      const opened = loosened.length > 0 && { loosened };
      this.#recordSafely(() => record("config.changed", { ...data, ...opened }));
      this.#log("info", { changed: applied, ...pending, digest }, "configuration was applied");
      if (isPending) this.#log("warn", { needsRestart }, "changed settings apply after a restart");
    }
    return outcome;
  }

  /** Records without throwing: the configuration in force does not depend on the trail, without which calls are refused. */
  #recordSafely(record: () => void): void {
    try {
      record();
    } catch (error) {
      this.#log("error", { reason: messageOf(error) }, "audit record could not be written");
    }
  }
}

/** A change that was applied, as its report needs it. */
interface AppliedChange {
  readonly files: readonly string[];
  readonly isChanged: boolean;
  readonly loosened: ReturnType<typeof compareConfigs>["loosened"];
}

/** The reasons that are reported: the last ones. */
function withReasons(earlier: readonly string[] = [], reasons: readonly string[]): readonly string[] {
  return [...earlier, ...reasons].slice(-20);
}

/** Whether `path` is one of `sections`, or below one. */
function isWithin(path: string, sections: readonly string[]): boolean {
  return sections.some((one) => path === one || path.startsWith(`${one}.`));
}
