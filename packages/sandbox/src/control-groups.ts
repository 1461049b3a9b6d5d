/**
 * Control groups of the kernel (cgroups(7), version 1 and 2): limits for all
 * processes of one sandbox together. They count what resource limits do not: memory
 * that processes share, folders in memory, and the processes of user id 0.
 *
 * A group is used where this user can create one: root on most machines, an
 * ordinary user where the system delegates its groups. Elsewhere resource limits
 * remain alone.
 */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "@toolcrib/diagnostics";
import type { SpawnRequest } from "@toolcrib/process";
import type { SandboxLimits } from "./sandbox-policy.ts";

/** The groups of one sandbox. Disposing removes them; their processes have ended before. */
export interface ControlGroup extends AsyncDisposable {
  /** Returns the request that joins the groups before anything else. */
  join(request: SpawnRequest): SpawnRequest;
}

/** Limits for all processes of a group together. */
type GroupLimits = Pick<SandboxLimits, "memoryBytes" | "processes">;

/** One hierarchy in which groups are created. */
interface Hierarchy {
  /** Files of the group of all sandboxes, and what makes its limits count for the groups below it. */
  readonly forInner: readonly (readonly [file: string, text: string])[];
  /** Folder of the new groups. */
  readonly folder: string;
  /** Files of a group and what is written to them. */
  settings(limits: GroupLimits): readonly (readonly [file: string, text: string])[];
}

/** Arguments: files to write the own id to, `--`, the program with its arguments. */
const joinScript =
  'while [ "$1" != -- ]; do echo $$ > "$1" || { echo "toolcrib sandbox: cannot join its group" >&2; exit 125; }; shift; done; shift; exec "$@"';

const namePrefix = "toolcrib-";

/** Groups that this process has created: their names differ from each other wherever in it they are created. */
let groupCount = 0;

/** Attempts to remove a group, and the milliseconds between two: its last process can still be ending. */
const removals = { count: 20, delayMs: 50 };

/** Creates groups for the sandboxes of this process. */
export class ControlGroups {
  readonly #hierarchies: readonly Hierarchy[];
  readonly #totals: GroupLimits;
  #making: Promise<unknown> = Promise.resolve();
  #checked: Promise<string | undefined> | undefined;

  /** @param totals limits of all sandboxes of this process together @param proc where the kernel describes its groups */
  constructor(totals: GroupLimits, proc = "/proc/self") {
    this.#totals = totals;
    this.#hierarchies = process.platform === "linux" ? findHierarchies(proc) : [];
  }

  /** Returns why groups cannot be used here; undefined where they can. Tries it once. */
  problem(): Promise<string | undefined> {
    this.#checked ??= this.#try();
    return this.#checked;
  }

  /** Creates the groups of one sandbox; undefined where there are none. */
  async create(limits: GroupLimits): Promise<ControlGroup | undefined> {
    return (await this.problem()) === undefined ? await this.#create(limits) : undefined;
  }

  async #try(): Promise<string | undefined> {
    if (this.#hierarchies.length === 0) {
      return "the groups of this process do not limit memory and processes, or are not visible";
    }
    try {
      for (const { folder } of this.#hierarchies) await removeAbandoned(folder);
      const limits = { memoryBytes: 1 << 30, processes: 16 };
      const group = await this.#create(limits);
      await group[Symbol.asyncDispose]();
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  /** Creates the folder of a group in that of all sandboxes, which it creates if it is missing. */
  async #makeFolder(hierarchy: Hierarchy, name: string): Promise<string> {
    const whole = join(hierarchy.folder, `${namePrefix}${process.pid}`);
    for (let attempt = 1; ; attempt++) {
      try {
        const isNew = (await mkdir(whole, { recursive: true })) !== undefined;
        if (isNew) {
          // Newer kernels count whole trees anyway, and some have no such file.
          await write(whole, hierarchy.forInner).catch(() => {});
          await write(whole, hierarchy.settings(this.#totals));
        }
        const path = join(whole, name);
        await mkdir(path);
        return path;
      } catch (error) {
        // The last sandbox before this one has just ended, and the folder with it.
        if ((error as NodeJS.ErrnoException).code !== "ENOENT" || attempt === removals.count) throw error;
      }
    }
  }

  async #create(limits: GroupLimits): Promise<ControlGroup> {
    const name = String(++groupCount);
    const folders: string[] = [];
    const remove = async (): Promise<void> => {
      for (const folder of folders.splice(0)) {
        await removeGroup(folder);
        // The group of all sandboxes goes with its last one.
        await rmdir(dirname(folder)).catch(() => {});
      }
    };
    try {
      for (const hierarchy of this.#hierarchies) {
        // One after the other: a second one must find the settings of the first.
        const making = this.#making.then(() => this.#makeFolder(hierarchy, name));
        this.#making = making.catch(() => {});
        const path = await making;
        folders.push(path);
        await write(path, hierarchy.settings(limits));
      }
    } catch (error) {
      await remove();
      throw error;
    }
    const files = folders.map((folder) => join(folder, "cgroup.procs"));
    return {
      join: ({ program, args, ...request }) => ({
        ...request,
        program: "/bin/sh",
        args: ["-c", joinScript, "sandbox", ...files, "--", program, ...args],
      }),
      [Symbol.asyncDispose]: remove,
    };
  }
}

/** Writes settings of a group. The flag keeps a missing file from being created, which the kernel refuses unclearly. */
async function write(path: string, settings: ReturnType<Hierarchy["settings"]>): Promise<void> {
  for (const [file, text] of settings) await writeFile(join(path, file), text, { flag: "r+" });
}

/** Removes a group. One that still has a process is left to the next gateway. */
async function removeGroup(folder: string): Promise<void> {
  for (let attempt = 1; attempt <= removals.count; attempt++) {
    try {
      await rmdir(folder);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EBUSY") return;
      await delay(removals.delayMs);
    }
  }
}

/**
 * Removes the groups of gateways that ended without removing them. In a container, one of them can have had the process id
 * of this one: its groups would be taken for those of this process.
 */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    const pid = name.startsWith(namePrefix) ? name.slice(namePrefix.length) : undefined;
    if (pid === undefined) continue;
    const isUsed = pid === String(process.pid) ? groupCount > 0 : existsSync(`/proc/${pid}`);
    if (isUsed) continue;
    const path = join(folder, name);
    const inner = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    // A group with processes cannot be removed.
    for (const entry of inner) await rmdir(join(path, entry.name)).catch(() => {});
    await rmdir(path).catch(() => {});
  }
}

/** Finds where this process can have groups below or beside its own; empty without limits of memory and processes. */
function findHierarchies(proc: string): readonly Hierarchy[] {
  try {
    const own = readFileSync(join(proc, "cgroup"), "utf8").split("\n");
    const mounts = parseGroupMounts(readFileSync(join(proc, "mountinfo"), "utf8"));
    return version1(own, mounts) ?? version2(own, mounts) ?? [];
  } catch {
    // Without these files there are no groups.
    return [];
  }
}

/** A mount of groups: its folder, the group that this folder shows, and its controllers (version 1). */
interface GroupMount {
  readonly path: string;
  readonly root: string;
  readonly type: string;
  readonly controllers: readonly string[];
}

function parseGroupMounts(text: string): readonly GroupMount[] {
  return text.split("\n").flatMap((line) => {
    const [left = "", right = ""] = line.split(" - ");
    const fields = left.split(" ");
    const [type = "", , options = ""] = right.split(" ");
    if (!type.startsWith("cgroup")) return [];
    return [{ path: fields[4] ?? "", root: fields[3] ?? "/", type, controllers: options.split(",") }];
  });
}

/** The folder of a group of this process below a mount; undefined when the mount does not show it. */
function folderOf(group: string, { path, root }: GroupMount): string | undefined {
  if (root === "/") return join(path, group);
  return group === root || group.startsWith(`${root}/`) ? join(path, group.slice(root.length)) : undefined;
}

/** Version 1 counts the memory of a group's own processes only, unless it is asked to count that of its groups. */
const wholeMemory = [["memory.use_hierarchy", "1"]] as const;

function version1(own: readonly string[], mounts: readonly GroupMount[]): readonly Hierarchy[] | undefined {
  const find = (controller: string): string | undefined => {
    const line = own
      .map((text) => text.split(":"))
      .find((fields) => fields[1]?.split(",").includes(controller));
    const mount = mounts.find(
      ({ type, controllers }) => type === "cgroup" && controllers.includes(controller),
    );
    return line === undefined || mount === undefined ? undefined : folderOf(line.slice(2).join(":"), mount);
  };
  const memory = find("memory");
  const pids = find("pids");
  if (memory === undefined || pids === undefined) return undefined;
  const memorySettings = ({ memoryBytes }: GroupLimits) =>
    [["memory.limit_in_bytes", String(memoryBytes)]] as const;
  const pidsSettings = ({ processes }: GroupLimits) => [["pids.max", String(processes)]] as const;
  if (memory === pids) {
    const settings = (limits: GroupLimits) => [...memorySettings(limits), ...pidsSettings(limits)];
    return [{ folder: memory, forInner: wholeMemory, settings }];
  }
  return [
    { folder: memory, forInner: wholeMemory, settings: memorySettings },
    { folder: pids, forInner: [], settings: pidsSettings },
  ];
}

/**
 * In version 2 a group with processes has no subgroups with limits, so a group beside the own one is used: its parent
 * hands the controllers on already.
 */
function version2(own: readonly string[], mounts: readonly GroupMount[]): readonly Hierarchy[] | undefined {
  const line = own.find((text) => text.startsWith("0::"));
  const mount = mounts.find(({ type }) => type === "cgroup2");
  const folder = line === undefined || mount === undefined ? undefined : folderOf(line.slice(3), mount);
  if (folder === undefined || mount === undefined) return undefined;
  const parent = folder === mount.path || folder === `${mount.path}/` ? mount.path : dirname(folder);
  const handedOn = readFileSync(join(parent, "cgroup.subtree_control"), "utf8").trim().split(" ");
  if (!handedOn.includes("memory") || !handedOn.includes("pids")) return undefined;
  return [
    {
      folder: parent,
      forInner: [["cgroup.subtree_control", "+memory +pids"]],
      settings: ({ memoryBytes, processes }) => [
        ["memory.max", String(memoryBytes)],
        ["pids.max", String(processes)],
      ],
    },
  ];
}
