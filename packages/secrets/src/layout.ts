/**
 * The folders and files of the store in the home directory, and the check that only
 * their owner can use them.
 *
 *     secrets/NAME                 a secret in a plain file, created by hand
 *     secrets/.store/key           the key, unless it is stored elsewhere
 *     secrets/.store/NAME.sealed   one encrypted secret
 *     secrets/.store/write.lock    lock of the process that changes the store
 *     secrets/.store/.*.draft      a file that is being written
 *
 * Names of secrets do not start with a full stop, so a plain file is never
 * mistaken for the store, nor a secret for the key.
 */

import { constants } from "node:fs";
import { lstat, open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isOpenToOthers } from "@toolcrib/files";
import { explainFileFailure, failureCode, isAbsence } from "./file-failure.ts";
import { SecretsError } from "./secrets-error.ts";

const sealedEnding = ".sealed";

/** Paths of one store. */
export interface StoreLayout {
  /** `<home>/secrets`. */
  readonly secretsFolder: string;
  readonly folder: string;
  readonly keyPath: string;
  sealedPath(name: string): string;
}

/** Returns the paths below `home`. No I/O. */
export function toStoreLayout(home: string): StoreLayout {
  const secretsFolder = join(home, "secrets");
  const folder = join(secretsFolder, ".store");
  return {
    secretsFolder,
    folder,
    keyPath: join(folder, "key"),
    sealedPath: (name) => join(folder, `${name}${sealedEnding}`),
  };
}

/** Returns the sorted names of the stored secrets; none when the store does not exist. */
export async function listStoredNames({ folder }: StoreLayout): Promise<readonly string[]> {
  try {
    const files = await readdir(folder);
    return files
      .filter((file) => file.endsWith(sealedEnding) && !file.startsWith("."))
      .map((file) => file.slice(0, -sealedEnding.length))
      .sort();
  } catch (error) {
    if (isAbsence(error)) return [];
    throw unreadable(folder, error);
  }
}

/**
 * Returns whether the store exists. Refuses one that other users can read or replace.
 *
 * @throws {SecretsError} `SECRETS_EXPOSED`, `SECRETS_DAMAGED`.
 */
export async function checkFolders({ secretsFolder, folder }: StoreLayout): Promise<boolean> {
  const outer = await statusOf(secretsFolder, "follow");
  const inner = await statusOf(folder, "stay");
  if (outer === undefined || inner === undefined) return false;
  if (!inner.isDirectory()) {
    throw new SecretsError(
      "SECRETS_DAMAGED",
      `Cannot use the secret store ${JSON.stringify(folder)}: it is not a folder`,
      {
        hint: "find out who created it, and move it away",
      },
    );
  }
  // A user who can write to the outer folder can replace the store.
  checkMode(secretsFolder, outer.mode, 0o022, "700");
  checkMode(folder, inner.mode, 0o077, "700");
  return true;
}

async function statusOf(path: string, links: "follow" | "stay") {
  try {
    return links === "stay" ? await lstat(path) : await stat(path);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw unreadable(path, error);
  }
}

function checkMode(path: string, mode: number, forbidden: number, wanted: string): void {
  if (!isOpenToOthers(mode, forbidden)) return;
  throw new SecretsError(
    "SECRETS_EXPOSED",
    `Cannot use ${JSON.stringify(path)}: its mode ${(mode & 0o777).toString(8)} gives other users of this machine access`,
    { hint: `run chmod ${wanted} ${path}, and replace the secrets if anyone may have read them` },
  );
}

/**
 * Returns the content of a file of the store; `undefined` when it does not exist. Follows no link.
 *
 * @throws {SecretsError} `SECRETS_EXPOSED`, `SECRETS_DAMAGED`, `SECRETS_UNREADABLE`.
 */
export async function readPrivateFile(path: string, maxBytes: number): Promise<Buffer | undefined> {
  try {
    // Windows has neither flag. Without O_NONBLOCK, opening a pipe would wait for its writer.
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    await using handle = await open(path, flags);
    const status = await handle.stat();
    if (!status.isFile()) throw notRegular(path);
    checkMode(path, status.mode, 0o077, "600");
    if (status.size > maxBytes) throw tooLong(path);
    // Files of the store are replaced whole. One that grows while it is read is not a file of the store.
    const bytes = Buffer.alloc(status.size + 1);
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    if (length > maxBytes) throw tooLong(path);
    return bytes.subarray(0, length);
  } catch (error) {
    if (error instanceof SecretsError) throw error;
    if (isAbsence(error)) return undefined;
    // The error for a link; on FreeBSD it is EMLINK.
    if (["ELOOP", "EMLINK", "EISDIR"].includes(failureCode(error))) throw notRegular(path);
    throw unreadable(path, error);
  }
}

function notRegular(path: string): SecretsError {
  return new SecretsError("SECRETS_DAMAGED", `Cannot use ${JSON.stringify(path)}: it is not a regular file`, {
    hint: "find out who created it, and move it away",
  });
}

function tooLong(path: string): SecretsError {
  return new SecretsError(
    "SECRETS_DAMAGED",
    `Cannot use ${JSON.stringify(path)}: it is longer than the format allows`,
    {
      hint: "restore it from a backup, or set the secret again",
    },
  );
}

function unreadable(path: string, cause: unknown): SecretsError {
  return new SecretsError(
    "SECRETS_UNREADABLE",
    `Cannot read ${JSON.stringify(path)}: ${explainFileFailure(cause)}`,
    {
      cause,
      hint: "give it to the user who runs Toolcrib",
    },
  );
}
