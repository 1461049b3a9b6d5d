/**
 * The tier of bubblewrap: every kind of namespace, a root of read-only binds, no
 * capability, no further user namespace, a filter of system calls, and limits by
 * `prlimit`. Its arguments are passed by a file descriptor: other users of the
 * machine can read the command line of a process.
 *
 * `bwrap` itself runs outside of the sandbox: of the variables of the program it
 * gets only the marks of the gateway.
 */

import { runCommand, type SpawnRequest } from "@toolcrib/process";
import { bubblewrapArguments } from "./bubblewrap-arguments.ts";
import { DescriptorFiles } from "./descriptor-file.ts";
import { type MountPlan, planMounts } from "./mount-plan.ts";
import { likelyFix } from "./namespace-problems.ts";
import { findProgramPaths } from "./program-paths.ts";
import { RepeatedTrial, type TrialTimes } from "./repeated-trial.ts";
import { SandboxError } from "./sandbox-error.ts";
import type { SandboxPolicy } from "./sandbox-policy.ts";
import { canReach, chooseUser, type SandboxUser } from "./sandbox-user.ts";
import { networkWords as scopedNetworkWords } from "./scoped-network.ts";
import { assembleSeccompProgram, seccompArchitecture } from "./seccomp/seccomp-program.ts";
import { limitWords, programWords, splitEnvironment } from "./start-words.ts";
import { commandPath, findCommand } from "./system-commands.ts";
import type {
  PreparedSandbox,
  SandboxFeature,
  SandboxProblem,
  SandboxTier,
  TierFacts,
  TierReport,
} from "./tier.ts";
import { isInconclusive, isShortage, namespaceFeatures, trialLimits, tryTier } from "./try-tier.ts";

/**
 * Starts `bwrap` so that it ignores SIGTERM. The gateway sends SIGTERM to all processes of a launch: the program can
 * end in order, and its sandbox ends with it, not before it.
 */
const startScript = 'trap "" TERM; exec "$@"';

/** The descriptors of the child: they follow the standard streams. */
const firstDescriptor = 3;

export class BubblewrapTier implements SandboxTier {
  readonly id = "bubblewrap";
  readonly #facts: TierFacts;
  /** Tries to prepare a network; created when it is needed first. */
  #networkTrial: RepeatedTrial<boolean | undefined> | undefined;
  readonly #trialTimes: TrialTimes;

  constructor(facts: TierFacts, trialTimes: TrialTimes) {
    this.#facts = facts;
    this.#trialTimes = trialTimes;
  }

  async check(timeoutMs: number): Promise<TierReport> {
    const problems = await this.#problems(timeoutMs);
    return { id: this.id, isAvailable: problems.length === 0, problems, features };
  }

  async prepare(request: SpawnRequest, policy: SandboxPolicy): Promise<PreparedSandbox> {
    const architecture = seccompArchitecture();
    if (architecture === undefined) {
      throw new SandboxError("SANDBOX_UNAVAILABLE", `No filter of system calls for ${process.arch}`);
    }
    const directory = request.directory ?? "/";
    const { plan, user } = await this.#plan(request, policy, directory);
    const { env, held } = splitEnvironment(request.env);
    const given = request.descriptors ?? [];
    const first = firstDescriptor + given.length;
    const network = policy.network === "scoped" ? await this.#networkWords() : [];
    const lacksNames = network === undefined;
    const networkWords = network ?? [];
    const args = bubblewrapArguments(plan, policy, {
      user,
      hasNetwork: policy.network === "allow" || networkWords.length > 0,
      directory,
      env,
      seccomp: first + 1,
      files: [...plan.files.keys()].map((_, index) => first + 2 + index),
    });
    const handed = new DescriptorFiles(this.#facts.temporaryDirectory, [
      Buffer.from(args.map((word) => `${word}\0`).join("")),
      assembleSeccompProgram(architecture),
      ...[...plan.files.values()].map((text) => Buffer.from(text)),
    ]);
    const words = [
      ...this.#userWords(user),
      ...networkWords,
      ...[command("bwrap"), "--args", String(first), "--"],
      ...[command("prlimit"), ...limitWords(policy.limits), "--"],
      ...programWords([command("env"), "--default-signal=TERM"], held, request, policy),
    ];
    return {
      tier: this.id,
      ...(lacksNames ? { lacksNames } : {}),
      request: {
        program: "/bin/sh",
        args: ["-c", startScript, "sandbox", ...words],
        env: { ...marksOf(request.env), PATH: commandPath },
        directory: "/",
        descriptors: [...given, ...handed.descriptors],
      },
      async [Symbol.asyncDispose]() {
        handed[Symbol.dispose]();
      },
    };
  }

  /**
   * Plans the file system. A gateway of root gives up its user id before the sandbox is built; where the other user
   * cannot reach what has to be bound, user id 0 stays, without any capability.
   */
  async #plan(
    request: SpawnRequest,
    policy: SandboxPolicy,
    directory: string,
  ): Promise<{ readonly plan: MountPlan; readonly user: SandboxUser }> {
    const own = { uid: this.#facts.uid, gid: this.#facts.gid };
    const program = await findProgramPaths(request, policy, this.#facts.userHome);
    const user = chooseUser(own, policy, program.bound);
    const plan = planMounts(policy, program, { directory, user });
    if (own.uid !== 0 || user.uid === 0) return { plan, user };
    const needed = [
      ...[...plan.binds, ...plan.late].map(({ source }) => source),
      ...plan.masks.map(({ path }) => path),
    ];
    if (needed.every((path) => canReach(user, path))) return { plan, user };
    return { plan: planMounts(policy, program, { directory, user: own }), user: own };
  }

  #userWords({ uid, gid }: SandboxUser): readonly string[] {
    if (this.#facts.uid !== 0) return [];
    const groups = [command("setpriv"), "--clear-groups"];
    return uid === 0 ? [...groups, "--"] : [...groups, "--reuid", String(uid), "--regid", String(gid), "--"];
  }

  /**
   * Returns the words that prepare a scoped network. Where this machine does not allow it (a profile of AppArmor that
   * lets only bwrap create namespaces, no iproute2), bwrap creates a network without names and own addresses. Undefined
   * where its trial had no result yet.
   */
  async #networkWords(): Promise<readonly string[] | undefined> {
    const ip = findCommand("ip");
    const unshare = findCommand("unshare");
    if (ip === undefined || unshare === undefined) return [];
    const words = scopedNetworkWords(unshare, ip);
    this.#networkTrial ??= new RepeatedTrial<boolean | undefined>(
      (timeoutMs) => canRun(words, timeoutMs),
      (canPrepare) => canPrepare === undefined,
      this.#trialTimes,
    );
    const canPrepare = await this.#networkTrial.result();
    return canPrepare === undefined ? undefined : canPrepare ? words : [];
  }

  async #problems(timeoutMs: number): Promise<readonly SandboxProblem[]> {
    if (process.platform !== "linux") return [{ reason: "namespaces exist on Linux only", fix: "use Linux" }];
    if (findCommand("bwrap") === undefined) {
      return [{ reason: "bwrap is not installed", fix: "install the package bubblewrap" }];
    }
    const missing = ["setpriv", "prlimit", "env"].filter((name) => findCommand(name) === undefined);
    if (missing.length > 0) {
      const fix = "install the packages util-linux and coreutils";
      return [{ reason: `${missing.join(", ")} not found`, fix }];
    }
    return tryTier(this, {
      timeoutMs,
      script: "grep ^Seccomp: /proc/self/status",
      expected: /^Seccomp:\s*2\s*$/,
      fixOf: (reason) => (/unknown option/i.test(reason) ? "install bubblewrap 0.8 or later" : likelyFix()),
    });
  }
}

/** Whether `words` start a program here; undefined where that did not show. */
async function canRun(
  [program = "", ...args]: readonly string[],
  timeoutMs: number,
): Promise<boolean | undefined> {
  const request = { program, args: [...args, "true"], env: { PATH: commandPath }, directory: "/" };
  const { code, stderr } = await runCommand(request, { ...trialLimits, timeoutMs });
  if (code === 0) return true;
  return isInconclusive(code) || isShortage(stderr) ? undefined : false;
}

const features: readonly SandboxFeature[] = [
  ...namespaceFeatures,
  { name: "system calls", isEnforced: true, by: "seccomp filter" },
];

/** The path of a program of the system that `check` found. */
function command(name: string): string {
  return findCommand(name) ?? name;
}

/** The marks by which the gateway finds the processes of a launch. */
function marksOf(env: SpawnRequest["env"]): SpawnRequest["env"] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith("TOOLCRIB_")));
}
