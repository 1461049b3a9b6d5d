/**
 * Opens the installed packages of a home, and watches its install record: what is installed, updated
 * or removed while the gateway runs is offered, or not, within a second. Loads the code
 * that runs packages with the first one.
 */

import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type GatewayConfig, SecretResolver } from "@toolcrib/config";
import { isSameConfig, type PreparedSources } from "@toolcrib/config-changes";
import { messageOf } from "@toolcrib/diagnostics";
import { readRegularFile } from "@toolcrib/files";
import { disposeOnce } from "@toolcrib/lifecycle";
import type { PackageSources } from "@toolcrib/mcpkg-runtime";
import { ServerLoad } from "@toolcrib/upstream";
import type { OpenedSources, SourceContext } from "../sources/open-sources.ts";
import { chainHostOf } from "./chain-host.ts";

/** Path below the home of the record that `@toolcrib/mcpkg-install` writes, which is not loaded to look for it. */
const recordPath = join("packages", ".record.json");

/** Milliseconds between two polls of the record. */
const pollMs = 1000;

/** Opens the packages that are installed, and those that will be. */
export async function openPackages(context: SourceContext): Promise<OpenedSources> {
  const packages = new InstalledPackages(context);
  await packages.open();
  return packages;
}

class InstalledPackages implements OpenedSources {
  #context: SourceContext;
  readonly #path: string;
  readonly #dispose = disposeOnce(() => this.#stop());
  #sources: PackageSources | undefined;
  #seen: string | undefined;
  #isKnown = false;
  #polling: Promise<void> = Promise.resolve();
  #cancelPoll: (() => void) | undefined;
  #isStopping = false;

  constructor(context: SourceContext) {
    this.#context = context;
    this.#path = join(context.home, recordPath);
  }

  /** Adds the packages that are installed now. */
  async open(): Promise<void> {
    await this.#sync();
    this.#pollLater();
  }

  async start(): Promise<void> {
    await this.#sources?.started();
  }

  async prepare({ packages }: GatewayConfig): Promise<PreparedSources> {
    return {
      commit: () => {
        this.#context = { ...this.#context, config: { ...this.#context.config, packages } };
        this.#sources?.reconfigure(packages, isSameConfig);
      },
      start: async () => {
        this.#isKnown = false;
        this.#polling = this.#polling.then(() => this.#sync());
        await this.#polling;
        await this.#sources?.started();
      },
      abandon: async () => {},
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose();
  }

  #pollLater(): void {
    if (this.#isStopping) return;
    this.#cancelPoll = this.#context.startBackgroundTimer(pollMs, () => {
      this.#polling = this.#polling.then(() => this.#sync()).then(() => this.#pollLater());
    });
  }

  /** Reads the record if it changed. Never rejects. */
  async #sync(): Promise<void> {
    try {
      const seen = await signatureOf(this.#path);
      if (this.#isStopping || (seen === this.#seen && this.#isKnown)) return;
      this.#isKnown = true;
      this.#seen = seen;
      if (this.#sources === undefined) {
        if (seen === undefined && this.#context.trialPackages.length === 0) return;
        const { PackageSources } = await import("@toolcrib/mcpkg-runtime");
        if (this.#isStopping) return;
        this.#sources = new PackageSources(toPackagesContext(this.#context));
      }
      await this.#sources.sync();
    } catch (error) {
      this.#context.logger.error({ reason: messageOf(error) }, "installed packages cannot be read");
    }
  }

  async #stop(): Promise<void> {
    this.#isStopping = true;
    this.#cancelPoll?.();
    await this.#polling;
    await this.#sources?.[Symbol.asyncDispose]();
  }
}

/** Adds what packages need of other parts of the gateway. */
function toPackagesContext(context: SourceContext): ConstructorParameters<typeof PackageSources>[0] {
  const { config, core, env, home, now } = context;
  const { maxQueuedCallsPerServer: maxQueuedCalls } = config.serve.limits;
  return {
    ...context,
    chainHost: (chainOf) => chainHostOf(core, chainOf),
    loadOf: (toolId, maxConcurrentCalls) =>
      new ServerLoad(toolId, now, { maxConcurrentCalls, maxQueuedCalls }),
    secretResolver: new SecretResolver({ env, readFile: readRegularFile, home }),
  };
}

/** Returns another text for another record; undefined where there is none. */
async function signatureOf(path: string): Promise<string | undefined> {
  try {
    const { mtimeNs, ino, size } = await stat(path, { bigint: true });
    return `${mtimeNs} ${ino} ${size}`;
  } catch {
    // Where it cannot be read, nothing is installed.
    return undefined;
  }
}
