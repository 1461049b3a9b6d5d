/**
 * An installed package as a source of one tool. The tool is listed while the package can run on this
 * machine; after it could once, it stays listed, and a call reports what is missing.
 */

import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import { ListenerSet } from "@toolcrib/lifecycle";
import type { Manifest } from "@toolcrib/mcpkg";
import type {
  CallContext,
  Health,
  PlannedCall,
  SourceChange,
  Tool,
  ToolResult,
  ToolSource,
  Unsubscribe,
} from "@toolcrib/tool";
import type { EndpointRunner } from "./endpoint-runner.ts";
import { McpkgRuntimeError } from "./runtime-error.ts";
import { toolOf } from "./tool-definition.ts";

/** A package that can run, and how. */
export interface PackageSettings {
  readonly manifest: Manifest;
  /** Names of its tests and what they show, which search reads. @default none */
  readonly examples?: readonly string[];
  /** Milliseconds until a call is failed. */
  readonly deadlineMs: number;
  /** Members of the `_meta` of its definition. @default none */
  readonly notes?: JsonObject | undefined;
  /** Returns the calls that a call makes, for its approval. @default it makes none */
  readonly plan?:
    | ((args: JsonObject, caller: Pick<CallContext, "identity">) => readonly PlannedCall[])
    | undefined;
}

/** Dependencies of a source. */
export interface PackageSourceDeps {
  /**
   * Returns the runner of the package as it can run now.
   *
   * @throws {CodedError} why it cannot run; the message and the hint are its reason.
   */
  readonly prepare: (signal: AbortSignal) => Promise<EndpointRunner>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const noTools: readonly Tool[] = [];

/** The source of one package. It is prepared by `start` or `check`. */
export class PackageSource implements ToolSource {
  readonly id: string;
  readonly origin = "package";
  readonly #settings: PackageSettings;
  readonly #deps: PackageSourceDeps;
  readonly #tool: Tool;
  readonly #listeners = new ListenerSet<[change: SourceChange]>();
  readonly #closing = new AbortController();
  #tools = noTools;
  #runner: EndpointRunner | undefined;
  #health: Health;
  /** Why the tool is not offered until it is released. */
  #held: string | undefined;
  #checking: Promise<boolean> | undefined;

  constructor(settings: PackageSettings, deps: PackageSourceDeps) {
    this.id = settings.manifest.toolId;
    this.#settings = settings;
    this.#deps = deps;
    const { manifest, notes, examples = [] } = settings;
    this.#tool = { ...toolOf(manifest, notes), ...(examples.length === 0 ? {} : { examples }) };
    this.#health = { state: "starting", since: deps.now() };
  }

  async start(): Promise<void> {
    if (await this.check()) this.emitChanges();
  }

  /** Prepares the package again. @returns whether the health or the tools changed; listeners are called by `emitChanges` */
  check(): Promise<boolean> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
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
    if (name !== this.#tool.definition.name) return undefined;
    const { state, reason } = this.#health;
    return state === "ready" ? undefined : reason;
  }

  health(): Health {
    return this.#health;
  }

  /** Stops offering the tool, until `release`. */
  hold(reason: string): void {
    if (this.#isStopped() || this.#held !== undefined) return;
    this.#held = reason;
    this.#tools = noTools;
    this.#runner = undefined;
    this.#setHealth("quarantined", reason);
    this.emitChanges();
  }

  /** Offers a held tool again, once it was prepared. @returns whether it was held */
  release(): boolean {
    if (this.#held === undefined) return false;
    this.#held = undefined;
    this.#setHealth("starting");
    void this.#checkForCall();
    return true;
  }

  deadlineMs(): number {
    return this.#settings.deadlineMs;
  }

  planCall(
    _tool: Tool,
    args: JsonObject,
    caller: Pick<CallContext, "identity">,
  ): readonly PlannedCall[] | undefined {
    return this.#settings.plan?.(args, caller);
  }

  async call(
    _tool: Tool,
    args: JsonObject,
    context: CallContext,
    beforeSend?: () => void,
  ): Promise<ToolResult> {
    if (this.#held !== undefined) {
      const hint = `toolcrib release ${this.id} uses it again`;
      throw new McpkgRuntimeError("PACKAGE_UNUSABLE", `"${this.id}" is quarantined: ${this.#held}`, { hint });
    }
    if (this.#runner === undefined) await this.#checkForCall();
    if (this.#runner === undefined) {
      const { reason = "it is not ready" } = this.#health;
      throw new McpkgRuntimeError("PACKAGE_UNUSABLE", `"${this.id}" cannot run: ${reason}`);
    }
    beforeSend?.();
    // It can wait for a place, and more than once.
    return await this.#runner.run(
      args,
      beforeSend === undefined ? context : { ...context, recheck: beforeSend },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#setHealth("stopped");
    this.#closing.abort();
    await this.#checking;
  }

  async #checkForCall(): Promise<void> {
    if (await this.check()) this.emitChanges();
  }

  async #check(): Promise<boolean> {
    if (this.#isStopped() || this.#held !== undefined) return false;
    try {
      const runner = await this.#deps.prepare(this.#closing.signal);
      if (this.#isStopped() || this.#held !== undefined) return false;
      this.#runner = runner;
      const hadTools = this.#tools.length > 0;
      if (!hadTools) this.#tools = [this.#tool];
      return this.#setHealth("ready") || !hadTools;
    } catch (error) {
      if (this.#isStopped() || this.#held !== undefined) return false;
      this.#runner = undefined;
      return this.#setHealth("unavailable", reasonOf(error));
    }
  }

  #isStopped(): boolean {
    return this.#health.state === "stopped";
  }

  #setHealth(state: Health["state"], reason?: string): boolean {
    const known = this.#health;
    if (state === known.state && reason === known.reason) return false;
    const since = state === known.state ? known.since : this.#deps.now();
    this.#health = reason === undefined ? { state, since } : { state, reason, since };
    return true;
  }
}

function reasonOf(error: unknown): string {
  const hint = isCodedError(error) ? error.hint : undefined;
  return hint === undefined ? messageOf(error) : `${messageOf(error)}: ${hint}`;
}
