/** Checks what the machine gives: disk space, open files, locks and renames in the home, sandboxes. */

import { randomBytes } from "node:crypto";
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { replaceFile, tryLock } from "@toolcrib/files";
import type { CliContext } from "../cli-context.ts";
import { safeLine } from "../output/output.ts";
import { createSandboxes } from "../sandbox/create-sandboxes.ts";
import { type Finding, failed, ok, warning } from "./check.ts";

const mebibyte = 1024 * 1024;
/** Free bytes below which calls may soon be refused, because they cannot be recorded. */
const diskMinBytes = 100 * mebibyte;
const diskLowBytes = 1024 * mebibyte;
/** Open files that a gateway with a few dozen servers and clients needs. */
const openFilesMin = 1024;

/** Checks the space of the disk with the home, and how much of it the audit trail uses. */
export function checkDisk({ options }: CliContext): Finding {
  const { home } = options;
  let at = home;
  while (lstatSync(at, { throwIfNoEntry: false }) === undefined && dirname(at) !== at) at = dirname(at);
  const { bavail, bsize } = statfsSync(at);
  const free = bavail * bsize;
  const text = `${inMebibytes(free)} free, ${inMebibytes(sizeOf(join(home, "audit")))} in the audit trail`;
  const fix = "free space, or move the home (--home); audit.retention limits the trail";
  if (free < diskMinBytes) return failed("disk", text, fix);
  return free < diskLowBytes ? warning("disk", text, fix) : ok("disk", text);
}

function sizeOf(folder: string): number {
  try {
    return readdirSync(folder).reduce(
      (sum, name) => sum + (lstatSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
  } catch {
    // There is no trail yet.
    return 0;
  }
}

function inMebibytes(bytes: number): string {
  return bytes < mebibyte ? "less than 1 MiB" : `${Math.floor(bytes / mebibyte).toLocaleString("en")} MiB`;
}

/** Checks the limit of open files, where the system shows it. */
export function checkOpenFiles({ platform }: CliContext): Finding[] {
  if (platform !== "linux") return [];
  let limits: string;
  try {
    limits = readFileSync("/proc/self/limits", "utf8");
  } catch {
    // A container can hide it.
    return [];
  }
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1];
  if (soft === undefined) return [];
  return [
    soft !== "unlimited" && Number(soft) < openFilesMin
      ? warning(
          "open files",
          `at most ${soft}; each server and client needs some`,
          `ulimit -n ${4 * openFilesMin}`,
        )
      : ok("open files", soft === "unlimited" ? "no limit" : `at most ${soft}`),
  ];
}

/** Checks that files in an existing home can be replaced and locked, by doing it in a folder that is removed again. */
export async function checkFileSystem({ options }: CliContext): Promise<Finding[]> {
  const { home } = options;
  if (lstatSync(home, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const subject = "file system";
  const fix = "use a home on a local disk (--home); some network drives have no locks";
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(home, ".doctor-"));
    const file = join(folder, "file");
    writeFileSync(file, "old");
    await replaceFile({ randomBytes }, file, "new");
    if (readFileSync(file, "utf8") !== "new") return [failed(subject, "a file cannot be replaced", fix)];
    using first = tryLock(folder, "test", "exclusive");
    using second = tryLock(folder, "test", "exclusive");
    if (first === undefined || second !== undefined) return [failed(subject, "locks have no effect", fix)];
    return [ok(subject, "files in the home can be replaced and locked")];
  } catch (error) {
    return [
      failed(subject, `a file in the home cannot be written or locked: ${safeLine(String(error))}`, fix),
    ];
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** Checks whether servers can be contained here. The reason of a tier names what is missing, such as a setting of the kernel. */
export async function checkTiers(context: CliContext): Promise<Finding> {
  const tiers = await createSandboxes(context).check();
  const best = tiers.find(({ isAvailable }) => isAvailable);
  if (best !== undefined) {
    const missing = best.features.filter(({ isEnforced }) => !isEnforced).map(({ name }) => name);
    const rest = missing.length === 0 ? "" : `; not enforced: ${missing.join(", ")}`;
    return ok("sandbox", `servers are contained by ${best.id}${rest}`);
  }
  const problems = tiers.flatMap(({ problems }) => problems);
  const reasons = problems.map(({ reason }) => safeLine(reason)).join("; ");
  const fixes = problems.map(({ fix }) => safeLine(fix)).join("; or ");
  return warning("sandbox", `this machine cannot contain servers: ${reasons}`, fixes);
}
