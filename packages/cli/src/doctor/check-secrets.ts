/** Checks the secrets in the home: modes of folders and files, the key, every stored secret. Never changes or shows a secret. */

import { randomBytes } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { isCodedError } from "@toolcrib/diagnostics";
import { isSecretName, openSecretStore } from "@toolcrib/secrets";
import type { CliContext } from "../cli-context.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { type Finding, failed, ok, type Repair } from "./check.ts";

/**
 * Checks that the secrets are private and can be decrypted.
 *
 * @param closing the repair that closes the home to other users
 */
export async function checkSecrets(context: CliContext, closing: Repair | undefined): Promise<Finding[]> {
  const { options } = context;
  const { home } = options;
  const folder = join(home, "secrets");
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return [ok("secrets", "none are stored in this home")];
  }
  const files = readdirSync(folder).filter(isSecretName);
  const openFiles = files.filter(
    (name) =>
      context.platform !== "win32" &&
      ((statSync(join(folder, name), { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0,
  );
  const findings = openFiles.map((name) =>
    failed(
      "secrets",
      `other users can access ${join(folder, name)}`,
      `chmod 600 ${shellQuote(join(folder, name))}, and replace the secret if another user may have read it`,
      closing,
    ),
  );
  try {
    await using store = await openSecretStore({ home, env: context.env }, { now: context.now, randomBytes });
    const entries = await store.list();
    for (const { problem } of entries) {
      if (problem !== undefined) findings.push(failed("secrets", problem.message, problem.hint));
    }
    const count = entries.length + files.length;
    return findings.length > 0
      ? findings
      : [ok("secrets", `${count} in ${folder}, private to this user (${entries.length} encrypted)`)];
  } catch (error) {
    if (!isCodedError(error)) throw error;
    const repair = error.code === "SECRETS_EXPOSED" ? closing : undefined;
    return [...findings, failed("secrets", error.message, error.hint, repair)];
  }
}
