/** Reads the files of clients on this machine. A file that is not usable is a problem with its place, never the end. */

import { lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  type ClientServer,
  type ImportSource,
  projectSources,
  readClientServers,
  userSources,
} from "@toolcrib/clients";
import { errnoOf, readRegularFile, reasonOf } from "@toolcrib/files";
import type { CliContext } from "../cli-context.ts";
import { placesOf } from "../connect/client-file.ts";
import type { FileProblem, LeftOut, Origin } from "./import-types.ts";

/** Largest file, in bytes. Claude Code keeps its history in its file. */
const fileMaxBytes = 64 * 1024 * 1024;
/** Most files of a folder, and most bytes of all files together. */
const folderMaxFiles = 200;
const totalMaxBytes = 256 * 1024 * 1024;

/** A server in a file. */
export interface FoundServer {
  readonly server: ClientServer;
  readonly origin: Origin;
}

/** The servers that the files declare. */
export interface FoundServers {
  readonly servers: readonly FoundServer[];
  /** Entries that only their clients can have. */
  readonly leftOut: readonly LeftOut[];
  readonly problems: readonly FileProblem[];
  readonly files: readonly string[];
}

/** Returns the files that clients can have here: of this user, and of the project in the current folder. */
export function knownSources(context: CliContext): readonly ImportSource[] {
  const places = placesOf(context);
  // In the home directory, the files of the user are no project.
  const isHome = context.directory === context.userDirectory;
  return [...userSources(places), ...(isHome ? [] : projectSources(context.directory, places.platform))];
}

/** Reads all files of `sources` that exist. */
export async function findServers(sources: readonly ImportSource[]): Promise<FoundServers> {
  const servers: FoundServer[] = [];
  const leftOut: LeftOut[] = [];
  const problems: FileProblem[] = [];
  const files: string[] = [];
  const seen = new Set<string>();
  let total = 0;
  for (const source of sources) {
    for (const path of pathsOf(source, problems)) {
      const identity = `${realPath(path)} ${source.sections.join(" ")}`;
      if (seen.has(identity)) continue;
      seen.add(identity);
      const text = await readText(path, problems);
      if (text === undefined) continue;
      total += text.length;
      if (total > totalMaxBytes) {
        problems.push(
          problemOf(path, "CLIENTS_FILE_TOO_LARGE", "The files together are too large; this one is not read"),
        );
        continue;
      }
      const read = readClientServers(text, { ...source, path });
      const { partsOfClient } = read;
      if (read.servers.length + read.problems.length + partsOfClient.length > 0) files.push(path);
      for (const { name, line, reason } of partsOfClient) {
        const origin = { client: source.client, file: path, line, name, project: source.project };
        leftOut.push({ origin, reason });
      }
      for (const { code, line, column, message } of read.problems) {
        problems.push({ code, file: path, line, column, message });
      }
      for (const server of read.servers) {
        const { name, line, project } = server;
        servers.push({ server, origin: { client: source.client, file: path, line, name, project } });
      }
    }
  }
  return { servers, leftOut, problems, files: [...new Set(files)] };
}

/** The files of a source that exist. */
function pathsOf(source: ImportSource, problems: FileProblem[]): readonly string[] {
  return expanded(source.path).flatMap((path) => filesAt(path, source, problems));
}

/** Replaces a part `*` of a path by each folder in its place. */
function expanded(path: string): readonly string[] {
  const [, before, after] = /^(.*?)[\\/]\*[\\/](.*)$/.exec(path) ?? [];
  if (before === undefined || after === undefined) return [path];
  try {
    const folders = readdirSync(before, { withFileTypes: true }).filter((one) => !one.isFile());
    const names = folders.map(({ name }) => name).sort();
    return names.slice(0, folderMaxFiles).map((name) => join(before, name, after));
  } catch {
    return [];
  }
}

function filesAt(path: string, { endings }: ImportSource, problems: FileProblem[]): readonly string[] {
  if (!isThere(path, problems)) return [];
  if (endings === undefined) return [path];
  try {
    const names = readdirSync(path)
      .filter((name) => endings.some((ending) => name.toLowerCase().endsWith(ending)))
      .sort();
    if (names.length > folderMaxFiles) {
      problems.push(
        problemOf(
          path,
          "CLI_FILE_UNUSABLE",
          `The folder has more than ${folderMaxFiles} files; the others are not read`,
        ),
      );
    }
    return names.slice(0, folderMaxFiles).map((name) => join(path, name));
  } catch (error) {
    problems.push(problemOf(path, "CLI_FILE_UNUSABLE", `The folder is not readable: ${reasonOf(error)}`));
    return [];
  }
}

/** A broken link or a folder without permission is a problem; that there is nothing is none. */
function isThere(path: string, problems: FileProblem[]): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    const errno = errnoOf(error);
    const isAbsent = (errno === "ENOENT" && !isLink(path)) || errno === "ENOTDIR";
    if (!isAbsent)
      problems.push(problemOf(path, "CLI_FILE_UNUSABLE", `The file is not readable: ${reasonOf(error)}`));
    return false;
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

async function readText(path: string, problems: FileProblem[]): Promise<string | undefined> {
  let bytes: Uint8Array;
  try {
    ({ bytes } = await readRegularFile(path, fileMaxBytes));
  } catch (error) {
    const reason = errnoOf(error) === "EINVAL" ? "it is no regular file" : reasonOf(error);
    problems.push(problemOf(path, "CLI_FILE_UNUSABLE", `The file is not readable: ${reason}`));
    return undefined;
  }
  if (bytes.length > fileMaxBytes) {
    problems.push(problemOf(path, "CLIENTS_FILE_TOO_LARGE", `The file is larger than ${fileMaxBytes} bytes`));
    return undefined;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
    const reason = isUtf16 ? "it is UTF-16; save it as UTF-8" : "it is no UTF-8 text";
    problems.push({
      ...problemOf(path, "CLIENTS_FILE_SYNTAX", `The file is not readable: ${reason}`),
      ...invalidPlace(bytes),
    });
    return undefined;
  }
}

/** The place of the first byte that is no UTF-8. */
function invalidPlace(bytes: Uint8Array): { readonly line: number; readonly column: number } {
  let [low, high] = [0, bytes.length];
  // The longest valid beginning; a character that is cut off at its end is valid so far.
  const isValid = (length: number) => {
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, length), { stream: true });
      return true;
    } catch {
      return false;
    }
  };
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (isValid(middle)) low = middle;
    else high = middle - 1;
  }
  const lines = new TextDecoder().decode(bytes.subarray(0, low)).split("\n");
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

function problemOf(file: string, code: string, message: string): FileProblem {
  return { code, file, line: 1, column: 1, message };
}
