/**
 * A machine with a systemd of its own that is thrown away, see `boot.sh`: what a test does in it changes nothing of the
 * machine that runs the test. It ends with the process of the test, however that ends.
 */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ProcessOutcome, runProcess, startServerProcess, waitUntil } from "@toolcrib/testing";

const boot = join(import.meta.dirname, "boot.sh");
const root = join(import.meta.dirname, "../../../..");
const folders = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];
const namespaces = ["--mount", "--propagation", "private", "--pid", "--ipc", "--uts", "--net"];

/** A machine that runs. Disposing it shuts it down. */
export interface ThrowawayMachine extends AsyncDisposable {
  /** Runs a command line as root in the machine. */
  run(command: string, options?: { readonly stdin?: string }): Promise<ProcessOutcome>;
  /** Runs a command line in the machine that does not end, until what it wrote to its output matches. @returns its output */
  runUntil(command: string, pattern: RegExp): Promise<string>;
}

/** Returns why no machine can be started here; undefined where one can. @param programs what it needs of this machine */
export async function reasonWithoutMachine(...programs: readonly string[]): Promise<string | undefined> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "a machine needs root on Linux";
  if (!existsSync("/lib/systemd/systemd")) return "systemd is not installed";
  for (const program of ["unshare", "nsenter", "setpriv", "pivot_root", ...programs])
    if (!folders.some((folder) => existsSync(join(folder, program)))) return `${program} is not installed`;
  const mounts =
    "mount -t tmpfs tmpfs /mnt && mount -t cgroup2 cgroup2 /mnt && mkdir /mnt/$0 && rmdir /mnt/$0";
  const words = [...namespaces, "--cgroup", "--fork", "sh", "-c", mounts, newName()];
  const { code, stderr } = await runProcess("unshare", words);
  return code === 0 ? undefined : `this machine gives no namespaces and control groups: ${stderr.trim()}`;
}

/** Boots a machine and waits until all of its units are active. The checkout is at `/opt/checkout`. */
export async function startMachine(): Promise<ThrowawayMachine> {
  const name = newName();
  // Ends with this process, even where that is killed.
  const words = ["--pdeathsig", "KILL", "unshare", ...namespaces, "--fork", "--kill-child", boot];
  const program = await startServerProcess("setpriv", [...words, root, process.execPath, name], {
    urlPattern: /The machine boots/,
  });
  const first = readFileSync(`/proc/${program.pid}/task/${program.pid}/children`, "utf8").trim();
  const enter = [
    "--target",
    first,
    "--mount",
    "--uts",
    "--ipc",
    "--net",
    "--pid",
    "--cgroup",
    "--root",
    "--wd",
  ];
  const clean = ["env", "-i", "HOME=/root", `PATH=/usr/local/sbin:/usr/local/bin:${folders.join(":")}`];
  const line = (command: string) => [...enter, "--", ...clean, "sh", "-c", command];
  const run: ThrowawayMachine["run"] = (command, options) => runProcess("nsenter", line(command), options);
  const machine: ThrowawayMachine = {
    run,
    async runUntil(command, pattern) {
      await using follower = await startServerProcess("nsenter", line(command), { urlPattern: pattern });
      return follower.stdout();
    },
    async [Symbol.asyncDispose]() {
      await run("systemctl --no-block poweroff");
      const hasEnded = () => !existsSync(`/proc/${first}`);
      await waitUntil(hasEnded, { what: "the machine shuts down" }).finally(() =>
        program[Symbol.asyncDispose](),
      );
      await removeGroups(name);
    },
  };
  try {
    const state = await waitUntil(async () => {
      const { stdout } = await run("systemctl is-system-running");
      return /^(?:running|degraded)$/.exec(stdout.trim())?.[0];
    });
    assert.equal(state, "running", (await run("systemctl --failed --no-pager")).stdout);
    return machine;
  } catch (error) {
    await program[Symbol.asyncDispose]();
    await removeGroups(name);
    throw error;
  }
}

function newName(): string {
  return `toolcrib-machine-${randomUUID()}`;
}

/** Removes the control groups of a machine whose processes have ended. */
async function removeGroups(name: string): Promise<void> {
  const script =
    'mount -t tmpfs tmpfs /mnt && mount -t cgroup2 cgroup2 /mnt && find "/mnt/$0" -depth -type d -exec rmdir {} +';
  const remove = () =>
    runProcess("unshare", ["--mount", "--propagation", "private", "sh", "-c", script, name]);
  // The kernel counts a process as a member for a moment after its end.
  await waitUntil(async () => (await remove()).code === 0, {
    intervalMs: 100,
    timeoutMs: 10_000,
    what: `the control groups of ${name} are removed`,
  });
}
