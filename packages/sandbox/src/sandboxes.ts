/** The sandboxes of this machine: chooses the strongest tier that works here. A trial with a result is made once. */

import type { SpawnRequest } from "@toolcrib/process";
import { BubblewrapTier } from "./bubblewrap-tier.ts";
import { ControlGroups } from "./control-groups.ts";
import { statusOf } from "./look-up.ts";
import { shownOf } from "./mount-plan.ts";
import { exitProgram } from "./network-exit.ts";
import { outermost } from "./paths.ts";
import { findProgramPaths } from "./program-paths.ts";
import { RepeatedTrial } from "./repeated-trial.ts";
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
  /** The trials of tiers. */
  readonly trials?: {
    /** Milliseconds of the first trial of a tier, or of its network; doubled for each further one, up to 60,000. @default 10,000 */
    readonly timeoutMs?: number;
    /** Milliseconds after a trial without a result before the next one; doubled each time, up to 600,000. @default 30,000 */
    readonly pauseMs?: number;
  };
}

/** Builds sandboxes, and counts those that are not disposed of. Each prepared sandbox has its own resources. */
export class Sandboxes {
  readonly #groups: ControlGroups | undefined;
  readonly #totals: SandboxTotals;
  readonly #userHome: string;
  #count = 0;
  /** The trials of the tiers, strongest first. */
  readonly #trials: ReadonlyMap<SandboxTier, RepeatedTrial<TierReport>>;

  constructor(facts: TierFacts, { tiers, hasGroups = true, totals, trials }: SandboxesOptions = {}) {
    const times = {
      timeoutMs: trials?.timeoutMs ?? trialLimits.timeoutMs,
      pauseMs: trials?.pauseMs ?? 30_000,
    };
    this.#totals = { ...defaultSandboxTotals, ...totals };
    this.#userHome = facts.userHome;
    this.#groups = hasGroups ? new ControlGroups(this.#totals) : undefined;
    const all =
      process.platform === "darwin"
        ? [new SeatbeltTier(facts)]
        : [new BubblewrapTier(facts, times), new UnshareTier(facts)];
    const used: readonly SandboxTier[] = all.filter(({ id }) => tiers === undefined || tiers.includes(id));
    const hasNoResult = ({ problems }: TierReport) =>
      problems.some(({ isTemporary }) => isTemporary === true);
    this.#trials = new Map(
      used.map((tier) => {
        const attempt = (timeoutMs: number) => this.#report(tier, timeoutMs);
        return [tier, new RepeatedTrial(attempt, hasNoResult, times)];
      }),
    );
  }

  /**
   * Returns what each tier can enforce here, strongest first. Tries each tier once, and after a pause again where the
   * trial had no result.
   */
  check(): Promise<readonly TierReport[]> {
    return Promise.all([...this.#trials.values()].map((trial) => trial.result()));
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
    for (const [tier, trial] of this.#trials) {
      const report = await trial.result();
      signal?.throwIfAborted();
      if (report.isAvailable) return await this.#prepare(tier, request, withExit(policy));
      reports.push(report);
    }
    const problems = reports.flatMap(({ id, problems }) => problems.map((problem) => ({ id, ...problem })));
    const reason = problems.map(({ id, reason }) => `${id}: ${reason}`).join("; ");
    throw new SandboxError("SANDBOX_UNAVAILABLE", `This machine has no sandbox for processes: ${reason}`, {
      hint: [...new Set(problems.map(({ fix }) => fix))].join("; or "),
    });
  }

  /**
   * Returns the folders that a sandbox shows with everything in them, but what is hidden, because of the program of
   * `request` and its arguments: of a folder in another one, the outer one. Starts nothing.
   *
   * @throws {SandboxError} `SANDBOX_PATH_REFUSED` as `prepare`
   */
  async foldersOf(request: SpawnRequest, policy: SandboxPolicy): Promise<readonly string[]> {
    const shown = shownOf(policy, await findProgramPaths(request, policy, this.#userHome));
    return outermost(shown.filter((path) => statusOf(path)?.isDirectory() === true));
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
      ...(prepared.lacksNames === true ? { lacksNames: true } : {}),
      request: group?.join(prepared.request) ?? prepared.request,
      [Symbol.asyncDispose]: () => held.disposeAsync(),
    };
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
