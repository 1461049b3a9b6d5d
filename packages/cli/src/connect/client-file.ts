/** Reads and writes the file of a client. */

import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, statSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type ClientProgram, clientPrograms, filesOf, type UserPlaces } from "@toolcrib/clients";
import { didYouMean } from "@toolcrib/diagnostics";
import { errnoOf, FilesError, readRegularFile, reasonOf, replaceFile } from "@toolcrib/files";
import { CliError } from "../cli-error.ts";
import type { ProcessContext } from "../process-context.ts";
import { removeAbandonedDrafts } from "../write-user-file.ts";

/** Largest file of a client, in bytes. */
const fileMaxBytes = 64 * 1024 * 1024;

/** Returns the client with this id. @throws {CliError} */
export function findClient(id: string): ClientProgram {
  const found = clientPrograms.find((program) => program.id === id);
  if (found !== undefined) return found;
  const ids = clientPrograms.map((program) => program.id);
  throw new CliError("CLI_CLIENT_NOT_FOUND", `No client is called ${JSON.stringify(id)}`, {
    hint: didYouMean(id, ids) ?? `the clients are ${ids.join(", ")}`,
  });
}

/** Returns where this user's programs keep their files. */
export function placesOf({ userDirectory, env, platform }: ProcessContext): UserPlaces {
  const given = (name: string) => (env[name] === undefined || env[name] === "" ? undefined : env[name]);
  if (platform === "darwin") {
    const settings = join(userDirectory, "Library", "Application Support");
    return { platform, home: userDirectory, settings, env };
  }
  if (platform === "win32") {
    const settings = given("APPDATA") ?? join(userDirectory, "AppData", "Roaming");
    return { platform, home: userDirectory, settings, env };
  }
  return {
    platform: "linux",
    home: userDirectory,
    settings: given("XDG_CONFIG_HOME") ?? join(userDirectory, ".config"),
    env,
  };
}

/**
 * Returns the path of a client's file: the first that exists, or whose folder does; without any, the usual one.
 * A folder says nothing where the client has another file in it. Of a client that merges its files, it is the last that
 * exists, whose entries count.
 */
export function clientFile(program: ClientProgram, context: ProcessContext): string {
  const files = filesOf(program, placesOf(context));
  const last = program.mergesFiles && files.findLast((file) => existsSync(file));
  if (last !== undefined) return last;
  const isAlone = (file: string) => !files.some((one) => dirname(one) === dirname(file) && existsSync(one));
  const found = files.find((file) => existsSync(file) || (existsSync(dirname(file)) && isAlone(file)));
  return found ?? (files[0] as string);
}

/** Whether the client has a file, or the folder for it, on this machine. */
export function isInstalled(program: ClientProgram, context: ProcessContext): boolean {
  const file = clientFile(program, context);
  // The home directory says nothing about a client.
  const folder = dirname(file);
  return existsSync(file) || (folder !== context.userDirectory && existsSync(folder));
}

/** Returns the text of a file; undefined where there is none. @throws {CliError} */
export async function readClientFile(path: string): Promise<string | undefined> {
  let bytes: Uint8Array;
  try {
    // Of a link to nothing, too, there is no file: writing creates it.
    if (!existsSync(path) && (await realpath(path).catch(errnoOf)) === "ENOENT") return undefined;
    ({ bytes } = await readRegularFile(path, fileMaxBytes));
  } catch (cause) {
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read ${path}: ${reasonOf(cause)}`, { cause });
  }
  if (bytes.length > fileMaxBytes) {
    throw new CliError("CLI_FILE_UNUSABLE", `${path} is larger than ${fileMaxBytes} bytes`);
  }
  try {
    // The mark at the start stays.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new CliError("CLI_FILE_UNUSABLE", `${path} is no UTF-8 text`, {
      hint: "save it as UTF-8, which its client reads",
      cause,
    });
  }
}

/** Fails where a file is read-only: its owner means that nobody changes it. @throws {CliError} */
export function requireWritable(path: string): void {
  if (!existsSync(path) || (statSync(path).mode & 0o200) !== 0) return;
  throw new CliError("CLI_FILE_UNUSABLE", `Cannot write ${path}: it is read-only`, {
    hint: "allow its owner to write, such as with chmod u+w, or add the server in the client itself",
  });
}

/**
 * Replaces a file at once, with its permissions; a new one is only for this user, as it can contain a token. Removes
 * what killed commands left beside it.
 *
 * @param before the text that was changed; undefined where there was no file
 * @returns false where the file has another text by now, such as one that its client wrote; it is left alone then
 * @throws {CliError}
 */
async function writeClientFile(path: string, before: string | undefined, text: string): Promise<boolean> {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const isReplaced = await replaceFile({ randomBytes }, path, text, {
      mode: 0o600,
      keepPermissions: true,
      followSymlink: true,
      isStillWanted: async () => (await readClientFile(path)) === before,
    });
    await removeAbandonedDrafts(path);
    return isReplaced;
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw new CliError(
      "CLI_FILE_UNUSABLE",
      `Cannot write ${path}: ${reasonOf(cause instanceof FilesError ? (cause.cause ?? cause) : cause)}`,
      { cause },
    );
  }
}

/** Number of attempts to change a file that its client changes at the same time. */
const attemptsMaxCount = 10;

/**
 * Changes a file that its client may change at the same time: what it writes meanwhile is changed, and not overwritten.
 *
 * @param edit receives the text of the file, undefined for none; without a result nothing is written
 * @throws {CliError}
 */
export async function changeClientFile(
  path: string,
  edit: (before: string | undefined) => string | undefined | Promise<string | undefined>,
): Promise<void> {
  for (let count = 1; count <= attemptsMaxCount; count += 1) {
    const before = await readClientFile(path);
    requireWritable(path);
    const text = await edit(before);
    if (text === undefined || (await writeClientFile(path, before, text))) return;
  }
  throw new CliError("CLI_FILE_UNUSABLE", `Cannot change ${path}: its client changes it all the time`, {
    hint: "close the client, and repeat the command",
  });
}
