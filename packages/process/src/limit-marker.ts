/**
 * A marker that a process cannot lose by accident: a resource limit of Linux.
 *
 * A process inherits its limits across fork, exec and `setsid`, also when its
 * environment is cleared. Without privileges a hard limit can only be lowered. The
 * limit is RLIMIT_RTTIME, which counts only for real-time scheduling; its value is
 * thousands of years, so that it restricts nothing. Any process can read it in
 * `/proc/PID/limits`.
 *
 * `prlimit` of util-linux sets the limit, and becomes the program. A machine
 * without it has the other signs of `process-tree.ts`. A process that lowers the
 * limit on purpose is not found by it; only a sandbox contains such a process.
 */

import { constants, existsSync, readFileSync } from "node:fs";
import { access, open } from "node:fs/promises";
import { isAbsolute } from "node:path";
import type { SpawnRequest } from "./spawn-child.ts";

const prlimitPaths = ["/usr/bin/prlimit", "/bin/prlimit"];
/** Launches of one gateway that have values of their own: the last six digits. */
const launchesMaxCount = 1_000_000;
/** Microseconds below which every value is where the limit is not set: about 32,000 years. */
const unlimitedMax = 10n ** 18n;

/** The values of one gateway. */
export class LimitMarker {
  /** The digits in front of the last six, in every process of the gateway and in no other. */
  readonly prefix: string;
  readonly #program: string;

  private constructor(program: string, prefix: bigint) {
    this.#program = program;
    this.prefix = String(prefix);
  }

  /** Chooses the values; returns undefined on a machine without `/proc` or `prlimit`. */
  static create(randomBytes: (count: number) => Uint8Array): LimitMarker | undefined {
    if (process.platform !== "linux") return undefined;
    const program = prlimitPaths.find((path) => existsSync(path));
    const own = ownLimit();
    const random = randomBytes(6);
    if (program === undefined || own === undefined || random.length < 6) return undefined;
    // Below the limit of this process, which a server of another gateway has.
    const most = (own < unlimitedMax ? own : unlimitedMax) / BigInt(launchesMaxCount);
    if (most < 1_000n) return undefined;
    const half = most / 2n;
    return new LimitMarker(
      program,
      half + (BigInt(`0x${Buffer.from(random).toString("hex")}`) % (half - 1n)),
    );
  }

  /** Returns the value for a launch, as `/proc/PID/limits` shows it. */
  valueOf(launch: number): string {
    return this.prefix + String(launch % launchesMaxCount).padStart(6, "0");
  }

  /** Whether a process with `limit` belongs to the gateway. */
  includes(limit: string | undefined): boolean {
    return limit?.length === this.prefix.length + 6 && limit.startsWith(this.prefix);
  }

  /** Returns `request` with the value of a launch. */
  mark(request: SpawnRequest, launch: number): SpawnRequest {
    return this.#withLimit(request, this.valueOf(launch));
  }

  /** Returns `request` with a limit that is not of the gateway, so that neither it nor one around it ends the program. */
  exempt(request: SpawnRequest): SpawnRequest {
    return this.#withLimit(request, String(BigInt(this.valueOf(0)) - 1n));
  }

  #withLimit({ program, args, ...rest }: SpawnRequest, value: string): SpawnRequest {
    return { ...rest, program: this.#program, args: [`--rttime=${value}:${value}`, "--", program, ...args] };
  }
}

/** Returns the hard limit in the text of `/proc/PID/limits`: digits, or `unlimited`. */
export function realtimeLimitIn(limits: string): string | undefined {
  return /^Max realtime timeout +\S+ +(\S+)/m.exec(limits)?.[1];
}

function ownLimit(): bigint | undefined {
  try {
    const limit = realtimeLimitIn(readFileSync("/proc/self/limits", "latin1"));
    if (limit === "unlimited") return unlimitedMax;
    return limit === undefined ? undefined : BigInt(limit);
  } catch {
    // Without /proc nothing could read the marker.
    return undefined;
  }
}

/**
 * Whether the kernel certainly starts the file at `path`: a native program, or a script with an
 * interpreter. Any other is started without `prlimit`, which could not tell why the system refuses it.
 */
export async function startsCertainly(path: string): Promise<boolean> {
  if (!isAbsolute(path)) return false;
  try {
    const header = await readHeader(path);
    if (!header.subarray(0, 2).equals(Buffer.from("#!"))) return isSameMachine(header);
    const interpreter = interpreterIn(header);
    if (interpreter === undefined) return false;
    await access(interpreter, constants.X_OK);
    return true;
  } catch {
    // The start of an unreadable file shows the reason.
    return false;
  }
}

let ownHeader: Promise<Buffer> | undefined;

/** Whether an ELF header has the class, byte order and machine of the running program. */
async function isSameMachine(header: Buffer): Promise<boolean> {
  ownHeader ??= readHeader(process.execPath);
  const own = await ownHeader;
  return [
    [0, 6],
    [18, 20],
  ].every(([start, end]) => header.subarray(start, end).equals(own.subarray(start, end)));
}

/** Returns the interpreter in the `#!` line at the start of a file. */
export function interpreterIn(header: Buffer): string | undefined {
  return /^#!\s*(\S+)/.exec(header.toString("latin1"))?.[1];
}

/** Returns the first 256 bytes of a file, or all of a shorter one. */
export async function readHeader(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
  return buffer.subarray(0, bytesRead);
}
