/**
 * Opens the installed packages of a home, and watches its install record: what is installed, updated
 * or removed while the gateway runs is offered, or not, within a second. Loads the code
 * that runs packages with the first one.
 */

import { stat } from "node:fs/promises";
import { messageOf } from "@toolcrib/diagnostics";
import { disposeOnce } from "@toolcrib/lifecycle";
import { installRecordPath } from "@toolcrib/mcpkg-install";
import type { OpenedSources, SourceContext } from "../sources/open-sources.ts";
import type { PackageSources } from "./package-sources.ts";

/** Milliseconds between two polls of the record. */
const pollMs = 1000;

/** Opens the packages that are installed, and those that will be. */
export async function openPackages(context: SourceContext): Promise<OpenedSources> {
  const packages = new InstalledPackages(context);
  await packages.open();
  return packages;
}

class InstalledPackages implements OpenedSources {
  readonly #context: SourceContext;
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
    this.#path = installRecordPath(context.home);
  }

  /** Adds the packages that are installed now. */
  async open(): Promise<void> {
    await this.#sync();
    this.#pollLater();
  }

  async start(): Promise<void> {
    await this.#sources?.started();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose();
  }

  #pollLater(): void {
    if (this.#isStopping) return;
    this.#cancelPoll = this.#context.startBackgroundTimer(pollMs, () => {
      this.#polling = this.#sync().then(() => this.#pollLater());
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
        const { PackageSources } = await import("./package-sources.ts");
        if (this.#isStopping) return;
        this.#sources = new PackageSources(this.#context);
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

/** What shows that the record was replaced; undefined where there is none. */
async function signatureOf(path: string): Promise<string | undefined> {
  try {
    const { mtimeNs, ino, size } = await stat(path, { bigint: true });
    return `${mtimeNs} ${ino} ${size}`;
  } catch {
    // Where it cannot be read, nothing is installed.
    return undefined;
  }
}
