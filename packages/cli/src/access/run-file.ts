/**
 * Reads and writes `<home>/run/gateway.json`, which gives commands the addresses of
 * this home's gateway. The gateway writes it when it listens and removes it when
 * it stops. The file is stale if its process is gone or belongs to another user.
 * Only its owner can write it, because commands send arguments to its socket.
 */

import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isOpenToOthers, removeDrafts, replaceFile } from "@toolcrib/files";
import { isJsonObject, parseJson } from "@toolcrib/json";

/** A gateway according to its run file. */
export interface RunningGateway {
  readonly pid: number;
  /** Base URL without a slash at the end. */
  readonly url: string;
  /** Path of the control socket, or name of the pipe; `undefined` for a gateway of an earlier version. */
  readonly controlPath: string | undefined;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly version: string;
  readonly auth: "token" | "none";
  /** Absolute paths of the configuration files. */
  readonly configFiles: readonly string[];
}

/** Age in milliseconds after which a draft is abandoned. */
const draftLifeMs = 60_000;

/** Returns the path of the run file below `home`. */
export function runFilePath(home: string): string {
  return join(home, "run", "gateway.json");
}

/** Writes the run file. A reader sees the old file or the new one. */
export async function writeRunFile(home: string, gateway: RunningGateway): Promise<void> {
  const path = runFilePath(home);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await removeDrafts(dirname(path), { writtenBeforeMs: Date.parse(gateway.startedAt) - draftLifeMs });
  await replaceFile({ randomBytes }, path, `${JSON.stringify(gateway, undefined, 2)}\n`);
}

/** Removes the run file if process `pid` wrote it. Never throws: the home may be gone. */
export function removeRunFile(home: string, pid: number): void {
  try {
    if (readRunFile(home)?.pid === pid) rmSync(runFilePath(home), { force: true });
  } catch {
    // A file that cannot be removed is stale; readers check its process.
  }
}

/** Returns the running gateway of `home`, if any. */
export function findRunningGateway(home: string): RunningGateway | undefined {
  const gateway = readRunFile(home);
  return gateway !== undefined && isOwnProcess(gateway.pid) ? gateway : undefined;
}

/** Reads the run file, unless it is invalid or other users can write it. */
function readRunFile(home: string): RunningGateway | undefined {
  const path = runFilePath(home);
  try {
    const { mode, size } = statSync(path);
    if (isOpenToOthers(mode, 0o022) || size > 64 * 1024) return undefined;
    const value = parseJson(readFileSync(path, "utf8"));
    if (!isJsonObject(value)) return undefined;
    const { pid, url, controlPath, startedAt, version, auth, configFiles } = value;
    const isValid =
      typeof pid === "number" &&
      Number.isSafeInteger(pid) &&
      pid > 1 &&
      typeof url === "string" &&
      URL.canParse(url);
    if (!isValid) return undefined;
    return {
      pid,
      url: url.replace(/\/$/, ""),
      controlPath: typeof controlPath === "string" && controlPath !== "" ? controlPath : undefined,
      startedAt: String(startedAt),
      version: String(version),
      auth: auth === "none" ? "none" : "token",
      configFiles: Array.isArray(configFiles) ? configFiles.map(String) : [],
    };
  } catch {
    // There is no run file, or another version wrote it in another format.
    return undefined;
  }
}

/** Whether process `pid` exists and belongs to this user. A process of another user only reuses the id. */
function isOwnProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
