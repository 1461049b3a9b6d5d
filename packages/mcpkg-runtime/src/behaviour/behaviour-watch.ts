/**
 * Watches the behaviour of installed packages (MCPKG document, section 12): runs their tests again at an
 * interval, compares with the last results of earlier scheduled runs, records what changed, and holds a package back as its trust
 * state says, the same as for changed definitions: `unverified` and `verified` wait for the operator,
 * `certified` is recorded only. A test without any result, such as of an API that is down, is recorded and
 * holds nothing back.
 *
 * Holds are in the store, so that they outlive the gateway and the operator can end them without it. So are
 * the runs: what is due follows from the last one, whichever gateway of the home ran it, and one gateway of
 * a home runs tests at a time.
 */

import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import type { SchemaValidator } from "@toolcrib/json";
import type { ToolPackage } from "@toolcrib/mcpkg";
import type { InstalledPackage } from "@toolcrib/mcpkg-install";
import { createTestHistory, type TestHistory } from "@toolcrib/store";
import { localIdentity } from "@toolcrib/tool";
import type { PackagesContext } from "../installed/packages-context.ts";
import type { PackageSource } from "../package-source.ts";
import { type BehaviourChange, compareRuns } from "../tests/compare-runs.ts";
import { runPackageTests, type TestResults } from "../tests/run-package-tests.ts";
import { baselineOf, newChanges } from "./behaviour-baseline.ts";
import { recordTestRun } from "./test-records.ts";

type BehaviourHold = Parameters<TestHistory["hold"]>[0];

/** A package that is offered. */
export interface WatchedPackage {
  readonly installed: InstalledPackage;
  readonly source: PackageSource;
  readonly isCertified: boolean;
  /** Whether its tests only make calls that are known to read, as far as it calls other tools by a program. */
  readonly mayRunTests: () => boolean;
}

/** Dependencies of the watch. */
export interface BehaviourWatchDeps {
  readonly context: PackagesContext;
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
/** Most milliseconds until a gateway asks again, while another one of its home runs tests. */
const busyMaxMs = 60_000;
/** Least milliseconds until a package that is due, and not ready, is looked at again. */
const retryMinMs = 1000;
/** The part of the interval by which a run is late at random, so that not all gateways ask an API at once. */
const jitterPart = 0.1;

/** The watch of one gateway. */
export class BehaviourWatch implements AsyncDisposable {
  readonly #deps: BehaviourWatchDeps;
  readonly #history: TestHistory;
  readonly #closing = new AbortController();
  #holds: ReadonlyMap<string, BehaviourHold> = new Map();
  readonly #unsaved = new Map<string, BehaviourHold>();
  /** When runs began that are not stored, by toolId and digest: a store that fails must not cause a run after the other. */
  #tried = new Map<string, number>();
  /** Why it is not known which packages are held back, before the holds were read once. */
  #unknown: string | undefined = "the holds were not read yet";
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
    for (const { installed, source, isCertified } of this.#deps.packages()) {
      const hold = this.#holds.get(installed.toolId);
      if (hold !== undefined && hold.digest === installed.digest) source.hold(hold.reason);
      else if (this.#unknown !== undefined) {
        if (!isCertified) source.hold(`it is not known whether it is held back: ${this.#unknown}`);
      } else if (source.release()) this.#released(installed.toolId, "no hold of it is stored any more");
    }
  }

  /** Ends the hold of a package. @returns whether there was one. @throws {StoreError} when it cannot be stored; the package stays held back */
  release(toolId: string): Promise<boolean> {
    const released = this.#reading.then(() => this.#release(toolId));
    this.#reading = released.then(
      () => undefined,
      () => undefined,
    );
    return released;
  }

  async #release(toolId: string): Promise<boolean> {
    const isStored = await this.#history.release(toolId);
    const isHeld = this.#holds.has(toolId);
    this.#unsaved.delete(toolId);
    const left = new Map(this.#holds);
    left.delete(toolId);
    this.#holds = left;
    this.apply();
    return isStored || isHeld;
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

  /**
   * Reads which packages are held back. Holds that cannot be read stay as they were; before they were read
   * once, every package that is not certified is held back.
   */
  async #readHolds(): Promise<void> {
    await this.#quietly(async () => {
      try {
        this.#holds = new Map([...(await this.#history.holds()), ...this.#unsaved]);
        this.#unknown = undefined;
      } catch (error) {
        if (this.#unknown !== undefined) this.#unknown = reasonOf(error);
        throw error;
      }
    });
    if (!this.#closing.signal.aborted) this.apply();
  }

  /** Plans the next run. @param waitMs until the first package is due */
  #runLater(waitMs = 0): void {
    const { context } = this.#deps;
    const { everyMs } = context.config.tests;
    if (everyMs === undefined || this.#closing.signal.aborted) return;
    const jitterMs = Math.max(Math.min(everyMs, retryMinMs), context.random() * everyMs * jitterPart);
    const delayMs = Math.min(waitMs, everyMs) + Math.ceil(jitterMs);
    this.#cancelRun = context.startBackgroundTimer(delayMs, () => {
      this.#running = this.#runDue(everyMs).then((nextMs) => this.#runLater(nextMs));
    });
  }

  /** Runs the tests of the packages that are due, unless another gateway does. Never rejects. @returns milliseconds until the next is due */
  async #runDue(everyMs: number): Promise<number> {
    let nextMs = Math.min(everyMs, busyMaxMs);
    await this.#quietly(async () => {
      using right = await this.#history.takeSchedule();
      if (right !== undefined) nextMs = await this.#runAll(everyMs);
    });
    return nextMs;
  }

  /** One package after the other. */
  async #runAll(everyMs: number): Promise<number> {
    const { now } = this.#deps.context;
    const packages = this.#deps.packages();
    let nextAt = now() + everyMs;
    const kept = new Map<string, number>();
    for (const one of packages) {
      const { installed } = one;
      const key = `${installed.toolId} ${installed.digest}`;
      await this.#quietly(async () => {
        let dueAt = await this.#dueAt(installed, everyMs);
        if (
          dueAt <= now() &&
          !this.#closing.signal.aborted &&
          one.source.health().state === "ready" &&
          one.mayRunTests()
        ) {
          this.#tried.set(key, now());
          dueAt = now() + everyMs;
          await this.#runOne(one);
        }
        nextAt = Math.min(nextAt, dueAt);
      });
      const triedAt = this.#tried.get(key);
      if (triedAt !== undefined) kept.set(key, triedAt);
    }
    this.#tried = kept;
    return Math.max(0, nextAt - now());
  }

  /** When the tests of a package run next: an interval after their last run, or after it was installed. */
  async #dueAt({ toolId, digest, installedAt }: InstalledPackage, everyMs: number): Promise<number> {
    const runs = (await this.#history.list(toolId)).filter(
      (run) => run.by === "schedule" && run.digest === digest,
    );
    const times = [installedAt, ...runs.slice(-1).map(({ at }) => at)].map((at) => Date.parse(at));
    const now = this.#deps.context.now();
    // What a clock that was wrong wrote into the future counts for nothing.
    const known = [...times, this.#tried.get(`${toolId} ${digest}`) ?? 0].filter((at) => at <= now);
    return Math.max(0, ...known) + everyMs;
  }

  async #runOne(one: WatchedPackage): Promise<void> {
    const { installed } = one;
    const { toolId, digest } = installed;
    const { context } = this.#deps;
    const found = this.#deps.open(installed);
    if (found.tests.size === 0) return;
    const baseline = baselineOf(await this.#history.list(toolId), digest);
    const at = new Date(context.now()).toISOString();
    let results = await this.#run(found);
    const changes = () => newChanges(compareRuns(baseline.results, results.results), baseline);
    // What happens once can have many reasons.
    if (results.failed > 0 || changes().length > 0) results = await this.#run(found);
    // A run that is stored is the next one's baseline, so the change is judged, and its hold stored, before.
    await this.#judge(one, changes());
    const { randomBytes } = context;
    const deps = { history: this.#history, randomBytes };
    await recordTestRun(deps, installed, { results, at, by: "schedule" });
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

  /** Holds the package back where its trust state says so, and records the changes. @throws {StoreError} when the hold cannot be stored */
  async #judge(
    { installed, source, isCertified }: WatchedPackage,
    changes: readonly BehaviourChange[],
  ): Promise<void> {
    const { toolId, digest } = installed;
    const { record, scrubber, now, logger } = this.#deps.context;
    const findings = changes.map(({ test, kind, reason }) => ({ test, kind, reason: scrubber.text(reason) }));
    const isHeld = ({ kind }: (typeof findings)[number]) => kind !== "error" && !isCertified;
    const reasons = findings.filter(isHeld).map(({ test, reason }) => `${test}: ${reason}`);
    const reason = `its behaviour changed: ${reasons.slice(0, 3).join("; ")}`.slice(0, 800);
    const hold = { toolId, digest, reason, since: new Date(now()).toISOString() };
    if (reasons.length > 0) {
      this.#unsaved.set(toolId, hold);
      this.#holds = new Map(this.#holds).set(toolId, hold);
      source.hold(reason);
    }
    for (const finding of findings) {
      const effect = isHeld(finding) ? "quarantined" : "recorded";
      record("behaviour.changed", { server: toolId, ...finding, digest, effect });
      logger.warn({ package: toolId, ...finding, effect }, "behaviour of a package changed");
    }
    if (reasons.length === 0) return;
    // A hold that cannot be stored lasts as long as the gateway; the next one finds the change again.
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
        const { hint } = error;
        this.#deps.context.logger.warn({ reason, hint }, "behaviour of packages cannot be watched");
      }
      this.#lastProblem = reason;
    }
  }
}

function reasonOf(error: unknown): string {
  const hint = isCodedError(error) ? error.hint : undefined;
  return hint === undefined ? messageOf(error) : `${messageOf(error)}: ${hint}`;
}
