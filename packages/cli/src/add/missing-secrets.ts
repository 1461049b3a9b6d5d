/** The stored secrets that an offered server refers to: found, asked for on a terminal, or named with the command that stores them. */

import { randomBytes } from "node:crypto";
import { isCodedError } from "@toolcrib/diagnostics";
import { readRegularFile } from "@toolcrib/files";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { openSecretStore, readNamedSecret } from "@toolcrib/secrets";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { safeLine } from "../output/output.ts";
import { canAsk } from "../prompt/ask-line.ts";
import { readSecretInput } from "../secret/secret-input.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import type { AddFlags } from "../toolspec/add-flags.ts";
import type { OfferedSecret } from "./offer.ts";

/**
 * Obtains the secrets that the trial needs. Their values go from a terminal to the secret store.
 *
 * @returns the names of those that are missing, without which the server is tried
 * @throws {CliError} `CLI_USAGE` where one is missing and nobody can be asked, unless `--without-secrets` says so
 */
export async function requireSecrets(
  context: CliContext,
  secrets: readonly OfferedSecret[],
  { withoutSecrets, dryRun }: AddFlags,
): Promise<ReadonlySet<string>> {
  const missing: OfferedSecret[] = [];
  for (const secret of secrets) if (!(await isStored(context, secret.name))) missing.push(secret);
  const names = new Set(missing.map(({ name }) => name));
  if (missing.length === 0 || withoutSecrets === true || dryRun === true) return names;
  if (!canAsk(context)) {
    const commands = missing.map(({ name }) => `${ownCommand(context)} secret set ${shellQuote(name)}`);
    throw new CliError(
      "CLI_USAGE",
      `It needs ${missing.length === 1 ? "a secret that is" : "secrets that are"} not stored: ${missing.map(({ name, purpose }) => `${name} (${safeLine(purpose)})`).join(", ")}`,
      {
        hint: `store first: ${commands.join("; ")}; or try it without, with --without-secrets`,
      },
    );
  }
  await using store = await openSecretStore(
    { home: context.options.home, env: context.env },
    { now: context.now, randomBytes },
  );
  for (const { name, purpose } of missing) {
    context.output.note(`It wants a secret for its ${safeLine(purpose)}.`);
    await store.set(name, (await readSecretInput(name, {}, context)).trim());
  }
  return new Set();
}

/** Returns an entry without the variables and headers whose secrets are missing, for a trial. */
export function withoutSecrets(entry: JsonObject, missing: ReadonlySet<string>): JsonObject {
  const { transport } = entry;
  if (missing.size === 0 || !isJsonObject(transport)) return entry;
  const kept = (members: JsonValue | undefined): JsonObject =>
    Object.fromEntries(
      Object.entries(isJsonObject(members) ? members : {}).filter(([, value]) => {
        const name = isJsonObject(value) ? value["secret_key_ref"] : undefined;
        return typeof name !== "string" || !missing.has(name);
      }),
    );
  const { env, headers, ...rest } = transport;
  return {
    ...entry,
    transport: {
      ...rest,
      ...present("env", kept(env)),
      ...present("headers", kept(headers)),
    },
  };
}

function present(name: string, members: JsonObject): JsonObject {
  return Object.keys(members).length === 0 ? {} : { [name]: members };
}

async function isStored({ env, options }: CliContext, name: string): Promise<boolean> {
  try {
    await readNamedSecret(name, { env, readFile: readRegularFile, home: options.home });
    return true;
  } catch (error) {
    if (isCodedError(error) && error.code === "SECRETS_NOT_FOUND") return false;
    throw error;
  }
}
