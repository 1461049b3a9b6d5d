/**
 * `<home>/connections/CLIENT.json`: for each client that was connected, its file as it was before, and what was
 * written, so that the change can be taken back exactly. The record is written before the client's file: after a
 * crash between the two, taking back finds nothing to take back.
 */

import { createHash, randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import {
  makePrivateDirectory,
  readRegularFile,
  removeDrafts,
  removeFile,
  replaceFile,
  waitForLock,
} from "@toolcrib/files";
import { isJsonObject, parseJson } from "@toolcrib/json";
import { CliError } from "../cli-error.ts";

/** A connected client. */
export interface Connection {
  /** The file that was written. */
  readonly file: string;
  /** The name of the server in it. */
  readonly server: string;
  /** Its bytes before, as base64; undefined where there was no file. */
  readonly before: string | undefined;
  /** SHA-256 of the bytes that were written, as hexadecimal digits. */
  readonly writtenSha256: string;
  /** The gateway that its entry is for, as `ownerOf` returns it; undefined in records of earlier versions. */
  readonly owner: string | undefined;
  /** The token that was created for the client; undefined where none was. */
  readonly createdToken: string | undefined;
  /** Names of servers that were taken out of the file, because the gateway serves them. */
  readonly moved: readonly string[];
}

/**
 * `<home>/connections/CLIENT.left.json`: a file of a client that a disconnected home left as it was, because another home had
 * replaced its entry with --force. It is the only proof that the entry of before in the record of that home is of no use.
 */
export interface LeftFile {
  readonly file: string;
  /** SHA-256 of its bytes at that time, as hexadecimal digits. */
  readonly leftSha256: string;
}

/** Largest `LeftFile`. */
const leftMaxBytes = 64 * 1024;

/** Largest record: the largest file of a client as base64, and the rest. */
const recordMaxBytes = 100 * 1024 * 1024;

/** Longest wait for another command that changes connections, in milliseconds. */
const lockMaxMs = 10_000;

/** Takes the connections of a home for one command, until disposed. @throws {CliError} */
export async function lockConnections(home: string): Promise<Disposable> {
  const folder = join(home, "locks");
  await makePrivateDirectory(folder);
  const lock = await waitForLock(folder, "connections", lockMaxMs);
  if (lock !== undefined) {
    // A command that was killed left the secrets of a file in one. Nobody else writes here now.
    await removeDrafts(join(home, "connections")).catch(() => {});
    return lock;
  }
  throw new CliError("CLI_HOME_IN_USE", "Another command connects or disconnects clients", {
    hint: "wait for it, and repeat the command",
  });
}

/** Returns the connection of a client; undefined where there is none, or its record is damaged. */
export async function readConnection(home: string, clientId: string): Promise<Connection | undefined> {
  try {
    const { bytes } = await readRegularFile(pathOf(home, clientId), recordMaxBytes);
    const value = parseJson(new TextDecoder().decode(bytes), { maxLength: recordMaxBytes });
    if (!isJsonObject(value)) return undefined;
    const { file, server, before, writtenSha256, owner, createdToken, moved } = value;
    if (typeof file !== "string" || typeof server !== "string" || typeof writtenSha256 !== "string")
      return undefined;
    return {
      file,
      server,
      before: typeof before === "string" ? before : undefined,
      writtenSha256,
      owner: typeof owner === "string" ? owner : undefined,
      // The token of a client has its name; any other text could name another file.
      createdToken: createdToken === clientId ? createdToken : undefined,
      moved: Array.isArray(moved) ? moved.filter((name) => typeof name === "string") : [],
    };
  } catch {
    return undefined;
  }
}

/** Writes the connection of a client, which is not disconnected any more. @throws {FilesError} */
export async function writeConnection(home: string, clientId: string, connection: Connection): Promise<void> {
  await makePrivateDirectory(join(home, "connections"));
  await removeLeftFile(home, clientId);
  await replaceFile({ randomBytes }, pathOf(home, clientId), `${JSON.stringify(connection)}\n`);
}

/** Removes the connection of a client. @throws {FilesError} */
export async function removeConnection(home: string, clientId: string): Promise<void> {
  await removeFile(pathOf(home, clientId));
}

/** Returns the file that a home left to another one at its disconnect; undefined where there is none, or it is not readable. */
export async function readLeftFile(home: string, clientId: string): Promise<LeftFile | undefined> {
  try {
    const { bytes } = await readRegularFile(leftPathOf(home, clientId), leftMaxBytes);
    const value = parseJson(new TextDecoder().decode(bytes), { maxLength: leftMaxBytes });
    if (!isJsonObject(value)) return undefined;
    const { file, leftSha256 } = value;
    return typeof file === "string" && typeof leftSha256 === "string" ? { file, leftSha256 } : undefined;
  } catch {
    return undefined;
  }
}

/** Records that the disconnect of a client leaves its file to another home. @throws {FilesError} */
export async function writeLeftFile(home: string, clientId: string, left: LeftFile): Promise<void> {
  await makePrivateDirectory(join(home, "connections"));
  await replaceFile({ randomBytes }, leftPathOf(home, clientId), `${JSON.stringify(left)}\n`);
}

/** Forgets what `writeLeftFile` recorded: the entry of the home can be in use again. @throws {FilesError} */
export async function removeLeftFile(home: string, clientId: string): Promise<void> {
  await removeFile(leftPathOf(home, clientId));
}

/** Returns the ids of the connected clients. */
export function listConnections(home: string): readonly string[] {
  try {
    return readdirSync(join(home, "connections"))
      .flatMap((name) => /^([a-z-]+)\.json$/.exec(name)?.[1] ?? [])
      .sort();
  } catch {
    return [];
  }
}

/** Returns the SHA-256 of a text as hexadecimal digits. */
export function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function pathOf(home: string, clientId: string): string {
  return join(home, "connections", `${clientId}.json`);
}

/** Its name is none that `listConnections` takes for a connection. */
function leftPathOf(home: string, clientId: string): string {
  return join(home, "connections", `${clientId}.left.json`);
}
