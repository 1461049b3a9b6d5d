/** The key with which `pack` and `sign` sign packages: a file that the user names, or the one of the home. */

import type { KeyObject } from "node:crypto";
import { randomBytes } from "node:crypto";
import { join, resolve } from "node:path";
import {
  createFile,
  errnoOf,
  type FileContent,
  isOpenToOthers,
  makePrivateDirectory,
  readRegularFile,
  reasonOf,
} from "@toolcrib/files";
import { keyIdOf, newPublisherKey, readPrivateKey } from "@toolcrib/mcpkg";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";

const keyFileName = "publisher-key.pem";
const keyMaxBytes = 64 * 1024;

/**
 * Reads the key in the file, or that of the home, which is created at its first use.
 *
 * @throws {McpkgError} `MCPKG_KEY_INVALID`; {CliError} `CLI_FILE_UNUSABLE`
 */
export async function publisherKey(context: CliContext, file: string | undefined): Promise<KeyObject> {
  const { directory, options, output } = context;
  if (file !== undefined) return readKeyFile(resolve(directory, file));
  const path = join(options.home, keyFileName);
  try {
    return await readKeyFile(path);
  } catch (error) {
    if (errnoOf((error as Error).cause) !== "ENOENT") throw error;
  }
  makePrivateDirectory(options.home);
  const pem = newPublisherKey();
  // Another command may have created one meanwhile: its key counts.
  if (!(await createFile({ randomBytes }, path, pem))) return await readKeyFile(path);
  const key = readPrivateKey(pem);
  output.note(`Created the publisher key ${keyIdOf(key)} in ${path}: keep a copy, later versions need it`);
  return key;
}

async function readKeyFile(path: string): Promise<KeyObject> {
  let content: FileContent;
  try {
    content = await readRegularFile(path, keyMaxBytes);
  } catch (cause) {
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read the key "${path}": ${reasonOf(cause)}`, { cause });
  }
  const { bytes, mode } = content;
  if (mode !== undefined && isOpenToOthers(mode)) {
    throw new CliError(
      "CLI_FILE_UNUSABLE",
      `Cannot use the key "${path}": other users of this machine can read or change it`,
      { hint: `if it was always yours alone, run: chmod 600 ${path}` },
    );
  }
  return readPrivateKey(Buffer.from(bytes).toString("utf8"));
}
