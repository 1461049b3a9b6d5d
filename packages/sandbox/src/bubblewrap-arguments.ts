/** The arguments of `bwrap` that build the file system and namespaces of one program. Pure but for what /proc contains. */

import { existsSync } from "node:fs";
import type { Bind, MountPlan } from "./mount-plan.ts";
import { byDepth, isWithin } from "./paths.ts";
import { maskedProc, readOnlyProc } from "./proc-files.ts";
import type { SandboxPolicy } from "./sandbox-policy.ts";
import type { SandboxUser } from "./sandbox-user.ts";

/** Facts on which the arguments depend, besides the plan and the policy. */
export interface BubblewrapFacts {
  readonly user: SandboxUser;
  readonly directory: string;
  /** Whether it gets the network in which `bwrap` is started; otherwise an empty one. */
  readonly hasNetwork: boolean;
  /** The environment of the program. */
  readonly env: { readonly [name: string]: string | undefined };
  /** Descriptor of the filter of system calls. */
  readonly seccomp: number;
  /** Descriptors of the contents of the plan's files, in their order. */
  readonly files: readonly number[];
}

/** Bytes of the empty folder that covers a hidden one. */
const maskBytes = 65_536;

/** Returns the arguments. The program and its own arguments are not among them. */
export function bubblewrapArguments(
  plan: MountPlan,
  policy: SandboxPolicy,
  { user, directory, hasNetwork, env, seccomp, files }: BubblewrapFacts,
): readonly string[] {
  const temporaryBytes = String(policy.limits.temporaryBytes);
  const temporary = (path: string): string[] => [
    ...["--size", temporaryBytes, "--perms", "1777", "--tmpfs", path],
  ];
  const isDevice = (path: string): boolean => isWithin(path, "/dev");
  const masks = plan.masks.flatMap(({ path, isFolder }) =>
    isFolder
      ? ["--size", String(maskBytes), "--perms", "0755", "--tmpfs", path]
      : ["--ro-bind", "/dev/null", path],
  );
  const sealed = plan.masks.flatMap(({ path, isFolder }) => (isFolder ? ["--remount-ro", path] : []));
  return [
    ...["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"],
    ...(hasNetwork ? [] : ["--unshare-net"]),
    ...["--disable-userns", "--cap-drop", "ALL", "--die-with-parent", "--new-session"],
    ...["--uid", String(user.uid), "--gid", String(user.gid), "--seccomp", String(seccomp)],
    ...plan.temporary.filter((path) => !isDevice(path)).flatMap(temporary),
    ...plan.binds.flatMap(bindArguments),
    // After the folders in memory, which would cover them.
    ...plan.folders.toSorted(byDepth).flatMap((path) => ["--perms", "0755", "--dir", path]),
    ...masks,
    ...plan.late.flatMap(bindArguments),
    ...sealed,
    ...linksOf(plan).flatMap(([path, target]) => ["--symlink", target, path]),
    ...[...plan.files.keys()].flatMap((path, index) => [
      ...["--perms", "0644", "--file", String(files[index]), path],
    ]),
    ...["--proc", "/proc", ...procArguments(user)],
    ...["--dev", "/dev", ...plan.temporary.filter(isDevice).flatMap(temporary)],
    ...["--remount-ro", "/dev", "--remount-ro", "/"],
    ...Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : ["--setenv", name, value])),
    ...["--setenv", "HOME", plan.home, "--setenv", "TMPDIR", plan.temporaryFolder],
    ...["--chdir", directory],
  ];
}

function bindArguments({ source, path, isWritable }: Bind): string[] {
  return [isWritable ? "--bind" : "--ro-bind", source, path];
}

/** The links whose place is not taken by a folder that leads to something else. */
function linksOf({ links, binds, folders }: MountPlan): readonly (readonly [string, string])[] {
  const taken = [...binds.map(({ path }) => path), ...folders, ...links.keys()];
  return [...links].filter(
    ([path]) => !folders.includes(path) && !taken.some((other) => other !== path && isWithin(other, path)),
  );
}

/**
 * Covers files of the kernel. Those that only user id 0 may write belong to it without any capability, too: it gets
 * them read-only.
 */
function procArguments({ uid }: SandboxUser): readonly string[] {
  const readOnly = uid === 0 ? readOnlyProc.map((name) => `/proc/${name}`) : [];
  return [
    ...readOnly.filter((path) => existsSync(path)).flatMap((path) => ["--ro-bind", path, path]),
    ...maskedProc
      .map((name) => `/proc/${name}`)
      .filter((path) => existsSync(path))
      .flatMap((path) => ["--ro-bind", "/dev/null", path]),
  ];
}
