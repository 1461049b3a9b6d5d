/**
 * Docker for tests, in namespaces of its own: processes, mounts, network, and a root that is read-only except for one
 * folder. Its bridge, rules of the firewall, mounts and containers exist only there, so they end with its first process,
 * which ends when this process does. It changes `/etc` for itself alone: names of hosts and certificates of registries.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, readFileSync, rmdirSync } from "node:fs";
import { basename, join } from "node:path";
import { type ProcessOutcome, runProcess, waitUntil } from "@toolcrib/testing";

/** Programs and the packages of Debian that have them. */
const needed = {
  "/usr/bin/unshare": "util-linux",
  "/usr/bin/nsenter": "util-linux",
  "/usr/sbin/dockerd": "docker.io",
  "/usr/bin/docker": "docker.io",
  "/usr/sbin/ip": "iproute2",
  "/usr/sbin/iptables": "iptables",
  "/usr/bin/docker-compose": "docker-compose",
  "/usr/bin/docker-registry": "docker-registry",
  "/usr/bin/skopeo": "skopeo",
} as const;

/** Returns what this machine lacks for Docker in namespaces; undefined where nothing is missing. */
export function reasonWithoutDocker(): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "only root on Linux can start Docker";
  const missing = Object.entries(needed).flatMap(([path, name]) => (existsSync(path) ? [] : [name]));
  if (missing.length > 0) return `not installed: ${[...new Set(missing)].join(", ")}`;
  const { status, stderr } = spawnSync("/usr/bin/unshare", [...namespaces, "/bin/sh", "-c", probe], {
    encoding: "utf8",
    env: { PATH: systemPath },
  });
  return status === 0 ? undefined : `this machine gives Docker no namespaces and mounts: ${stderr.trim()}`;
}

/** Programs of the system alone. */
const systemPath = "/usr/sbin:/usr/bin:/sbin:/bin";
const namespaces = [
  "--mount",
  "--net",
  "--pid",
  "--ipc",
  "--uts",
  "--mount-proc",
  "--fork",
  "--kill-child=KILL",
];

/** A script that fails where the kernel lacks a feature that Docker or the script below needs. */
const probe = `set -e
mount -o bind / /mnt && mount -o remount,bind,ro /mnt && umount /mnt
mount -t tmpfs tmpfs /run && mkdir /run/upper /run/work
mount -t overlay -o lowerdir=/etc,upperdir=/run/upper,workdir=/run/work overlay /etc
iptables --table nat --list > /run/rules
ip link add toolcrib0 type bridge`;

/** The address of the network in which containers are, as they reach what listens beside them. */
const bridgeAddress = "172.31.255.1";

/** `$1` is the folder that can be written, `$2` the group of the containers. The end of standard input ends everything. */
const script = `set -eu
ip link set lo up
mkdir "$1/docker"
mount --bind "$1" "$1"
mount -o remount,bind,ro /
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/etc /run/etc-work /run/opt /run/opt-work
mount -t overlay -o lowerdir=/etc,upperdir=/run/etc,workdir=/run/etc-work overlay /etc
mount -t overlay -o lowerdir=/opt,upperdir=/run/opt,workdir=/run/opt-work overlay /opt
echo '{}' > "$1/docker/daemon.json"
dockerd --config-file "$1/docker/daemon.json" --data-root "$1/docker/data" --exec-root /run/docker --pidfile /run/docker.pid \\
  --host unix:///run/docker.sock --bip ${bridgeAddress}/24 --cgroup-parent "$2" > "$1/docker/log" 2>&1 < /dev/null &
cat
`;

/** A running Docker. */
export class DockerDaemon implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #group: string;
  #first = 0;

  private constructor(child: ChildProcess, folder: string, group: string) {
    this.#child = child;
    this.#folder = folder;
    this.#group = group;
  }

  /** Starts Docker, and waits until it answers. @param folder all that it can write, `docker` in it for its own files */
  static async start(folder: string): Promise<DockerDaemon> {
    // The group of a daemon is its own: it is removed afterwards.
    const group = `${groupPrefix}${process.pid}`;
    removeAbandonedGroups();
    const args = [...namespaces, "/bin/sh", "-c", script, "docker", folder, group];
    const env = { PATH: systemPath, HOME: folder, TMPDIR: folder };
    const child = spawn("/usr/bin/unshare", args, { stdio: ["pipe", "inherit", "inherit"], env });
    const daemon = new DockerDaemon(child, folder, group);
    try {
      await daemon.#untilReady();
    } catch (cause) {
      await daemon[Symbol.asyncDispose]();
      throw new Error(`Docker did not start:\n${daemon.log()}`, { cause });
    }
    return daemon;
  }

  async #untilReady(): Promise<void> {
    const children = `/proc/${this.#child.pid}/task/${this.#child.pid}/children`;
    await waitUntil(async () => {
      assert.equal(this.#child.exitCode, null, this.log());
      this.#first = Number.parseInt(readFileSync(children, "utf8"), 10);
      if (!(this.#first > 0) || !existsSync(`/proc/${this.#first}/root/run/docker.sock`)) return false;
      return (await this.run("docker version")).code === 0;
    });
  }

  /** Returns what the daemon wrote. */
  log(): string {
    const path = join(this.#folder, "docker/log");
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  #words(command: string, directory: string): readonly [string, ...string[]] {
    const target = ["--target", `${this.#first}`, "--mount", "--net", "--pid", "--ipc", "--uts"];
    const env = ["env", "-i", `PATH=${systemPath}`, `HOME=${this.#folder}`, `TMPDIR=${this.#folder}`];
    const inFolder = `cd "$0" && { ${command}\n}`;
    return ["/usr/bin/nsenter", ...target, ...env, "/bin/sh", "-c", inFolder, directory];
  }

  /** Runs a command of a shell where Docker runs. @param directory where it runs. @default the folder */
  async run(
    command: string,
    { directory, stdin = "" }: { readonly directory?: string; readonly stdin?: string } = {},
  ): Promise<ProcessOutcome> {
    const [program, ...args] = this.#words(command, directory ?? this.#folder);
    return await runProcess(program, args, { stdin, timeoutMs: 300_000 });
  }

  /** Runs a command that must succeed. @returns its output */
  async succeed(command: string, options: Parameters<DockerDaemon["run"]>[1] = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(command, options);
    assert.equal(code, 0, `${command}\n${stdout}${stderr}`);
    return stdout;
  }

  /** Starts a server beside Docker, and waits until `probe` succeeds. It ends with Docker. */
  async serve(command: string, probe: string): Promise<void> {
    const log = join(this.#folder, `${command.split(" ")[0]?.split("/").at(-1)}.log`);
    await this.succeed(`${command} < /dev/null > ${log} 2>&1 &`);
    await waitUntil(async () => (await this.run(probe)).code === 0, { what: probe, intervalMs: 100 });
  }

  /** Ends the daemon, its containers and all else in its namespaces, and waits for it. */
  async [Symbol.asyncDispose](): Promise<void> {
    const hasEnded = () => this.#child.exitCode !== null || this.#child.signalCode !== null;
    if (!hasEnded()) {
      const exited = once(this.#child, "exit");
      this.#child.stdin?.end();
      await exited;
    }
    removeGroups(this.#group);
  }
}

const groupPrefix = "/toolcrib-test-";

/** Folders in which the kernel has control groups: one, or one for each controller. */
function groupRoots(): readonly string[] {
  return ["/sys/fs/cgroup", ...globSync("/sys/fs/cgroup/*")];
}

/** Removes the groups of processes that ended; the kernel keeps them otherwise. */
function removeGroups(name: string): void {
  for (const folder of groupRoots().map((root) => join(root, name))) {
    if (!existsSync(folder)) continue;
    const within = globSync("**/", { cwd: folder }).toSorted().toReversed();
    for (const path of within) rmdirSync(join(folder, path));
    if (existsSync(folder)) rmdirSync(folder);
  }
}

/** Removes the groups of tests that were killed. */
function removeAbandonedGroups(): void {
  for (const path of groupRoots().flatMap((root) => globSync(`${root}${groupPrefix}*`))) {
    const name = `/${basename(path)}`;
    if (!existsSync(`/proc/${name.slice(groupPrefix.length)}`)) removeGroups(name);
  }
}
