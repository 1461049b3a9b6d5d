/**
 * `<home>/run/gateway.json`: how commands find the gateway that serves this
 * home. Written when it listens, removed when it stops; stale when its process
 * is gone or is not ours. Readable by its owner only, because commands send a
 * token to the URL in it.
 */

import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isOpenToOthers, removeDrafts, replaceFile } from "@toolcrib/files";
import { isJsonObject, parseJson } from "@toolcrib/json";

/** A gateway that says it runs. */
export interface RunningGateway {
  readonly pid: number;
  /** Base URL without a slash at the end. */
  readonly url: string;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly version: string;
  readonly auth: "token" | "none";
  /** Absolute paths of the configuration files. */
  readonly configFiles: readonly string[];
}

/** A draft that was last written to this many milliseconds ago has no writer any more. */
const draftLifeMs = 60_000;

/** Path of the run file below `home`. */
export function runFilePath(home: string): string {
  return join(home, "run", "gateway.json");
}

/** Write the run file. A reader sees the old file or the new one. */
export async function writeRunFile(home: string, gateway: RunningGateway): Promise<void> {
  const path = runFilePath(home);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await removeDrafts(dirname(path), { writtenBeforeMs: Date.parse(gateway.startedAt) - draftLifeMs });
  await replaceFile({ randomBytes }, path, `${JSON.stringify(gateway, undefined, 2)}\n`);
}

/** Remove the run file if it is that of process `pid`. Never throws: it may be gone with its home. */
export function removeRunFile(home: string, pid: number): void {
  try {
    if (readRunFile(home)?.pid === pid) rmSync(runFilePath(home), { force: true });
  } catch {
    // A file that cannot be removed is stale from now on, which readers find out by the process.
  }
}

/** The gateway that runs for `home`; `undefined` when none does. */
export function findRunningGateway(home: string): RunningGateway | undefined {
  const gateway = readRunFile(home);
  return gateway !== undefined && isOwnProcess(gateway.pid) ? gateway : undefined;
}

/** What the run file says, if it is one and only its owner could have written it. */
function readRunFile(home: string): RunningGateway | undefined {
  const path = runFilePath(home);
  try {
    const { mode, size } = statSync(path);
    if (isOpenToOthers(mode, 0o022) || size > 64 * 1024) return undefined;
    const value = parseJson(readFileSync(path, "utf8"));
    if (!isJsonObject(value)) return undefined;
    const { pid, url, startedAt, version, auth, configFiles } = value;
    const isSound =
      typeof pid === "number" &&
      Number.isSafeInteger(pid) &&
      pid > 1 &&
      typeof url === "string" &&
      URL.canParse(url);
    if (!isSound) return undefined;
    return {
      pid,
      url: url.replace(/\/$/, ""),
      startedAt: String(startedAt),
      version: String(version),
      auth: auth === "none" ? "none" : "token",
      configFiles: Array.isArray(configFiles) ? configFiles.map(String) : [],
    };
  } catch {
    // No file, or half a one of a version that wrote it differently: no gateway is known.
    return undefined;
  }
}

/** Whether process `pid` lives and belongs to this user; that of another user has only taken its number. */
function isOwnProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
