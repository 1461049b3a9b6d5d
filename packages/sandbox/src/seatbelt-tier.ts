/**
 * The tier of macOS: Seatbelt, through `sandbox-exec`. It restricts files, network and
 * signals by a profile. It has no namespaces: the home and the folder for temporary
 * files are folders of the machine, which are removed at the end, and nothing limits
 * memory or finds the processes that left their group.
 *
 * `sandbox-exec` has been marked as deprecated by Apple since macOS 10.12, and every
 * version since has it. The profile is on the command line: it contains paths only.
 */

import { existsSync, realpathSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { SpawnRequest } from "@toolcrib/process";
import { ChangeablePaths } from "./changeable-paths.ts";
import { checkPath } from "./mount-plan.ts";
import { isWithin } from "./paths.ts";
import { findProgramPaths } from "./program-paths.ts";
import { SandboxError } from "./sandbox-error.ts";
import type { SandboxPolicy } from "./sandbox-policy.ts";
import { seatbeltProfile } from "./seatbelt-profile.ts";
import type {
  PreparedSandbox,
  SandboxFeature,
  SandboxProblem,
  SandboxTier,
  TierFacts,
  TierReport,
} from "./tier.ts";
import { tryTier } from "./try-tier.ts";

const sandboxExec = "/usr/bin/sandbox-exec";

/** Sets the limits of one process: open files, and bytes of a file in blocks of 512. */
const startScript = 'ulimit -c 0; ulimit -n "$1"; ulimit -f "$2"; shift 2; exec "$@"';

export class SeatbeltTier implements SandboxTier {
  readonly id = "seatbelt";
  readonly #facts: TierFacts;

  constructor(facts: TierFacts) {
    this.#facts = facts;
  }

  async check(timeoutMs: number): Promise<TierReport> {
    const problems = await this.#problems(timeoutMs);
    return { id: this.id, isAvailable: problems.length === 0, problems, features };
  }

  async prepare(request: SpawnRequest, policy: SandboxPolicy): Promise<PreparedSandbox> {
    const { network } = policy;
    if (network === "scoped") {
      throw new SandboxError("SANDBOX_UNAVAILABLE", "The tier seatbelt has no scoped network", {
        hint: "declare network_egress: deny or allow for this server, or run it on Linux",
      });
    }
    const hidden = policy.hiddenPaths.filter((path) => existsSync(path)).map(real);
    const own = (policy.ownPaths ?? []).map(real);
    const isOwn = (path: string): boolean => own.some((one) => isWithin(real(path), one));
    const homePath = policy.home === "temporary" ? "" : policy.home.path;
    for (const path of policy.readPaths) if (!isOwn(path)) checkPath(path, "read", hidden, homePath);
    for (const path of policy.writePaths) if (!isOwn(path)) checkPath(path, "write", hidden, homePath);
    const program = await findProgramPaths(request, policy, this.#facts.userHome);
    const changeable = new ChangeablePaths(policy);
    const base = await mkdtemp(join(real(this.#facts.temporaryDirectory), "toolcrib-sandbox-"));
    try {
      const home = policy.home === "temporary" ? join(base, "home") : real(policy.home.path);
      const temporary = join(base, "tmp");
      for (const folder of [temporary, ...(policy.home === "temporary" ? [home] : [])]) await mkdir(folder);
      // What the program can change itself does not decide what it sees.
      const isFirm = (path: string): boolean => !changeable.reaches(path);
      const readable = [...policy.readPaths.filter(isFirm), ...program.bound].map(real);
      const writable = [...policy.writePaths.filter(isFirm).map(real), home, temporary];
      // A home within a hidden folder is the server's own; one that contains hidden folders is not.
      const isCovered = hidden.some((path) => isWithin(home, path));
      const visible = isCovered ? [...own, home] : own;
      const profile = seatbeltProfile({ network, readable, writable, hidden, own: visible });
      const directory = real(request.directory ?? home);
      const isVisible = [...readable, ...writable].some((path) => isWithin(directory, path));
      const { openFiles, fileBytes } = policy.limits;
      return {
        tier: this.id,
        request: {
          ...request,
          program: sandboxExec,
          args: [
            ...["-p", profile, "/bin/sh", "-c", startScript, "sandbox"],
            ...[String(openFiles), String(Math.ceil(fileBytes / 512)), request.program, ...request.args],
          ],
          env: { ...request.env, HOME: home, TMPDIR: temporary },
          directory: isVisible ? directory : home,
        },
        [Symbol.asyncDispose]: () => rm(base, { recursive: true, force: true }),
      };
    } catch (error) {
      await rm(base, { recursive: true, force: true });
      throw error;
    }
  }

  async #problems(timeoutMs: number): Promise<readonly SandboxProblem[]> {
    if (!existsSync(sandboxExec)) {
      return [{ reason: `${sandboxExec} not found`, fix: "use a version of macOS that has it" }];
    }
    // The home of the user must be invisible: a profile that allows everything is no sandbox.
    const script = `echo started; ls "${this.#facts.userHome}" >/dev/null 2>&1 && echo open; exit 0`;
    return tryTier(this, {
      timeoutMs,
      script,
      expected: /^started\n$/,
      reason: "its profile is not enforced",
      fixOf: () => "start Toolcrib outside of another sandbox",
    });
  }
}

const features: readonly SandboxFeature[] = [
  { name: "files", isEnforced: true, by: "Seatbelt profile" },
  { name: "network", isEnforced: true, by: "Seatbelt profile; no scoped network" },
  { name: "processes of others", isEnforced: true, by: "Seatbelt profile: no signals, no information" },
  { name: "shared memory of others", isEnforced: true, by: "Seatbelt profile" },
  { name: "privileges", isEnforced: true, by: "Seatbelt runs no program that changes the user" },
  { name: "open files, file size", isEnforced: true, by: "resource limits for each process" },
  { name: "memory, processes", isEnforced: false, by: "macOS limits neither for one program" },
  { name: "system calls", isEnforced: false, by: "the profile restricts operations, not system calls" },
];

/** The path without symbolic links; the same path where nothing exists. */
function real(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
