/** The logs of a home: the program log of the gateway, and the standard error of each server, package, hook and anchor. */

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { programLogName } from "../serve/program-log.ts";

/** A log. */
export interface LogSource {
  readonly kind: "gateway" | "process";
  /** Id of the server or package, or the name of another process; `gateway` for the program log. */
  readonly id: string;
  readonly path: string;
}

/** Most logs of a home that are read. */
const filesMaxCount = 500;

/** Returns the log of a process with this id, which may not exist. */
export function processLog(home: string, id: string): LogSource {
  return { kind: "process", id, path: join(home, "logs", `${encodeId(id)}.log`) };
}

/** Returns the program log, which may not exist. */
export function gatewayLog(home: string): LogSource {
  return { kind: "gateway", id: "gateway", path: join(home, "logs", `${programLogName}.log`) };
}

/** Returns the logs of `home`, the one that was written last at the end. */
export function listLogs(home: string): readonly LogSource[] {
  const folder = join(home, "logs");
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    // Before the first line there is no folder.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  return names
    .filter((name) => name.endsWith(".log"))
    .slice(0, filesMaxCount)
    .map((name) => {
      const path = join(folder, name);
      const source: LogSource =
        name === `${programLogName}.log`
          ? gatewayLog(home)
          : { kind: "process", id: decodeId(name.slice(0, -".log".length)), path };
      return { source, writtenMs: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
    })
    .sort((one, other) => one.writtenMs - other.writtenMs)
    .map(({ source }) => source);
}

// The launcher of processes encodes what a file name cannot have.
function encodeId(id: string): string {
  return id.replace(/[^A-Za-z0-9_.-]|^\./gu, (character) =>
    Buffer.from(character).toString("hex").toUpperCase().replace(/../g, "%$&"),
  );
}

function decodeId(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    // Another program made the file.
    return name;
  }
}
