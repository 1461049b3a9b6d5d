/** Reads the value of a secret from a variable, a file, standard input or a prompt. Never from an argument. */

import { resolve } from "node:path";
import { readRegularFile } from "@toolcrib/files";
import { createSecretSource, explainFileFailure, secretMaxBytes, toSecretValue } from "@toolcrib/secrets";
import { CliError } from "../cli-error.ts";
import type { ProcessContext } from "../process-context.ts";
import { askHidden } from "../prompt/ask-hidden.ts";
import { readStandardBytes } from "../standard-input.ts";

/** Options that select the source. */
export interface SecretInput {
  readonly fromEnv?: string;
  readonly fromFile?: string;
}

/**
 * Reads the value of the secret `name`.
 *
 * @throws {CliError} `CLI_USAGE`, `CLI_FILE_UNUSABLE`, `CLI_INTERRUPTED`.
 * @throws {SecretsError} `SECRETS_NOT_FOUND`, `SECRETS_UNUSABLE`.
 */
export async function readSecretInput(
  name: string,
  { fromEnv, fromFile }: SecretInput,
  context: ProcessContext,
): Promise<string> {
  if (fromEnv !== undefined && fromFile !== undefined) {
    throw new CliError("CLI_USAGE", "A secret has one source", {
      hint: "use --from-env or --from-file, not both",
    });
  }
  if (fromEnv !== undefined) return createSecretSource({ kind: "env", env: context.env }).read(fromEnv);
  if (fromFile !== undefined) return await readFromFile(fromFile, context);
  if (context.stdin.isTTY === true) return askHidden(`Value of ${name} (it is not shown): `, context);
  return toSecretValue(await readStandardBytes(context, secretMaxBytes), "standard input");
}

async function readFromFile(file: string, context: ProcessContext): Promise<string> {
  try {
    const { bytes } = await readRegularFile(resolve(context.directory, file), secretMaxBytes);
    return toSecretValue(bytes, `the file ${file}`);
  } catch (cause) {
    if (!(cause instanceof Error && "syscall" in cause) && !isNotRegularFile(cause)) throw cause;
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read ${file}: ${explainFileFailure(cause)}`, {
      cause,
      hint: "use a file that contains only the secret",
    });
  }
}

function isNotRegularFile(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EISDIR" || error.code === "EINVAL");
}
