/**
 * Attempts to leave a sandbox, in each tier, as root and as an ordinary user. What a
 * contained program could not do, it can do outside: without that, a refusal proves
 * nothing.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, it, test } from "node:test";
import { runCommand, type SpawnRequest } from "@toolcrib/process";
import { defaultSandboxLimits, Sandboxes } from "@toolcrib/sandbox";
import { leftOut, makeTemporaryDirectory, runsAll, sampled, writeFiles } from "@toolcrib/testing";
import { openWithNetwork, type RowState, rows, rowsTable } from "./escapes/rows.ts";
import { type TierId, tierIds, unavailableReason } from "./sandbox-harness.ts";

const python = "/usr/bin/python3";
const probes = readFileSync(join(import.meta.dirname, "escapes/probes.py"), "utf8");
const machine = readFileSync(join(import.meta.dirname, "escapes/machine.py"), "utf8");
const secret = "the-secret-of-the-machine";

/** The descriptor with which every program is started, as if the gateway had inherited it. A tier uses 9 itself. */
const descriptor = 8;

/** The attacks that only a contained program can try. */
const withoutControl = ["make_a_mount_writable_again"];

type Results = { readonly [probe: string]: string };

/** Runs as root use an ordinary user, too. */
const isRoot = process.getuid?.() === 0;
const ordinary = 1000;
const users = isRoot ? [0, ordinary] : [process.getuid?.() ?? ordinary];

/** Returns `request` as `uid` starts it. */
function asUser(request: SpawnRequest, uid: number): SpawnRequest {
  if (!isRoot || uid === 0) return request;
  const words = ["--reuid", String(uid), "--regid", String(uid), "--clear-groups", "--"];
  return {
    ...request,
    program: "/usr/bin/setpriv",
    args: [...words, request.program, ...request.args],
  };
}

/** Starts `request` with one more descriptor, which leads to the secret. */
function withDescriptor(request: SpawnRequest, secretFile: string): SpawnRequest {
  const script = `file=$1; shift; exec ${descriptor}<"$file"; exec "$@"`;
  const args = ["-c", script, "sh", secretFile, request.program, ...request.args];
  return { ...request, program: "/bin/sh", args };
}

function giveTo(uid: number, path: string): void {
  if (!isRoot) return;
  lchownSync(path, uid, uid);
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) giveTo(uid, join(path, name));
}

/** The folders, servers and processes of `uid` that probes try to reach. */
async function startMachine(uid: number) {
  const directory = await makeTemporaryDirectory();
  const folder = directory.path;
  writeFiles(folder, {
    "hidden/secret": secret,
    "home/notes": secret,
    "home/.ssh/id": secret,
    "gateway/state/other/file": secret,
    "gateway/tokens/client": secret,
    "shown/file": "shown",
    "shown/moved": "shown",
  });
  for (const name of ["written", "written/mount", "temporary"]) mkdirSync(join(folder, name));
  chmodSync(folder, 0o755);
  const setuid = join(folder, "shown/id");
  copyFileSync("/usr/bin/id", setuid);
  giveTo(uid, folder);
  if (isRoot) chownSync(setuid, 0, 0);
  chmodSync(setuid, 0o4755);
  const { program, args } = asUser({ program: python, args: ["-c", machine], env: {} }, uid);
  const child = spawn(program, args, {
    cwd: join(folder, "hidden"),
    env: { FOLDER: folder, SECRET: secret },
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const facts = {
    ...(JSON.parse(line) as object),
    secret,
    descriptor,
    setuid,
    secretFile: join(folder, "hidden/secret"),
    hidden: join(folder, "hidden"),
    home: join(folder, "home"),
    gateway: join(folder, "gateway"),
    shown: join(folder, "shown"),
    written: join(folder, "written"),
    mountPoint: join(folder, "written/mount"),
    remount: join(folder, "shown"),
  };
  return {
    folder,
    facts,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await once(child, "exit");
      await directory[Symbol.asyncDispose]();
    },
  };
}

type Machine = Awaited<ReturnType<typeof startMachine>>;

function requestOf({ folder, facts }: Machine, group: string, names: readonly string[] = []): SpawnRequest {
  return {
    program: python,
    args: ["-c", probes, group, ...names],
    env: { PATH: "/usr/bin:/bin", HOME: join(folder, "home"), FACTS: JSON.stringify(facts) },
    directory: join(folder, "written"),
  };
}

async function resultsOf(request: SpawnRequest): Promise<Results> {
  const { code, stdout, stderr } = await runCommand(request, {
    timeoutMs: 120_000,
    outputMaxBytes: 1 << 20,
  });
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout.toString()) as Results;
}

interface ContainedOptions {
  readonly group: string;
  /** @default all of the group */
  readonly names?: readonly string[];
  readonly network?: "deny" | "allow";
}

async function contained(
  tier: TierId,
  uid: number,
  machine: Machine,
  { group, names, network = "deny" }: ContainedOptions,
) {
  const { folder, facts } = machine;
  // Root prepares here what another user starts, who could not join a group of root.
  const hasGroups = uid === process.getuid?.();
  const sandboxes = new Sandboxes(
    { uid, gid: uid, temporaryDirectory: join(folder, "temporary"), userHome: join(folder, "home") },
    { tiers: [tier], hasGroups },
  );
  const [report] = await sandboxes.check();
  const isGrouped =
    report?.features.some(({ by, isEnforced }) => by === "control group" && isEnforced) === true;
  await using prepared = await sandboxes.prepare(requestOf(machine, group, names), {
    network,
    readPaths: [join(folder, "shown")],
    writePaths: [join(folder, "written")],
    home: "temporary",
    hiddenPaths: [join(folder, "gateway")],
    limits: { ...defaultSandboxLimits, memoryBytes: 1 << 30 },
  });
  giveTo(uid, join(folder, "temporary"));
  const request = withDescriptor(asUser(prepared.request, uid), facts.secretFile);
  return { results: await resultsOf(request), isGrouped };
}

/** Returns what `uid` can do outside; root does what only root can. */
async function uncontained(uid: number, machine: Machine): Promise<Results> {
  const request = withDescriptor(requestOf(machine, "escape"), machine.facts.secretFile);
  const env = { ...request.env, SECRET_OF_THE_GATEWAY: secret };
  const own = await resultsOf(asUser({ ...request, env }, uid));
  if (!isRoot || uid === 0) return own;
  const ofRoot = await resultsOf({ ...request, env });
  return Object.fromEntries(
    Object.entries(own).map(([name, result]) => [
      name,
      result === "done" ? result : (ofRoot[name] ?? result),
    ]),
  );
}

/** Whether an attempt succeeds; undefined where that depends on the kernel. */
function opennessOf(state: RowState, uid: number, isGrouped: boolean): boolean | undefined {
  if (state === "depends") return undefined;
  if (state === "group") return !isGrouped;
  if (state === "root-group") return !isGrouped && uid === 0;
  return state === "open";
}

const missing = existsSync(python) ? undefined : `${python} is not installed`;

/** One in this many runs in a quick run. */
const sampleStep = 4;

const combinations = tierIds.flatMap((tier) => users.toReversed().map((uid) => ({ tier, uid })));

for (const { tier, uid } of sampled(combinations, sampleStep)) {
  const reason = missing ?? (await unavailableReason(tier));
  const skip = reason === undefined ? false : `${tier} cannot be tested here: ${reason}`;
  describe(`a program of user ${uid} in the sandbox of ${tier}`, { skip }, () => {
    it("does not get out, except where the table says so", async () => {
      await using machine = await startMachine(uid);
      const outside = await uncontained(uid, machine);
      const { results: inside, isGrouped } = await contained(tier, uid, machine, { group: "escape" });
      const possible = Object.keys(outside).filter((name) => outside[name] === "done");
      // Both directions: what is blocked is refused, and what is not blocked is possible.
      const wrong = rows.flatMap(({ what, probes, tiers }) =>
        probes.flatMap((name) => {
          const isOpen = opennessOf(tiers[tier], uid, isGrouped);
          const hasEscaped = inside[name] === "done";
          const isWrong =
            isOpen === undefined || (!possible.includes(name) && !hasEscaped) ? false : hasEscaped !== isOpen;
          return isWrong ? [`${name} (${what}) is ${hasEscaped ? "possible" : inside[name]}`] : [];
        }),
      );
      assert.deepEqual(wrong, []);
      assert.deepEqual(Object.keys(inside).toSorted(), rows.flatMap(({ probes }) => probes).toSorted());
      for (const name of withoutControl) assert.notEqual(inside[name], "done");
      // Some controls need what a machine may not have, such as IPv6 or keys of the kernel.
      if (isRoot) assert.ok(possible.length >= 60, `${possible.length} probes have a control`);
    });

    it("reaches the network of the machine where it is allowed", async () => {
      await using machine = await startMachine(uid);
      const names = [...openWithNetwork, "reach_a_socket_of_the_machine"];
      const { results } = await contained(tier, uid, machine, { group: "escape", names, network: "allow" });
      const closed = openWithNetwork.filter((name) => results[name] !== "done");
      assert.deepEqual(closed, []);
      assert.notEqual(results["reach_a_socket_of_the_machine"], "done");
    });

    it("can do what programs do", async () => {
      await using machine = await startMachine(uid);
      const { results } = await contained(tier, uid, machine, { group: "permitted" });
      const refused = Object.entries(results).filter(([, result]) => result !== "done");
      assert.deepEqual(refused, []);
      assert.ok(Object.keys(results).length >= 20);
    });
  });
}

test("the other tiers and users", leftOut(sampleStep), () => assert(runsAll));

test("the page Containment has the table of what was probed", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/reference/containment.md"), "utf8");
  assert.ok(page.includes(`\n${rowsTable()}\n`), `it needs this table:\n${rowsTable()}`);
});
