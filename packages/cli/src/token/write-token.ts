/**
 * Creates and removes the token files of clients, each with its record on the audit trail. A token that is not on record
 * does not stay; a token that is revoked is gone whether or not that can be recorded. Records name tokens and hold none.
 */

import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { makeToken, tokenDirectory } from "@toolcrib/auth";
import { createFile, removeFile } from "@toolcrib/files";
import { toAuditClient } from "@toolcrib/store";
import { localIdentity } from "@toolcrib/tool";
import { openTrail } from "../audit/open-trail.ts";
import type { CliContext } from "../cli-context.ts";

/**
 * Creates the token called `name`, and never replaces one.
 *
 * @returns its file and the token; undefined where it exists
 * @throws {FilesError} when the file cannot be written
 * @throws {StoreError} when the audit trail cannot; there is no token then
 */
export async function writeToken(
  context: CliContext,
  name: string,
): Promise<{ readonly file: string; readonly token: string } | undefined> {
  const folder = tokenDirectory(context.options.home);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, name);
  const token = makeToken(randomBytes);
  if (!(await createFile({ randomBytes }, file, `${token}\n`))) return undefined;
  try {
    await record(context, "token.created", name);
  } catch (error) {
    await removeFile(file);
    throw error;
  }
  return { file, token };
}

/**
 * Removes the token called `name`.
 *
 * @returns why the removal is not on the audit trail; undefined where it is
 * @throws {FilesError} when the file cannot be removed
 */
export async function removeToken(context: CliContext, name: string): Promise<Error | undefined> {
  await removeFile(join(tokenDirectory(context.options.home), name));
  try {
    await record(context, "token.revoked", name);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return error;
  }
  return undefined;
}

async function record(
  context: CliContext,
  type: "token.created" | "token.revoked",
  name: string,
): Promise<void> {
  await using store = await openTrail(context);
  store.audit.record(type, { name, by: toAuditClient(localIdentity("cli", "cli")) });
  await store.audit.flush();
}
