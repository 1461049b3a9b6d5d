/**
 * The file system of a sandbox as data: which folders and files of the host are
 * visible, where, and which of them are writable. Every tier on Linux builds it
 * in its own way. It contains the system's programs and libraries, a few files of
 * /etc, what the program needs, and what the policy names; nothing else of the
 * host: no home, no /sys, no /run, no socket.
 */

import { existsSync, lstatSync, readlinkSync, realpathSync, type Stats, statSync } from "node:fs";
import { join, relative } from "node:path";
import { messageOf } from "@toolcrib/diagnostics";
import { ChangeablePaths } from "./changeable-paths.ts";
import { entriesOf } from "./look-up.ts";
import { byDepth, isWithin, outermost } from "./paths.ts";
import { keptLinks, type ProgramPaths, systemFolders } from "./program-paths.ts";
import { SandboxError } from "./sandbox-error.ts";
import type { SandboxPolicy } from "./sandbox-policy.ts";
import { canReach } from "./sandbox-user.ts";
import { listenersBelow, socketsBelow } from "./sockets-below.ts";

/** A folder or file of the host that is visible at `path`. */
export interface Bind {
  readonly source: string;
  readonly path: string;
  readonly isFolder: boolean;
  readonly isWritable: boolean;
}

/** The file system of one sandbox, without /proc and /dev. */
export interface MountPlan {
  /** Empty folders. */
  readonly folders: readonly string[];
  /** Targets of symbolic links by their paths. */
  readonly links: ReadonlyMap<string, string>;
  /** Contents of small files by their paths. */
  readonly files: ReadonlyMap<string, string>;
  /** Folders in memory, writable. */
  readonly temporary: readonly string[];
  /** In the order in which they are bound: a folder before what lies below it. */
  readonly binds: readonly Bind[];
  /** Paths that are covered by something empty after all binds. */
  readonly masks: readonly { readonly path: string; readonly isFolder: boolean }[];
  /** The home, and the program of a server, where a mask covers them; they are bound last. */
  readonly late: readonly Bind[];
  /** HOME and TMPDIR of the program. */
  readonly home: string;
  readonly temporaryFolder: string;
}

/** Facts about the user and folder of the program. */
export interface PlanFacts {
  readonly directory: string;
  readonly user: { readonly uid: number; readonly gid: number };
}

const temporaryFolder = "/tmp";
const temporaryHome = "/home/sandbox";

/** Files of /etc that programs read and that contain nothing private. */
const etcPaths = [
  ...["ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "nsswitch.conf", "localtime", "timezone"],
  ...["mime.types", "protocols", "services", "host.conf", "gai.conf", "ssl", "pki", "ca-certificates"],
  ...[
    "ca-certificates.conf",
    "crypto-policies",
    "fonts",
    "magic",
    "terminfo",
    "debian_version",
    "os-release",
  ],
];

/** Files of /etc for programs that use the network. */
const networkPaths = ["resolv.conf", "hosts"];

/** Folders with keys below those that are bound. */
const privatePaths = ["/etc/ssl/private", "/etc/pki/tls/private", "/etc/pki/rpm-gpg/private"];

/**
 * Plans the file system of one program.
 *
 * @throws {SandboxError} `SANDBOX_PATH_REFUSED`
 */
export function planMounts(policy: SandboxPolicy, program: ProgramPaths, facts: PlanFacts): MountPlan {
  const hidden = existingOf(policy.hiddenPaths);
  const home = policy.home === "temporary" ? temporaryHome : policy.home.path;
  const lies = (path: string): boolean => hidden.some((one) => isWithin(path, one));
  // What lies in a hidden folder is bound on its own, after the mask: a folder around both does not show it.
  const outer = (paths: readonly string[]): readonly string[] => [
    ...outermost(paths.filter((path) => !lies(path))),
    ...outermost(paths.filter(lies)),
  ];
  const changeable = new ChangeablePaths(policy);
  // What the program can change itself does not decide what is bound; the folder that it writes shows it already.
  const isFirm = (path: string): boolean => !changeable.reaches(path);
  const writable = outer([
    ...policy.writePaths.filter(isFirm),
    ...(policy.home === "temporary" ? [] : [home]),
  ]);
  const own = policy.ownPaths ?? [];
  const isOwn = (path: string): boolean => own.some((one) => isWithin(path, one));
  for (const path of policy.readPaths) if (!isOwn(path)) checkPath(path, "read", hidden, home);
  for (const path of policy.writePaths) if (!isOwn(path)) checkPath(path, "write", hidden, home);
  const readable = outer([...policy.readPaths.filter(isFirm), ...shownOf(policy, program)]).filter(
    (path) => (isOwn(path) || !lies(path)) && existsSync(path),
  );
  const unbound = [...policy.readPaths, ...policy.writePaths].filter((path) => !isFirm(path));
  const links = new Map([
    ...program.links,
    ...unbound.flatMap((path) => keptLinks(changeable.follow(path).links)),
  ]);
  const binds: Bind[] = [];
  addSystem(binds, links, policy.network === "allow");
  for (const path of readable) {
    const isCovered = writable.some((folder) => isWithin(path, folder) && lies(folder) === lies(path));
    if (!isCovered) binds.push(bindOf(path, false));
  }
  for (const path of writable) binds.push(bindOf(path, true));
  binds.sort((left, right) => byDepth(left.path, right.path));
  const temporary = [temporaryFolder, "/dev/shm", ...(policy.home === "temporary" ? [home] : [])];
  const isBound = (path: string): boolean => binds.some((bind) => bind.isFolder && isWithin(path, bind.path));
  for (const path of [...links.keys()]) if (isBound(path)) links.delete(path);
  const concealed = [
    ...hidden.filter((path) => path !== home && !own.includes(path)),
    ...privatePaths.filter((path) => existsSync(path)),
    // A socket leads out of the sandbox. A path of the operator has none at its top, or it is refused.
    ...[
      ...socketsBelow(readable.map((path) => realpathSync(path))),
      ...listenersBelow(writable.map((path) => realpathSync(path))),
    ].filter((path) => canReach(facts.user, path)),
  ];
  // A bind of a link shows the same folders under other names.
  const aliases = binds.flatMap(({ source, path }) =>
    source === path
      ? []
      : concealed.filter((one) => isWithin(one, source)).map((one) => join(path, relative(source, one))),
  );
  const masked = [...concealed, ...aliases];
  const masks = outermost(masked).filter(isBound);
  const isLate = ({ path }: Bind): boolean => masks.some((mask) => isWithin(path, mask));
  return {
    folders: [
      "/run",
      "/var",
      "/var/tmp",
      "/opt",
      "/srv",
      "/sys",
      ...(isBound(facts.directory) ? [] : [facts.directory]),
    ],
    links,
    files: new Map([...accountFiles(facts, home), ...(policy.files ?? [])]),
    temporary,
    binds: binds.filter((bind) => !isLate(bind)),
    masks: masks.map((path) => ({
      path,
      isFolder: statSync(path, { throwIfNoEntry: false })?.isDirectory() === true,
    })),
    late: binds.filter(isLate),
    home,
    temporaryFolder,
  };
}

/**
 * Returns the folders and files of the program and its arguments that are bound. They count by what they really are: the
 * path of one can lead into a hidden folder.
 */
export function shownOf(
  { hiddenPaths, ownPaths = [] }: SandboxPolicy,
  { bound }: ProgramPaths,
): readonly string[] {
  const hidden = existingOf(hiddenPaths);
  const isHidden = (path: string): boolean => hidden.some((one) => isWithin(realpathSync(path), one));
  const isOwn = (path: string): boolean => ownPaths.some((one) => isWithin(path, one));
  return bound.filter((path) => existsSync(path) && (isOwn(path) || !isHidden(path)));
}

/** Returns the paths at which something is, each also without links. */
function existingOf(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => (existsSync(path) ? [path, realpathSync(path)] : []));
}

/** Refuses a path that the operator named by mistake: it would show or change what a sandbox has to hide. */
export function checkPath(
  path: string,
  access: "read" | "write",
  hidden: readonly string[],
  home: string,
): void {
  const refused = (what: string): SandboxError =>
    new SandboxError("SANDBOX_PATH_REFUSED", `The ${access} path "${path}" ${what}`, {
      hint: "name a folder that contains only what the server works with",
    });
  if (path === "/") throw refused("is the whole file system");
  let status: Stats | undefined;
  try {
    status = statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // A link that leads to itself, or a folder above it that this user may not search.
    throw new SandboxError("SANDBOX_PATH_REFUSED", `The ${access} path "${path}" cannot be looked up`, {
      hint: `let the user of the gateway search the folders above it, or correct the path (${messageOf(error)})`,
      cause: error,
    });
  }
  if (status === undefined) {
    throw new SandboxError("SANDBOX_PATH_REFUSED", `The ${access} path "${path}" does not exist`, {
      hint: "create it, or correct the path",
    });
  }
  const real = realpathSync(path);
  const inner = hidden.find((one) => isWithin(real, one));
  if (inner !== undefined) throw refused(`lies in "${inner}", which no sandbox shows`);
  const held = hidden.find((one) => isWithin(one, real));
  if (access === "write" && held !== undefined && path !== home) {
    throw refused(`holds "${held}", which no sandbox may change`);
  }
  const socket = status.isDirectory() ? socketIn(real) : status.isSocket() ? path : undefined;
  if (socket !== undefined && path !== home) {
    throw refused(`holds the socket "${socket}", which leads out of the sandbox`);
  }
}

/** Entries of a folder that are searched for sockets. */
const entriesMaxCount = 10_000;

function socketIn(folder: string): string | undefined {
  const found = entriesOf(folder, entriesMaxCount).find((entry) => entry.isSocket());
  return found === undefined ? undefined : join(folder, found.name);
}

function bindOf(path: string, isWritable: boolean): Bind {
  return { source: realpathSync(path), path, isFolder: statSync(path).isDirectory(), isWritable };
}

/** Adds the programs and libraries of the system, and a few files of /etc. */
function addSystem(binds: Bind[], links: Map<string, string>, hasNetwork: boolean): void {
  for (const folder of systemFolders) {
    const status = lstatSync(folder, { throwIfNoEntry: false });
    if (status?.isSymbolicLink()) links.set(folder, readlinkSync(folder));
    else if (status !== undefined) binds.push(bindOf(folder, false));
  }
  for (const name of hasNetwork ? [...etcPaths, ...networkPaths] : etcPaths) {
    const path = join("/etc", name);
    if (existsSync(path)) binds.push(bindOf(path, false));
  }
}

/** The files in which programs look up the user. */
function accountFiles({ user: { uid, gid } }: PlanFacts, home: string): ReadonlyMap<string, string> {
  const users = [`sandbox:x:${uid}:${gid}::${home}:/bin/sh`];
  if (uid !== 0) users.push("root:x:0:0::/:/bin/false");
  if (uid !== 65_534) users.push("nobody:x:65534:65534::/:/bin/false");
  const groups = [`sandbox:x:${gid}:`, ...(gid === 0 ? [] : ["root:x:0:"])];
  return new Map([
    ["/etc/passwd", `${users.join("\n")}\n`],
    ["/etc/group", `${groups.join("\n")}\n`],
  ]);
}
