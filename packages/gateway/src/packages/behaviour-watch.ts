/**
 * Watches the behaviour of installed packages (MCPKG document, section 12): runs their tests again at an
 * interval, compares with the run before, records what changed, and holds a package back as its trust
 * state says, the same as for changed definitions: `unverified` and `verified` wait for the operator,
 * `certified` is recorded only. A test without any result, such as of an API that is down, is recorded and
 * holds nothing back.
 *
 * Holds are in the store, so that they outlive the gateway and the operator can end them without it.
 */

import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import type { SchemaValidator } from "@toolcrib/json";
import type { ToolPackage } from "@toolcrib/mcpkg";
import type { InstalledPackage } from "@toolcrib/mcpkg-install";
import { compareRuns, type PackageSource, runPackageTests, type TestResults } from "@toolcrib/mcpkg-runtime";
import { type BehaviourHold, createTestHistory, type TestHistory } from "@toolcrib/store";
import { localIdentity } from "@toolcrib/tool";
import type { SourceContext } from "../sources/open-sources.ts";
import { recordTestRun } from "./test-records.ts";

/** A package that is offered. */
export interface WatchedPackage {
  readonly installed: InstalledPackage;
  readonly source: PackageSource;
  readonly isCertified: boolean;
}

/** What the watch needs. */
export interface BehaviourWatchDeps {
  readonly context: SourceContext;
  readonly validator: SchemaValidator;
  /** The packages that are offered now. */
  readonly packages: () => readonly WatchedPackage[];
  /** @throws {CodedError} for a package that changed on the disk */
  readonly open: (installed: InstalledPackage) => ToolPackage;
}

/** The caller of the tests: the operator, whose configuration starts them. */
const identity = localIdentity("cli", "tests");
/** Milliseconds between two readings of the holds. */
const holdsEveryMs = 2000;

/** The watch of one gateway. */
export class BehaviourWatch implements AsyncDisposable {
  readonly #deps: BehaviourWatchDeps;
  readonly #history: TestHistory;
  readonly #closing = new AbortController();
  #holds: ReadonlyMap<string, BehaviourHold> = new Map();
  readonly #unsaved = new Map<string, BehaviourHold>();
  #running: Promise<void> = Promise.resolve();
  #reading: Promise<void> = Promise.resolve();
  #cancelRun: (() => void) | undefined;
  #cancelRead: (() => void) | undefined;
  #lastProblem: string | undefined;

  constructor(deps: BehaviourWatchDeps) {
    const { home, randomBytes } = deps.context;
    this.#deps = deps;
    this.#history = createTestHistory(home, { randomBytes });
  }

  /** Reads the holds, and begins to watch. */
  async start(): Promise<void> {
    await this.#readHolds();
    this.#readLater();
    this.#runLater();
  }

  /** Holds back those of the offered packages that a hold names. */
  apply(): void {
    for (const { installed, source } of this.#deps.packages()) {
      const hold = this.#holds.get(installed.toolId);
      if (hold !== undefined && hold.digest === installed.digest) source.hold(hold.reason);
      else if (source.release()) this.#released(installed.toolId, "the operator released it");
    }
  }

  /** Ends the hold of a package. @returns whether there was one */
  release(toolId: string): boolean {
    const isHeld = this.#holds.has(toolId);
    this.#unsaved.delete(toolId);
    const left = new Map(this.#holds);
    left.delete(toolId);
    this.#holds = left;
    this.#reading = this.#reading.then(async () => {
      await this.#quietly(() => this.#history.release(toolId));
    });
    this.apply();
    return isHeld;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error("the gateway stops"));
    this.#cancelRun?.();
    this.#cancelRead?.();
    await Promise.all([this.#running, this.#reading]);
  }

  #released(toolId: string, reason: string): void {
    this.#deps.context.record("behaviour.released", { server: toolId, reason });
  }

  #readLater(): void {
    if (this.#closing.signal.aborted) return;
    this.#cancelRead = this.#deps.context.startBackgroundTimer(holdsEveryMs, () => {
      this.#reading = this.#reading.then(() => this.#readHolds()).then(() => this.#readLater());
    });
  }

  /** Reads which packages are held back. Holds that cannot be read stay as they were. */
  async #readHolds(): Promise<void> {
    await this.#quietly(async () => {
      this.#holds = new Map([...(await this.#history.holds()), ...this.#unsaved]);
    });
    if (!this.#closing.signal.aborted) this.apply();
  }

  #runLater(): void {
    const { context } = this.#deps;
    const { everyMs } = context.config.tests;
    if (everyMs === undefined || this.#closing.signal.aborted) return;
    this.#cancelRun = context.startBackgroundTimer(everyMs, () => {
      this.#running = this.#runAll().then(() => this.#runLater());
    });
  }

  /** One package after the other. Never rejects. */
  async #runAll(): Promise<void> {
    for (const one of this.#deps.packages()) {
      if (this.#closing.signal.aborted) return;
      if (one.source.health().state !== "ready") continue;
      await this.#quietly(() => this.#runOne(one));
    }
  }

  async #runOne(one: WatchedPackage): Promise<void> {
    const { installed } = one;
    const { toolId, digest } = installed;
    const { context } = this.#deps;
    const found = this.#deps.open(installed);
    if (found.tests.size === 0) return;
    const runs = await this.#history.list(toolId);
    const before = runs.findLast((run) => run.digest === digest)?.tests ?? [];
    const at = new Date(context.now()).toISOString();
    let results = await this.#run(found);
    // What happens once can have many reasons.
    const isOther = () => results.failed > 0 || this.#changes(before, results).length > 0;
    if (isOther()) results = await this.#run(found);
    const { randomBytes } = context;
    const deps = { history: this.#history, randomBytes };
    await recordTestRun(deps, installed, { results, at, by: "schedule" });
    await this.#judge(one, this.#changes(before, results));
  }

  #run(found: ToolPackage): Promise<TestResults> {
    const { context, validator } = this.#deps;
    const { toolId } = found.manifest;
    return runPackageTests(found, {
      async call(args, signal) {
        const outcome = await context.core.call(identity, toolId, args, { signal });
        if (outcome.kind === "result") return outcome.result;
        throw outcome.kind === "failed" ? outcome.error : new Error(`${outcome.code}: ${outcome.reason}`);
      },
      validator,
      monotonicMs: context.monotonicMs,
      signal: this.#closing.signal,
    });
  }

  #changes(before: Parameters<typeof compareRuns>[0], { results }: TestResults) {
    return compareRuns(before, results);
  }

  /** Records the changes, and holds the package back where its trust state says so. */
  async #judge(
    { installed, source, isCertified }: WatchedPackage,
    changes: ReturnType<typeof compareRuns>,
  ): Promise<void> {
    const { toolId, digest } = installed;
    const { record, scrubber, now, logger } = this.#deps.context;
    const reasons: string[] = [];
    for (const { test, kind, reason } of changes) {
      const isHeld = kind !== "error" && !isCertified;
      const said = scrubber.text(reason);
      if (isHeld) reasons.push(`${test}: ${said}`);
      const effect = isHeld ? "quarantined" : "recorded";
      record("behaviour.changed", { server: toolId, test, kind, reason: said, digest, effect });
      logger.warn({ package: toolId, test, kind, reason: said, effect }, "behaviour of a package changed");
    }
    if (reasons.length === 0) return;
    const reason = `its behaviour changed: ${reasons.slice(0, 3).join("; ")}`.slice(0, 800);
    const hold = { toolId, digest, reason, since: new Date(now()).toISOString() };
    this.#unsaved.set(toolId, hold);
    this.#holds = new Map(this.#holds).set(toolId, hold);
    source.hold(reason);
    // A hold that cannot be stored lasts as long as the gateway.
    await this.#history.hold(hold);
    this.#unsaved.delete(toolId);
  }

  /** Logs a problem of the store or of a package once, and goes on. */
  async #quietly(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      this.#lastProblem = undefined;
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      if (!isCodedError(error)) throw error;
      const reason = messageOf(error);
      if (reason !== this.#lastProblem) {
        this.#deps.context.logger.warn({ reason }, "behaviour of packages cannot be watched");
      }
      this.#lastProblem = reason;
    }
  }
}
