/** The keys that sign packages and indexes of registries: a file that the user names, or the one of the home. */

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
import { shellQuote } from "../serve/shell-quote.ts";

/** The keys of a home, by what they sign: their files, and what is said when one is created. */
const keysOfHome = {
  publisher: { fileName: "publisher-key.pem", advice: "keep a copy, later versions need it" },
  registry: { fileName: "registry-key.pem", advice: "keep a copy, clients accept no other key" },
} as const;
const keyMaxBytes = 64 * 1024;

/** Reads the key in the file, or the publisher key of the home; see `signingKey`. */
export function publisherKey(context: CliContext, file: string | undefined): Promise<KeyObject> {
  return signingKey(context, file, "publisher");
}

/**
 * Reads the key in the file, or the one of the home for `use`, which is created at its first use.
 *
 * @throws {McpkgError} `MCPKG_KEY_INVALID`; {CliError} `CLI_FILE_UNUSABLE`
 */
export async function signingKey(
  context: CliContext,
  file: string | undefined,
  use: keyof typeof keysOfHome,
): Promise<KeyObject> {
  const { directory, options, output } = context;
  if (file !== undefined) {
    const hint = `name an existing key in PEM, or create one: openssl genpkey -algorithm ed25519 -out ${shellQuote(file)}; chmod 600 ${shellQuote(file)}`;
    return readKeyFile(resolve(directory, file), hint);
  }
  const { fileName, advice } = keysOfHome[use];
  const path = join(options.home, fileName);
  try {
    return await readKeyFile(path);
  } catch (error) {
    if (errnoOf((error as Error).cause) !== "ENOENT") throw error;
  }
  await makePrivateDirectory(options.home);
  const pem = newPublisherKey();
  // Another command may have created one meanwhile: its key counts.
  if (!(await createFile({ randomBytes }, path, pem))) return await readKeyFile(path);
  const key = readPrivateKey(pem);
  output.note(`Created the ${use} key ${keyIdOf(key)} in ${path}: ${advice}`);
  return key;
}

/** @param hint about a file that does not exist */
async function readKeyFile(path: string, hint?: string): Promise<KeyObject> {
  let content: FileContent;
  try {
    content = await readRegularFile(path, keyMaxBytes);
  } catch (cause) {
    const isAbsent = errnoOf(cause) === "ENOENT";
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read the key "${path}": ${reasonOf(cause)}`, {
      cause,
      hint: isAbsent ? hint : undefined,
    });
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
