/**
 * Loads the configuration of a running gateway again, for its files, a signal or the operator, and applies it. Requests
 * are answered one after the other; those that come while one waits are answered together with it.
 */

import { formatDiagnostics, isCodedError, messageOf } from "@toolcrib/diagnostics";
import type { Gateway } from "@toolcrib/gateway";
import type { LoadedConfig } from "../config/load-cli-config.ts";

/** What became of a reload. */
export type ReloadOutcome = Awaited<ReturnType<Gateway["applyConfig"]>> & {
  /** Warnings about the configuration, with places. */
  readonly warnings?: string;
};

/** Dependencies of `ConfigReloader`. */
export interface ConfigReloaderDeps {
  readonly gateway: Pick<Gateway, "applyConfig" | "refuseConfig">;
  /** Loads the configuration. @param watched receives the complete paths of the files that it reads */
  readonly load: (watched: Set<string>) => Promise<LoadedConfig>;
  /** Called after each reload. */
  readonly onReloaded: (outcome: ReloadOutcome, watchedFiles: readonly string[]) => void;
}

/** The reloads of one gateway. */
export class ConfigReloader {
  readonly #deps: ConfigReloaderDeps;
  #current: Promise<unknown> = Promise.resolve();
  #waiting: Promise<ReloadOutcome> | undefined;

  constructor(deps: ConfigReloaderDeps) {
    this.#deps = deps;
  }

  /** Loads and applies the configuration, after the reload that runs now. Never rejects. */
  reload(): Promise<ReloadOutcome> {
    if (this.#waiting !== undefined) return this.#waiting;
    const next = this.#current.then(() => {
      this.#waiting = undefined;
      return this.#reload();
    });
    this.#waiting = next;
    this.#current = next;
    return next;
  }

  /** Resolves when no reload runs or waits. */
  async idle(): Promise<void> {
    await this.#current;
  }

  async #reload(): Promise<ReloadOutcome> {
    const { gateway, load, onReloaded } = this.#deps;
    const watched = new Set<string>();
    let outcome: ReloadOutcome;
    try {
      const { config, files, warnings, watchedFiles = [] } = await load(watched);
      for (const path of watchedFiles) watched.add(path);
      const applied = await gateway.applyConfig(config, files);
      outcome = warnings.length === 0 ? applied : { ...applied, warnings: formatDiagnostics(warnings) };
    } catch (error) {
      outcome = gateway.refuseConfig(problemOf(error));
    }
    onReloaded(outcome, [...watched]);
    return outcome;
  }
}

/** The findings about an invalid configuration, with their places, or why it cannot be read. */
function problemOf(error: unknown): string {
  const diagnostics = isCodedError(error) ? error.data?.["diagnostics"] : undefined;
  if (!Array.isArray(diagnostics) || diagnostics.length === 0) return messageOf(error);
  return formatDiagnostics(diagnostics.filter(({ severity }) => severity === "error"));
}
