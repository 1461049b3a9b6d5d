/** The interface of a tier: one way in which an operating system can contain a process. Types only. */

import type { SpawnRequest } from "@toolcrib/process";
import type { SandboxPolicy } from "./sandbox-policy.ts";

/** The tiers: of Linux, the strongest first, and of macOS. */
export type SandboxTierId = "bubblewrap" | "unshare" | "seatbelt";

/** Facts about this process. */
export interface TierFacts {
  readonly uid: number;
  readonly gid: number;
  /** Folder for the files of a start; best one in memory (`chooseStartParent`). */
  readonly temporaryDirectory: string;
  /** HOME of the user; it is never bound unless the policy names it. */
  readonly userHome: string;
}

/** Something that a tier cannot do here, and what helps. */
export interface SandboxProblem {
  readonly reason: string;
  readonly fix: string;
  /** Whether its trial had no result, as on a busy machine, so that it is made again. */
  readonly isTemporary?: true;
}

/** One property of a tier. */
export interface SandboxFeature {
  readonly name: string;
  readonly isEnforced: boolean;
  /** The mechanism, or why there is none. */
  readonly by: string;
}

/** The properties that a tier can enforce on this machine, found by trying. */
export interface TierReport {
  readonly id: SandboxTierId;
  readonly isAvailable: boolean;
  readonly problems: readonly SandboxProblem[];
  readonly features: readonly SandboxFeature[];
}

/** A program that is ready to be started in a sandbox. Its disposal removes what only the start needed. */
export interface PreparedSandbox extends AsyncDisposable {
  readonly tier: SandboxTierId;
  readonly request: SpawnRequest;
  /** Whether its scoped network has no names (DNS) because the trial of one had no result; a later start tries it again. */
  readonly lacksNames?: true;
}

/** One way to contain a process. */
export interface SandboxTier {
  readonly id: SandboxTierId;
  /** Tries the tier with real processes, for at most `timeoutMs` milliseconds each. Never rejects. */
  check(timeoutMs: number): Promise<TierReport>;
  /** @throws {SandboxError} `SANDBOX_UNAVAILABLE`, `SANDBOX_PATH_REFUSED` */
  prepare(request: SpawnRequest, policy: SandboxPolicy): Promise<PreparedSandbox>;
}
