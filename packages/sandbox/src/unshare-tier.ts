/**
 * The tier of util-linux: namespaces by `unshare`, a root of read-only binds,
 * no capability, and limits by `prlimit`. It needs no package that a Linux system
 * does not have. It has no filter of system calls.
 */

import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SpawnRequest } from "@toolcrib/process";
import { type Bind, type MountPlan, planMounts } from "./mount-plan.ts";
import { type HostMount, mountOf, mountsBelow, parseMountTable } from "./mount-table.ts";
import { likelyFix } from "./namespace-problems.ts";
import { byDepth } from "./paths.ts";
import { maskedProc, readOnlyProc } from "./proc-files.ts";
import { findProgramPaths } from "./program-paths.ts";
import { SandboxError } from "./sandbox-error.ts";
import type { SandboxLimits, SandboxPolicy } from "./sandbox-policy.ts";
import { chooseUser } from "./sandbox-user.ts";
import { makeStartFolder, removeAbandonedFolders } from "./start-folders.ts";
import { limitWords, needsEnv, programWords, splitEnvironment } from "./start-words.ts";
import { commandPath, findCommand } from "./system-commands.ts";
import type {
  PreparedSandbox,
  SandboxFeature,
  SandboxProblem,
  SandboxTier,
  TierFacts,
  TierReport,
} from "./tier.ts";
import { namespaceFeatures, tryTier } from "./try-tier.ts";
import { startWords, unshareScript } from "./unshare-script.ts";

const needed = ["unshare", "mount", "umount", "pivot_root", "setpriv", "prlimit", "cp", "env"];

const devices = ["null", "zero", "full", "random", "urandom", "tty"];

export class UnshareTier implements SandboxTier {
  readonly id = "unshare";
  readonly #facts: TierFacts;
  #cleaning: Promise<void> | undefined;

  constructor(facts: TierFacts) {
    this.#facts = facts;
  }

  async check(timeoutMs: number): Promise<TierReport> {
    const problems = await this.#problems(timeoutMs);
    return { id: this.id, isAvailable: problems.length === 0, problems, features };
  }

  async prepare(request: SpawnRequest, policy: SandboxPolicy): Promise<PreparedSandbox> {
    const ip = findCommand("ip");
    if (policy.network === "scoped" && ip === undefined) {
      throw new SandboxError("SANDBOX_UNAVAILABLE", "network_egress: scoped needs the command ip", {
        hint: "install the package iproute2, or bubblewrap",
      });
    }
    const directory = request.directory ?? "/";
    const program = await findProgramPaths(request, policy, this.#facts.userHome);
    const user = chooseUser(this.#facts, policy, program.bound);
    const plan = planMounts(policy, program, { directory, user });
    await this.#clean();
    const folder = makeStartFolder(this.#facts.temporaryDirectory);
    try {
      this.#write(folder, plan, policy.limits);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
    const namespaces = ["--mount", "--pid", "--ipc", "--uts", "--cgroup"];
    if (policy.network !== "allow") namespaces.push("--net");
    const isRoot = this.#facts.uid === 0;
    const { env: startEnv, held } = splitEnvironment(request.env);
    const words = [
      ...(isRoot ? [] : ["--user", "--map-root-user"]),
      ...[...namespaces, "--fork", "--kill-child=KILL", "/bin/sh", "-c", unshareScript, "sandbox"],
      ...[folder, String(user.uid), String(user.gid), isRoot ? (user.uid === 0 ? "keep" : "drop") : "same"],
      ...[policy.network, ip ?? "-"],
      ...startWords(limitWords(policy.limits), request.env["PATH"] ?? commandPath),
      ...programWords(needsEnv(held, policy) ? [findCommand("env") ?? "env"] : [], held, request, policy),
    ];
    const env = {
      ...startEnv,
      HOME: plan.home,
      TMPDIR: plan.temporaryFolder,
      PATH: commandPath,
      TOOLCRIB_SANDBOX_DIRECTORY: directory,
    };
    return {
      tier: this.id,
      request: { program: findCommand("unshare") ?? "unshare", args: words, env, directory: "/" },
      async [Symbol.asyncDispose]() {
        await rm(folder, { recursive: true, force: true });
      },
    };
  }

  /** Removes, once, what gateways left that were killed. */
  #clean(): Promise<void> {
    this.#cleaning ??= removeAbandonedFolders(this.#facts.temporaryDirectory, this.#facts.uid);
    return this.#cleaning;
  }

  /**
   * Writes the tables of mounts, the empty targets of all binds, and copies of small files. Each step is one call of the
   * kernel that ends at once, so none of them waits for a thread.
   */
  #write(folder: string, plan: MountPlan, limits: SandboxLimits): void {
    const [root, template, final] = ["root", "template", "final"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    for (const path of [root, template, final]) mkdirSync(path);
    const made = new Set<string>();
    const makeFolder = (path: string): void => {
      if (!made.has(path)) mkdirSync(template + path, { recursive: true, mode: 0o755 });
      made.add(path);
    };
    const makeFile = (path: string, content: string | Buffer = ""): void => {
      makeFolder(dirname(path));
      writeFileSync(template + path, content, { mode: 0o644 });
    };
    const copies = new Map(
      plan.binds.flatMap((bind) => {
        const content = smallFileOf(bind);
        return content === undefined ? [] : [[bind, content] as const];
      }),
    );
    for (const path of ["/.old", "/proc", "/dev/pts", "/dev/shm", "/etc", ...plan.folders]) makeFolder(path);
    for (const bind of plan.binds) {
      if (bind.isFolder) makeFolder(bind.path);
      else makeFile(bind.path, copies.get(bind));
    }
    for (const { path, isFolder } of plan.masks)
      if (isFolder) makeFolder(path);
      else makeFile(path);
    for (const [path, text] of plan.files) makeFile(path, text);
    for (const device of devices) makeFile(`/dev/${device}`);
    symlinkSync("/proc/self/fd", `${template}/dev/fd`);
    for (const [at, name] of ["stdin", "stdout", "stderr"].entries()) {
      symlinkSync(`/proc/self/fd/${at}`, `${template}/dev/${name}`);
    }
    symlinkSync("pts/ptmx", `${template}/dev/ptmx`);
    for (const [path, target] of plan.links) {
      makeFolder(dirname(path));
      try {
        symlinkSync(target, template + path);
      } catch {
        // Another link or a folder of the plan is already there.
      }
    }
    for (const path of plan.temporary) makeFolder(path);
    chmodSync(template, 0o755);
    const table = parseMountTable(readFileSync("/proc/self/mountinfo", "utf8"));
    const bound = { ...plan, binds: plan.binds.filter((bind) => !copies.has(bind)) };
    writeFileSync(join(folder, "first"), firstTable(root, plan, limits));
    writeFileSync(join(folder, "second"), secondTable({ root, final }, bound, table, this.#facts.uid !== 0));
  }

  async #problems(timeoutMs: number): Promise<readonly SandboxProblem[]> {
    if (process.platform !== "linux") return [{ reason: "namespaces exist on Linux only", fix: "use Linux" }];
    const missing = needed.filter((name) => findCommand(name) === undefined);
    if (missing.length > 0) {
      return [{ reason: `${missing.join(", ")} not found`, fix: "install the package util-linux" }];
    }
    return tryTier(this, { timeoutMs, script: "echo works", expected: /^works\n$/, fixOf: likelyFix });
  }
}

const features: readonly SandboxFeature[] = [
  ...namespaceFeatures,
  { name: "system calls", isEnforced: false, by: "no filter: keyctl and io_uring stay available" },
];

/** The folders in memory, which must exist before the targets of binds are created in them. */
function firstTable(root: string, { temporary }: MountPlan, { temporaryBytes }: SandboxLimits): string {
  const lines = [tableLine("tmpfs", root, "tmpfs", "mode=0755,nosuid,size=32m")];
  for (const path of temporary) {
    const options = `X-mount.mkdir,mode=1777,nosuid,nodev,size=${temporaryBytes}`;
    lines.push(tableLine("tmpfs", root + path, "tmpfs", options));
  }
  return `${lines.join("\n")}\n`;
}

/** Bytes of a file that is copied instead of bound: a mount costs more than reading it. */
const copyMaxBytes = 262_144;

/** Files of /etc that can be replaced while a program runs. */
const changingFiles = ["/etc/resolv.conf", "/etc/hosts"];

/** The content of a small file of the system that is only read. */
function smallFileOf({ source, path, isFolder, isWritable }: Bind): Buffer | undefined {
  if (isFolder || isWritable || !path.startsWith("/etc/") || changingFiles.includes(path)) return undefined;
  try {
    const { size, mode } = statSync(source);
    // Everybody may read it outside, too.
    return size <= copyMaxBytes && (mode & 0o004) !== 0 ? readFileSync(source) : undefined;
  } catch {
    // It is bound, and the mount says what is wrong with it.
    return undefined;
  }
}

/** Everything else, in order. The last line makes the root read-only: it binds it, with all that is in it, once more. */
function secondTable(
  { root, final }: { readonly root: string; readonly final: string },
  { binds, masks, late }: MountPlan,
  table: readonly HostMount[],
  isUser: boolean,
): string {
  const lines = binds.flatMap((bind) => bindLines(root, bind, table, isUser));
  for (const { path, isFolder } of masks) {
    lines.push(
      isFolder
        ? tableLine("tmpfs", root + path, "tmpfs", "mode=0755,nosuid,nodev,size=64k")
        : tableLine("/dev/null", root + path, "none", "bind,ro,nosuid,noexec"),
    );
  }
  for (const bind of late) lines.push(...bindLines(root, bind, table, isUser, "X-mount.mkdir,"));
  const proc = `${root}/proc`;
  lines.push(tableLine("proc", proc, "proc", "nosuid,nodev,noexec"));
  for (const name of readOnlyProc) {
    if (existsInProc(name)) {
      lines.push(tableLine(`${proc}/${name}`, `${proc}/${name}`, "none", "bind,ro,nosuid,nodev,noexec"));
    }
  }
  // The number of user namespaces is set once more, from inside; the kernel lets nobody else write it.
  lines.push(tableLine("/proc/sys/user", `${proc}/sys/user`, "none", "bind,nosuid,nodev,noexec"));
  for (const name of maskedProc) {
    if (existsInProc(name))
      lines.push(tableLine("/dev/null", `${proc}/${name}`, "none", "bind,ro,nosuid,noexec"));
  }
  for (const device of devices) {
    lines.push(tableLine(`/dev/${device}`, `${root}/dev/${device}`, "none", "bind,nosuid,noexec"));
  }
  lines.push(
    tableLine("devpts", `${root}/dev/pts`, "devpts", "newinstance,ptmxmode=0666,mode=620,nosuid,noexec"),
    tableLine(root, final, "none", "rbind,ro,nosuid"),
  );
  return `${lines.join("\n")}\n`;
}

function existsInProc(name: string): boolean {
  return statSync(`/proc/${name}`, { throwIfNoEntry: false }) !== undefined;
}

/** The lines of one bind: the folder itself, then each mount below it, which a bind does not include. */
function bindLines(
  root: string,
  { source, path, isWritable }: Bind,
  table: readonly HostMount[],
  isUser: boolean,
  extra = "",
): string[] {
  const options = (from: string): string => {
    const mount = mountOf(table, from);
    const flags = ["nosuid", "nodev"];
    if (!isWritable || mount?.isReadOnly === true) flags.push("ro");
    // A user may not drop this flag of a mount.
    if (mount?.isNoExec === true) flags.push("noexec");
    return flags.join(",");
  };
  const below = mountsBelow(table, source).toSorted(byDepth);
  // An unprivileged user cannot bind a folder without the mounts below it. A bind of its own then covers each of them.
  const kind = isUser && below.length > 0 ? "rbind" : "bind";
  return [
    tableLine(source, root + path, "none", `${extra}${kind},${options(source)}`),
    ...below.map((mount) =>
      tableLine(mount, `${root}${path}${mount.slice(source.length)}`, "none", `bind,${options(mount)}`),
    ),
  ];
}

/** Returns a line in the format of fstab(5). */
function tableLine(source: string, target: string, type: string, options: string): string {
  return `${escaped(source)} ${escaped(target)} ${type} ${options} 0 0`;
}

/** The digits stand for one byte. Other spaces have several bytes, and separate nothing. */
function escaped(path: string): string {
  return path.replace(
    /[ \t\n\r\\#]/g,
    (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
}
