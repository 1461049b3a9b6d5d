/** Runs programs in the sandboxes of this machine. */

import { tmpdir } from "node:os";
import { type ContainedRequest, runCommand } from "@toolcrib/process";
import { chooseStartParent, defaultSandboxLimits, Sandboxes, type SandboxPolicy } from "@toolcrib/sandbox";

/** The tiers of Linux, strongest first. */
export const tierIds = ["bubblewrap", "unshare"] as const;

/** One of them. */
export type TierId = (typeof tierIds)[number];

/** The sandboxes of the user of this test, of one tier or of the strongest one. */
export function createSandboxes(
  tier?: TierId,
  totals: { readonly processes?: number; readonly sandboxes?: number } = {},
): Sandboxes {
  return new Sandboxes(
    {
      uid: process.getuid?.() ?? -1,
      gid: process.getgid?.() ?? -1,
      temporaryDirectory: chooseStartParent(tmpdir()),
      userHome: "/home/nobody-here",
    },
    { tiers: tier === undefined ? tierIds : [tier], totals },
  );
}

/** A policy that allows nothing, with `changes`. */
export function strictPolicy(changes: Partial<SandboxPolicy> = {}): SandboxPolicy {
  return {
    network: "deny",
    readPaths: [],
    writePaths: [],
    home: "temporary",
    hiddenPaths: [],
    limits: defaultSandboxLimits,
    ...changes,
  };
}

/** Why a tier cannot be tested here; undefined where it works. */
export async function unavailableReason(tier?: TierId): Promise<string | undefined> {
  const reports = await createSandboxes(tier).check();
  if (reports.some(({ isAvailable }) => isAvailable)) return undefined;
  return reports.flatMap(({ problems }) => problems.map(({ reason }) => reason)).join("; ");
}

/** The end of a program. */
export interface Ended {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `args` with /bin/sh or another program within `policy`. */
export async function runContained(
  args: readonly string[],
  policy: SandboxPolicy,
  {
    program = "/bin/sh",
    directory = "/",
    env = {},
    tier,
  }: {
    readonly program?: string;
    readonly directory?: string;
    readonly env?: { readonly [name: string]: string };
    /** @default the strongest that works */
    readonly tier?: TierId;
  } = {},
): Promise<Ended> {
  const request = { program, args, env: { PATH: "/usr/bin:/bin", ...env }, directory };
  await using contained: ContainedRequest = await createSandboxes(tier).prepare(request, policy);
  return await run(contained.request);
}

/** Runs a request as it is. */
export async function run(request: ContainedRequest["request"]): Promise<Ended> {
  const { code, stdout, stderr } = await runCommand(request, { timeoutMs: 30_000, outputMaxBytes: 1 << 20 });
  return { code, stdout: stdout.toString("utf8"), stderr };
}

/** Quotes a path for a shell: the folder of temporary files can have any name. */
export function quoted(path: string): string {
  return `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
