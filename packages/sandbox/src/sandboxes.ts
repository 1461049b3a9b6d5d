/** The sandboxes of this machine: chooses the strongest tier that works here. A trial with a result is made once. */

import type { SpawnRequest } from "@toolcrib/process";
import { BubblewrapTier } from "./bubblewrap-tier.ts";
import { ControlGroups } from "./control-groups.ts";
import { exitProgram } from "./network-exit.ts";
import { SandboxError } from "./sandbox-error.ts";
import { defaultSandboxTotals, type SandboxPolicy, type SandboxTotals } from "./sandbox-policy.ts";
import { SeatbeltTier } from "./seatbelt-tier.ts";
import type { PreparedSandbox, SandboxTier, SandboxTierId, TierFacts, TierReport } from "./tier.ts";
import { trialLimits } from "./try-tier.ts";
import { UnshareTier } from "./unshare-tier.ts";

/** Choices of a caller. */
export interface SandboxesOptions {
  /** The only tiers that are used. @default all tiers, strongest first */
  readonly tiers?: readonly SandboxTierId[];
  /** Whether control groups are used where they can be. @default true */
  readonly hasGroups?: boolean;
  /** Limits of all sandboxes together. @default those of `SandboxTotals` */
  readonly totals?: Partial<SandboxTotals>;
  /** How tiers are tried. */
  readonly trials?: {
    /** Milliseconds of the first trial of a tier; doubled for each further one, up to 60,000. @default 10,000 */
    readonly timeoutMs?: number;
    /** Milliseconds after a trial without a result before the next one; doubled each time, up to 600,000. @default 30,000 */
    readonly pauseMs?: number;
  };
}

/** Milliseconds of one trial of a tier at most. */
const trialMaxMs = 60_000;
/** Milliseconds between two trials of a tier at most. */
const trialPauseMaxMs = 600_000;

/** A trial of a tier, the last one. */
interface CheckedTier {
  readonly report: Promise<TierReport>;
  /** Number of trials without a result before it. */
  readonly failures: number;
  /** Set where the next trial is made when it is needed. */
  isOutdated: boolean;
}

/** Builds sandboxes, and counts those that are not disposed of. Each prepared sandbox has its own resources. */
export class Sandboxes {
  readonly #tiers: readonly SandboxTier[];
  readonly #groups: ControlGroups | undefined;
  readonly #totals: SandboxTotals;
  #count = 0;
  readonly #checked = new Map<SandboxTier, CheckedTier>();
  readonly #timeoutMs: number;
  readonly #pauseMs: number;

  constructor(facts: TierFacts, { tiers, hasGroups = true, totals, trials }: SandboxesOptions = {}) {
    this.#timeoutMs = trials?.timeoutMs ?? trialLimits.timeoutMs;
    this.#pauseMs = trials?.pauseMs ?? 30_000;
    this.#totals = { ...defaultSandboxTotals, ...totals };
    this.#groups = hasGroups ? new ControlGroups(this.#totals) : undefined;
    const all =
      process.platform === "darwin"
        ? [new SeatbeltTier(facts)]
        : [new BubblewrapTier(facts), new UnshareTier(facts)];
    this.#tiers = all.filter(({ id }) => tiers === undefined || tiers.includes(id));
  }

  /**
   * Returns what each tier can enforce here, strongest first. Tries each tier once, and after a pause again where the
   * trial had no result.
   */
  check(): Promise<readonly TierReport[]> {
    return Promise.all(this.#tiers.map((tier) => this.#check(tier)));
  }

  /**
   * Prepares `request` to run within `policy`, in the strongest tier that works here.
   *
   * @throws {SandboxError} `SANDBOX_UNAVAILABLE` when no tier works, with what is missing and how to get it;
   *   `SANDBOX_PATH_REFUSED` for a path that no sandbox may contain; `SANDBOX_LIMIT` above the number of sandboxes.
   */
  async prepare(
    request: SpawnRequest,
    policy: SandboxPolicy,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<PreparedSandbox> {
    const reports: TierReport[] = [];
    // The next tier is tried only where a stronger one does not work.
    for (const tier of this.#tiers) {
      const report = await this.#check(tier);
      signal?.throwIfAborted();
      if (report.isAvailable) return await this.#prepare(tier, request, withExit(policy));
      reports.push(report);
    }
    const problems = reports.flatMap(({ id, problems }) => problems.map((problem) => ({ id, ...problem })));
    const reason = problems.map(({ id, reason }) => `${id}: ${reason}`).join("; ");
    throw new SandboxError("SANDBOX_UNAVAILABLE", `This machine has no sandbox for processes: ${reason}`, {
      hint: problems.map(({ fix }) => fix).join("; or "),
    });
  }

  async #prepare(tier: SandboxTier, request: SpawnRequest, policy: SandboxPolicy): Promise<PreparedSandbox> {
    const { sandboxes } = this.#totals;
    if (this.#count >= sandboxes) {
      throw new SandboxError("SANDBOX_LIMIT", `Cannot start another sandbox: ${sandboxes} run already`, {
        hint: "raise sandbox.max_sandboxes, write start: lazy for servers, or remove some",
      });
    }
    await using resources = new AsyncDisposableStack();
    this.#count += 1;
    resources.defer(() => {
      this.#count -= 1;
    });
    const group = await this.#groups?.create(policy.limits);
    if (group !== undefined) resources.use(group);
    const prepared = resources.use(await tier.prepare(request, policy));
    const held = resources.move();
    return {
      tier: prepared.tier,
      request: group?.join(prepared.request) ?? prepared.request,
      [Symbol.asyncDispose]: () => held.disposeAsync(),
    };
  }

  #check(tier: SandboxTier): Promise<TierReport> {
    const known = this.#checked.get(tier);
    if (known !== undefined && !known.isOutdated) return known.report;
    const failures = known === undefined ? 0 : known.failures + 1;
    const timeoutMs = Math.min(this.#timeoutMs * 2 ** failures, trialMaxMs);
    const report = this.#report(tier, timeoutMs);
    const checked: CheckedTier = { report, failures, isOutdated: false };
    this.#checked.set(tier, checked);
    report.then(
      ({ problems }) => {
        if (!problems.some(({ isPassing }) => isPassing === true)) return;
        // The result is that of a busy machine, and no property of it.
        const pauseMs = Math.min(this.#pauseMs * 2 ** failures, trialPauseMaxMs);
        setTimeout(() => {
          checked.isOutdated = true;
        }, pauseMs).unref();
      },
      () => {
        checked.isOutdated = true;
      },
    );
    return report;
  }

  async #report(tier: SandboxTier, timeoutMs: number): Promise<TierReport> {
    const [report, problem] = await Promise.all([
      tier.check(timeoutMs),
      this.#groups === undefined ? "not used" : this.#groups.problem(),
    ]);
    const feature = {
      name: "memory and processes of all its processes together",
      isEnforced: problem === undefined,
      by: problem === undefined ? "control group" : `no control group: ${problem}`,
    };
    return { ...report, features: [...report.features, feature] };
  }
}

/** Adds what the exit of a scoped network needs. */
function withExit(policy: SandboxPolicy): SandboxPolicy {
  if (policy.network !== "scoped") return policy;
  return {
    ...policy,
    readPaths: [...policy.readPaths, exitProgram],
    ownPaths: [...(policy.ownPaths ?? []), exitProgram],
  };
}
