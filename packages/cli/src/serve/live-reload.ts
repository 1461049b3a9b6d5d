/** Reloads the configuration of the gateway that a command runs: when its files change, on SIGHUP, and for the operator. */

import type { Gateway } from "@toolcrib/gateway";
import type { LoadedConfig } from "../config/load-cli-config.ts";
import { type Output, safeLine } from "../output/output.ts";
import { ConfigReloader, type ReloadOutcome } from "./config-reloader.ts";
import type { FileSnapshot, ReadFiles } from "./file-snapshot.ts";
import { FileWatch } from "./watch-files.ts";

/** Dependencies of `LiveReload`. */
export interface LiveReloadDeps {
  readonly output: Output;
  /** Loads the configuration. @param read receives the complete paths of the files before they are read */
  readonly load: (read: ReadFiles) => Promise<LoadedConfig>;
  /** Whether changes are shown. */
  readonly isQuiet: boolean;
}

/** Changed paths that a line names. */
const shownMaxCount = 12;

/** The reloads of the gateway of a command. Exists before the gateway, which passes on the requests of its operator. */
export class LiveReload implements Disposable {
  readonly #deps: LiveReloadDeps;
  readonly #hungUp = () => void this.reload();
  #reloader: ConfigReloader | undefined;
  #watch: FileWatch | undefined;

  constructor(deps: LiveReloadDeps) {
    this.#deps = deps;
    // The signal must not end the process while the gateway starts.
    process.on("SIGHUP", this.#hungUp);
  }

  /**
   * Begins to watch.
   *
   * @param read the snapshot of the files before they were read
   * @returns ends the watch and waits for the reload that runs. Dispose it before the gateway, which a reload changes
   */
  start(gateway: Gateway, read: FileSnapshot): AsyncDisposable {
    const { load } = this.#deps;
    const reloader = new ConfigReloader({
      gateway,
      load,
      onReloaded: (outcome, snapshot) => this.#reloaded(outcome, snapshot),
    });
    this.#reloader = reloader;
    const watch = new FileWatch(() => reloader.reload());
    this.#watch = watch;
    watch.follow(read);
    return {
      [Symbol.asyncDispose]: async () => {
        this[Symbol.dispose]();
        await watch[Symbol.asyncDispose]();
        await reloader.idle();
      },
    };
  }

  /** Loads and applies the configuration now. */
  async reload(): Promise<ReloadOutcome | object> {
    return (await this.#reloader?.reload()) ?? {};
  }

  [Symbol.dispose](): void {
    process.off("SIGHUP", this.#hungUp);
  }

  #reloaded({ applied, needsRestart, error }: ReloadOutcome, read: FileSnapshot): void {
    const { output, isQuiet } = this.#deps;
    this.#watch?.follow(read);
    // Its errors are in the log already.
    if (isQuiet || error !== undefined) return;
    if (applied.length > 0) output.note(`Applied a changed configuration: ${listOf(applied)}`);
    if (needsRestart.length > 0) output.note(`Applies after a restart: ${listOf(needsRestart)}`);
  }
}

function listOf(paths: readonly string[]): string {
  const more = paths.length - shownMaxCount;
  const shown = paths.slice(0, shownMaxCount).map(safeLine).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
}
