/** `toolcrib token create`: writes a new token for a client into the home. It never replaces or prints a token. */

import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { isTokenName, makeToken, tokenDirectory } from "@toolcrib/auth";
import { createFile } from "@toolcrib/files";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";

/** Runs the command. */
export async function createToken(context: CliContext, name: string): Promise<ExitCode> {
  const { output, options } = context;
  if (!isTokenName(name)) {
    throw new CliError("CLI_USAGE", `A token cannot be named ${JSON.stringify(name)}`, {
      hint: "up to 64 letters, digits and . _ - are allowed, and no dot at the start",
    });
  }
  const folder = tokenDirectory(options.home);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, name);
  if (!(await createFile({ randomBytes }, file, `${makeToken(randomBytes)}\n`))) {
    throw new CliError("CLI_FILE_EXISTS", `The token "${name}" exists: ${file}`, {
      hint: "use it, choose another name, or remove the file to revoke it",
    });
  }
  output.json({ name, file });
  output.print(
    `Created ${file}`,
    `Clients send its content as Authorization: Bearer TOKEN; policy.clients.${name} has their rules.`,
  );
  return exitCodes.done;
}
