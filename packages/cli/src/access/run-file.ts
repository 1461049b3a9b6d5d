/**
 * Reads and writes `<home>/run/gateway-<pid>.json`, one file for each gateway of the
 * home, which gives commands its addresses. The gateway writes it when it listens and
 * removes it when it stops. A file is stale if its process is gone, belongs to another user, or is another one that
 * got the same id: process 1 exists in every container. Only this user or root can have written a file that counts,
 * because commands send arguments to its socket, and tokens to its address.
 */

import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { isOpenToOthers, openRegularFile, removeDrafts, replaceFile } from "@toolcrib/files";
import { isJsonObject, parseJson } from "@toolcrib/json";
import { acceptsControl, isTrustedOwner } from "./control-probe.ts";
import { processStartOf } from "./process-start.ts";

const runFileMaxBytes = 64 * 1024;

/** A gateway according to its run file. */
export interface RunningGateway {
  readonly pid: number;
  /** When its process started (`processStartOf`); absent without `/proc` and for a gateway of an earlier version. */
  readonly processStart?: string;
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

const fileName = /^gateway-([1-9][0-9]{0,9})\.json$/;
/** Maximum number of run files that are read. */
const filesMaxCount = 100;

function runDirectory(home: string): string {
  return join(home, "run");
}

/** Writes the run file of this process. A reader sees the old file or the new one. Removes files of gateways that have ended. */
export async function writeRunFile(home: string, gateway: RunningGateway): Promise<void> {
  const directory = runDirectory(home);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await removeDrafts(directory, { writtenBeforeMs: Date.parse(gateway.startedAt) - draftLifeMs });
  for (const pid of staleRunPids(home)) removeRunFile(home, pid);
  const path = join(directory, `gateway-${gateway.pid}.json`);
  const processStart = processStartOf(gateway.pid);
  await replaceFile({ randomBytes }, path, `${JSON.stringify({ ...gateway, processStart }, undefined, 2)}\n`);
}

/** Removes the run file of process `pid`. Never throws: the home may be gone. */
export function removeRunFile(home: string, pid: number): void {
  try {
    rmSync(join(runDirectory(home), `gateway-${pid}.json`), { force: true });
  } catch {
    // A file that cannot be removed is stale; readers check its process.
  }
}

/** Returns the gateways of `home` whose processes run, the one that started last first. */
export function findRunningGateways(home: string): readonly RunningGateway[] {
  return listRunFiles(home)
    .flatMap(({ name, pid }) => {
      const gateway = readRunFile(join(runDirectory(home), name));
      return gateway?.pid === pid && isRunning(pid, gateway.processStart) ? [gateway] : [];
    })
    .sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1));
}

/**
 * Returns those of the running gateways that may be sent a token, the one that started last first: the process is the
 * one that wrote the file, or, where that is not known, its control socket accepts connections.
 */
export async function findProvenGateways(home: string): Promise<readonly RunningGateway[]> {
  const found = await Promise.all(
    findRunningGateways(home).map(async (gateway) => ((await isProvenGateway(gateway)) ? [gateway] : [])),
  );
  return found.flat();
}

/** Whether the process of a gateway that was found still runs, as `findProvenGateways` knows it. */
export async function isProvenGateway({ pid, processStart, controlPath }: RunningGateway): Promise<boolean> {
  if (!isRunning(pid, processStart)) return false;
  return processStart !== undefined || (controlPath !== undefined && (await acceptsControl(controlPath)));
}

/** Returns the processes of run files whose gateway has ended. */
export function staleRunPids(home: string): readonly number[] {
  return listRunFiles(home).flatMap(({ name, pid }) => {
    const known = readRunFile(join(runDirectory(home), name));
    return isRunning(pid, known?.processStart) ? [] : [pid];
  });
}

function listRunFiles(home: string): readonly { readonly name: string; readonly pid: number }[] {
  let names: string[];
  try {
    names = readdirSync(runDirectory(home));
  } catch {
    // Without the directory, no gateway has run.
    return [];
  }
  return names
    .flatMap((name) => {
      const pid = fileName.exec(name)?.[1];
      return pid === undefined ? [] : [{ name, pid: Number(pid) }];
    })
    .slice(0, filesMaxCount);
}

/** Reads the run file at `path`, unless it is invalid, or other users wrote it or can. */
function readRunFile(path: string): RunningGateway | undefined {
  try {
    const text = readPrivateText(path);
    if (text === undefined) return undefined;
    const value = parseJson(text);
    if (!isJsonObject(value)) return undefined;
    const { pid, processStart, url, controlPath, startedAt, version, auth, configFiles } = value;
    const isValid =
      typeof pid === "number" &&
      Number.isSafeInteger(pid) &&
      pid > 0 &&
      typeof url === "string" &&
      URL.canParse(url);
    if (!isValid) return undefined;
    return {
      pid,
      ...(typeof processStart === "string" ? { processStart } : {}),
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

/** Never waits for a pipe. Returns `undefined` for a file that others wrote or can write, or that is too long. @throws the file system's error. */
function readPrivateText(path: string): string | undefined {
  const descriptor = openRegularFile(path);
  try {
    const { mode, size, uid } = fstatSync(descriptor);
    const isTrusted = isTrustedOwner(uid) && !isOpenToOthers(mode, 0o022) && size <= runFileMaxBytes;
    return isTrusted ? readFileSync(descriptor, "utf8") : undefined;
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Whether process `pid` runs and belongs to this user. A process of another user only reuses the id, and so does one that
 * started at another time. Process 1 always runs: without its start it says nothing.
 */
function isRunning(pid: number, processStart: string | undefined): boolean {
  if (processStart === undefined && pid === 1) return false;
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return processStart === undefined || processStartOf(pid) === processStart;
}
