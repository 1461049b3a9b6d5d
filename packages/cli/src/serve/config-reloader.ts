/**
 * Loads the configuration of a running gateway again, for its files, a signal or the operator, and applies it. Requests
 * are answered one after the other; those that come while one waits are answered together with it.
 */

import { setTimeout as delay } from "node:timers/promises";
import { formatDiagnostics, isCodedError, messageOf } from "@toolcrib/diagnostics";
import type { Gateway } from "@toolcrib/gateway";
import type { LoadedConfig } from "../config/load-cli-config.ts";
import { type FileSnapshot, ReadFiles } from "./file-snapshot.ts";

/** Number of times that files are read which change while they are read. */
const readsMaxCount = 8;

/** Milliseconds before such files are read again. */
const againMs = 40;

/** The outcome of a reload. */
export type ReloadOutcome = Awaited<ReturnType<Gateway["applyConfig"]>> & {
  /** Warnings about the configuration, with places. */
  readonly warnings?: string;
  /** When the configuration in force was loaded. ISO 8601. A gateway of an earlier version does not report it. */
  readonly loadedAt?: string;
};

/** Dependencies of `ConfigReloader`. */
export interface ConfigReloaderDeps {
  readonly gateway: Pick<Gateway, "applyConfig" | "refuseConfig" | "status">;
  /** Loads the configuration. @param read receives the complete paths of the files before they are read */
  readonly load: (read: ReadFiles) => Promise<LoadedConfig>;
  /** Called after each reload, with the snapshot of the files before they were read. */
  readonly onReloaded: (outcome: ReloadOutcome, read: FileSnapshot) => void;
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
    const { gateway, onReloaded } = this.#deps;
    const { read, load } = await this.#readWhole();
    let outcome: ReloadOutcome;
    try {
      const { config, files, warnings } = await load;
      const applied = await gateway.applyConfig(config, files);
      outcome = warnings.length === 0 ? applied : { ...applied, warnings: formatDiagnostics(warnings) };
    } catch (error) {
      outcome = gateway.refuseConfig(problemOf(error));
    }
    onReloaded(outcome, read.snapshot);
    const loadedAt = gateway.status().configuration?.loadedAt;
    return loadedAt === undefined ? outcome : { ...outcome, loadedAt };
  }

  /** Loads the configuration from files that do not change meanwhile. @returns `load` rejects where it is invalid, or they do */
  async #readWhole(): Promise<{ readonly read: ReadFiles; readonly load: Promise<LoadedConfig> }> {
    for (let count = 1; ; count += 1) {
      const read = new ReadFiles();
      const load = this.#deps.load(read);
      await load.catch(() => {});
      const changed = read.changed();
      if (changed.length === 0) return { read, load };
      if (count === readsMaxCount) return { read, load: Promise.reject(alwaysChanging(changed)) };
      await delay(againMs);
    }
  }
}

function alwaysChanging(changed: readonly string[]): Error {
  return new Error(
    `the configuration was not read as a whole, because files change all the time: ${changed.join(", ")}; it is read again when they have been quiet for a moment`,
  );
}

/** The findings about an invalid configuration, with their places, or why it cannot be read. */
function problemOf(error: unknown): string {
  const diagnostics = isCodedError(error) ? error.data?.["diagnostics"] : undefined;
  if (!Array.isArray(diagnostics) || diagnostics.length === 0) return messageOf(error);
  return formatDiagnostics(diagnostics.filter(({ severity }) => severity === "error"));
}
