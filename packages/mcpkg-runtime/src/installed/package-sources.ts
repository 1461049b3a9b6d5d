/**
 * The installed packages of a gateway as sources: which of them are offered, and what they
 * share, the egress, the programs and the secrets. `sync` compares with the install record:
 * a package that is new is added, one that changed is replaced, one that is gone is removed, each
 * without a restart.
 */

import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import { createRecordedEgress, type Egress } from "@toolcrib/egress";
import { checkSources } from "@toolcrib/inventory";
import { SchemaValidator } from "@toolcrib/json";
import { disposeOnce } from "@toolcrib/lifecycle";
import { type Manifest, reachOf } from "@toolcrib/mcpkg";
import {
  CheckedFolders,
  type InstalledPackage,
  openInstalledPackage,
  readInstalledPackages,
} from "@toolcrib/mcpkg-install";
import { SecretCache } from "@toolcrib/secrets";
import { BehaviourWatch } from "../behaviour/behaviour-watch.ts";
import type { ChainDeps } from "../chain/chain-runner.ts";
import { packageEgressId } from "../http/package-http.ts";
import { packageConfigOf } from "../implementations/judge-package.ts";
import { PackagePrograms } from "../local/package-programs.ts";
import { programSecretsOf } from "../local/program-secrets.ts";
import type { PackageSource } from "../package-source.ts";
import { createPackageSource } from "./create-package-source.ts";
import type { PackageConfig } from "./package-config.ts";
import { packageFacts } from "./package-facts.ts";
import type { PackagesContext } from "./packages-context.ts";

/** Milliseconds between two attempts to prepare packages that cannot run: at first, and at most. */
const retryMinMs = 5000;
const retryMaxMs = 60_000;

/** A package that is offered. */
interface OfferedPackage {
  readonly installed: InstalledPackage;
  readonly manifest: Manifest;
  readonly source: PackageSource;
  readonly config: PackageConfig;
}

/** The packages of a gateway. Calls have ended before it is disposed. */
export class PackageSources implements AsyncDisposable {
  #context: PackagesContext;
  readonly #egress: Egress;
  readonly #egressIds = new Map<string, string>();
  readonly #secrets: SecretCache;
  readonly #programs: PackagePrograms;
  readonly #validator = new SchemaValidator();
  readonly #chains: ChainDeps;
  readonly #offered = new Map<string, OfferedPackage>();
  readonly #reported = new Set<string>();
  readonly #checked = new CheckedFolders();
  readonly #dispose = disposeOnce(() => this.#stop());
  readonly #watch: Promise<AsyncDisposable | undefined>;
  #working: Promise<void> = Promise.resolve();
  readonly #behaviour: BehaviourWatch;
  readonly #watching: Promise<void>;
  #cancelRetry: (() => void) | undefined;
  /** The packages that could not run after the last attempt. */
  #failing = "";
  #retryMs = retryMinMs;
  #isDisposed = false;

  constructor(context: PackagesContext) {
    const { secretResolver: resolver, now } = context;
    this.#context = context;
    this.#secrets = new SecretCache({ resolver, now });
    this.#egress = createRecordedEgress(context, this.#egressIds);
    this.#programs = new PackagePrograms(context);
    this.#chains = {
      ...context.chainHost((toolId) => this.#offered.get(toolId)?.manifest.chain),
      validator: this.#validator,
      monotonicMs: context.monotonicMs,
    };
    this.#watch = this.#watchStore();
    this.#behaviour = new BehaviourWatch({
      context,
      validator: this.#validator,
      open: (installed) => openInstalledPackage(installed, this.#validator),
      packages: () =>
        [...this.#offered.values()]
          // A package that is there for its tests is not held back by them.
          .filter(({ installed }) => !this.#isTrial(installed))
          .map(({ installed, manifest, source }) => ({
            installed,
            source,
            mayRunTests: () => reachOf(manifest).every((id) => this.#isReadOnly(id)),
            isCertified: this.#configOf(installed).trustState === "certified",
          })),
    });
    this.#watching = this.#behaviour.start();
    this.#retryLater();
  }

  /** Resolves when the packages that were found so far were prepared, successfully or not. */
  async started(): Promise<void> {
    await this.#working;
  }

  /** Compares the offered packages with the installed ones. Resolves before new ones are prepared. */
  async sync(): Promise<void> {
    const { home, projectFolder, trialPackages } = this.#context;
    const { packages: installed, diagnostics } = await readInstalledPackages({
      home,
      projectFolder,
      checked: this.#checked,
    });
    for (const { message, hint } of diagnostics) this.#report({ reason: message, hint });
    const trials = new Set(trialPackages.map(({ toolId }) => toolId));
    const packages = [...installed.filter(({ toolId }) => !trials.has(toolId)), ...trialPackages];
    if (this.#isDisposed) return;
    const wanted = new Map(
      packages
        .filter((one) => trials.has(one.toolId) || this.#configOf(one).isEnabled)
        .map((one) => [one.toolId, one]),
    );
    const gone = [...this.#offered.values()].filter(
      ({ installed }) => !isSame(installed, wanted.get(installed.toolId)),
    );
    const added: OfferedPackage[] = [];
    this.#context.core.index.together(() => {
      for (const one of gone) this.#remove(one);
      for (const installed of wanted.values()) {
        const offered = this.#offered.has(installed.toolId) ? undefined : this.#add(installed);
        if (offered !== undefined) added.push(offered);
      }
    });
    await Promise.all(gone.map(({ source }) => source[Symbol.asyncDispose]()));
    await this.#watching;
    this.#behaviour.apply();
    this.#prepareSoon(added.map(({ source }) => source));
  }

  /**
   * Applies other settings of packages. Those whose settings differ are no longer offered at once, nor those whose id
   * another source has now; the next `sync` offers them again where they can be.
   */
  reconfigure(
    packages: PackagesContext["config"]["packages"],
    isSame: (a: object, b: object) => boolean,
  ): void {
    this.#context = { ...this.#context, config: { ...this.#context.config, packages } };
    for (const one of this.#offered.values()) {
      const isKept = isSame(one.config, this.#configOf(one.installed)) && !this.#isTaken(one);
      if (isKept) continue;
      this.#remove(one);
      void one.source[Symbol.asyncDispose]();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose();
  }

  #isTrial(installed: InstalledPackage): boolean {
    return this.#context.trialPackages.some((one) => one === installed);
  }

  /** Whether a tool server or toolspec has the id of an offered package. */
  #isTaken({ source }: OfferedPackage): boolean {
    const { configuredIds } = this.#context.core.roster;
    return configuredIds.filter((id) => id === source.id).length > 1;
  }

  /** The settings of a package. They belong to what is installed under its toolId, which anybody can claim. */
  #configOf(installed: InstalledPackage): PackageConfig {
    const { config, trialPackages } = this.#context;
    const trial = trialPackages.find((one) => one === installed);
    return trial?.usesConfig === false ? config.packages.others : packageConfigOf(config, installed.toolId);
  }

  /** Whether the tool with this id is there, and known to change nothing. */
  #isReadOnly(id: string): boolean {
    return this.#context.core.index.find(id)?.shownDefinition.annotations?.readOnlyHint === true;
  }

  /** Adds a package to the roster; reports one that cannot be offered. */
  #add(installed: InstalledPackage): OfferedPackage | undefined {
    const { toolId } = installed;
    const { core } = this.#context;
    if (core.roster.configuredIds.includes(toolId)) {
      this.#report({
        package: toolId,
        reason: `a tool server or toolspec has the id "${toolId}" of an installed package, which is not offered`,
        hint: "give the tool server or toolspec another id, or uninstall the package",
      });
      return undefined;
    }
    try {
      const { manifest, files, tests } = openInstalledPackage(installed, this.#validator);
      const config = this.#configOf(installed);
      const examples = [...tests.values()].flatMap(({ name, description = "" }) => [name, description]);
      this.#egressIds.set(packageEgressId(toolId), toolId);
      const source = createPackageSource(
        { installed, manifest, files, examples, config },
        {
          context: this.#context,
          egress: this.#egress,
          secrets: this.#secrets,
          programs: this.#programs,
          load: this.#context.loadOf(toolId, config.limits.maxConcurrentCalls),
          chains: this.#chains,
          replies: this.#context.trialPackages.find((one) => one === installed)?.replies,
        },
      );
      const offered = { installed, manifest, source, config };
      this.#offered.set(toolId, offered);
      const programs = this.#programs;
      core.roster.add(
        source,
        packageFacts({
          installed,
          manifest,
          config,
          programs,
          release: () => this.#behaviour.release(installed.toolId),
          isTrial: this.#isTrial(installed),
        }),
      );
      const secrets = programSecretsOf(manifest, config);
      if (secrets?.isWithoutEffect === true)
        this.#report({ package: toolId, reason: secrets.message, hint: secrets.hint });
      this.#logFailures(source);
      return offered;
    } catch (error) {
      if (!isCodedError(error)) throw error;
      this.#report({ package: toolId, reason: messageOf(error), hint: error.hint });
      return undefined;
    }
  }

  #remove({ installed, source }: OfferedPackage): void {
    this.#offered.delete(installed.toolId);
    this.#egressIds.delete(packageEgressId(installed.toolId));
    this.#context.core.roster.remove(source);
  }

  /** Logs a problem once. */
  #report(fields: {
    readonly package?: string;
    readonly reason: string;
    readonly hint?: string | undefined;
  }): void {
    const { logger, scrubber } = this.#context;
    const reason = scrubber.text(fields.reason);
    if (this.#reported.has(reason)) return;
    // A person who repairs packages for days must not fill the memory.
    if (this.#reported.size >= 1000) this.#reported.clear();
    this.#reported.add(reason);
    logger.warn({ ...fields, reason }, "package");
  }

  /** Logs each new reason why a package cannot run. */
  #logFailures(source: PackageSource): void {
    let lastReason: string | undefined;
    source.onChange(({ kind }) => {
      if (kind !== "health") return;
      const { state, reason } = source.health();
      if (state === "unavailable" && reason !== lastReason) {
        const fields = { package: source.id, reason: this.#context.scrubber.text(reason ?? "") };
        this.#context.logger.warn(fields, "package is not available");
      }
      lastReason = reason;
    });
  }

  #prepareSoon(sources: readonly PackageSource[]): void {
    if (sources.length === 0) return;
    this.#working = this.#working.then(() => (this.#isDisposed ? undefined : this.#prepare(sources)));
  }

  /** Prepares `sources`, then updates the index once. */
  async #prepare(sources: readonly PackageSource[]): Promise<void> {
    await checkSources(sources, this.#context.core.index, () => this.#isDisposed);
  }

  /**
   * Prepares packages that cannot run again later: a secret can be stored, and a program installed. The next
   * attempt is planned when this one has ended, and later each time while the same packages cannot run.
   */
  #retryLater(): void {
    if (this.#isDisposed) return;
    this.#cancelRetry?.();
    this.#cancelRetry = this.#context.startBackgroundTimer(this.#retryMs, () => {
      const sources = [...this.#offered.values()].map(({ source }) => source);
      const failing = sources.filter((source) => source.health().state === "unavailable");
      this.#prepareSoon(failing);
      const ids = failing.map(({ id }) => id).join(" ");
      this.#retryMs =
        ids === "" || ids !== this.#failing ? retryMinMs : Math.min(this.#retryMs * 2, retryMaxMs);
      this.#failing = ids;
      void this.#working.then(() => this.#retryLater());
    });
  }

  /** Watches the secret store, so that a changed secret is used by the next call. */
  #watchStore(): Promise<AsyncDisposable | undefined> {
    return this.#secrets.watch(this.#context, () => {
      this.#retryMs = retryMinMs;
      this.#retryLater();
    });
  }

  async #stop(): Promise<void> {
    this.#isDisposed = true;
    this.#cancelRetry?.();
    await this.#watching;
    await this.#behaviour[Symbol.asyncDispose]();
    const offered = [...this.#offered.values()];
    await Promise.all(offered.map(({ source }) => source[Symbol.asyncDispose]()));
    await this.#working;
    await (await this.#watch)?.[Symbol.asyncDispose]();
    await this.#programs[Symbol.asyncDispose]();
    await this.#egress[Symbol.asyncDispose]();
  }
}

function isSame(one: InstalledPackage, other: InstalledPackage | undefined): boolean {
  return (
    other !== undefined &&
    one.digest === other.digest &&
    one.folder === other.folder &&
    one.installedAt === other.installedAt &&
    one.publisherKey === other.publisherKey
  );
}
