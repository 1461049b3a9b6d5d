/** The sandboxes of this machine: chooses the strongest tier that works here, once. */

import type { SpawnRequest } from "@toolcrib/process";
import { SandboxError } from "./sandbox-error.ts";
import type { SandboxPolicy } from "./sandbox-policy.ts";
import type { PreparedSandbox, SandboxTier, TierReport } from "./tier.ts";
import { type TierFacts, UnshareTier } from "./unshare-tier.ts";

/** Builds sandboxes. It holds no resource; each prepared sandbox has its own. */
export class Sandboxes {
  readonly #tiers: readonly SandboxTier[];
  #checked: Promise<readonly TierReport[]> | undefined;

  constructor(facts: TierFacts) {
    this.#tiers = [new UnshareTier(facts)];
  }

  /** Returns what each tier can enforce here, strongest first. Tries each tier once. */
  check(): Promise<readonly TierReport[]> {
    this.#checked ??= Promise.all(this.#tiers.map((tier) => tier.check()));
    return this.#checked;
  }

  /**
   * Prepares `request` to run within `policy`, in the strongest tier that works here.
   *
   * @throws {SandboxError} `SANDBOX_UNAVAILABLE` when no tier works, with what is missing and how to get it;
   *   `SANDBOX_PATH_REFUSED` for a path that no sandbox may contain.
   */
  async prepare(
    request: SpawnRequest,
    policy: SandboxPolicy,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<PreparedSandbox> {
    const reports = await this.check();
    signal?.throwIfAborted();
    const available = this.#tiers.find(({ id }) =>
      reports.some((report) => report.id === id && report.isAvailable),
    );
    if (available !== undefined) return available.prepare(request, policy);
    const problems = reports.flatMap(({ id, problems }) => problems.map((problem) => ({ id, ...problem })));
    const reason = problems.map(({ id, reason }) => `${id}: ${reason}`).join("; ");
    throw new SandboxError("SANDBOX_UNAVAILABLE", `This machine has no sandbox for processes: ${reason}`, {
      hint: problems.map(({ fix }) => fix).join("; or "),
    });
  }
}
