/**
 * Obtains the secrets of a toolspec: finds existing secrets, and asks for missing
 * ones and stores them. A value goes only from a terminal or standard input to the
 * secret store.
 */

import { randomBytes } from "node:crypto";
import { suggestedSecretName } from "@toolcrib/config";
import { isCodedError } from "@toolcrib/diagnostics";
import { readRegularFile } from "@toolcrib/files";
import { openSecretStore, readNamedSecret } from "@toolcrib/secrets";
import { type ManifestCredential, placedCredentials } from "@toolcrib/toolspec";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import type { ProcessContext } from "../process-context.ts";
import { askHidden } from "../prompt/ask-hidden.ts";
import { askLine, canAsk } from "../prompt/ask-line.ts";
import { readSecretInput } from "../secret/secret-input.ts";
import type { CatalogEntry } from "./catalog.ts";
import { credentialHelp } from "./entry-text.ts";

/** A credential and the state of its secret. */
export interface ObtainedSecret {
  /** Id of the credential in the manifest. */
  readonly credential: string;
  /** The name in `secret_key_ref`. */
  readonly name: string;
  readonly result: "found" | "kept" | "missing";
}

/** A credential that needs a secret, and the name of the secret. */
export interface WantedSecret {
  readonly credential: ManifestCredential;
  readonly name: string;
  /** Whether the operator chose the name, so that the secret must exist. */
  readonly isChosen: boolean;
}

/**
 * Returns the secrets that requests of `entry` need.
 *
 * @param id id of the toolspec in the configuration.
 * @param chosen names of secrets by credential id; other secrets get a suggested name.
 * @throws {CliError} `CLI_USAGE` for an unknown credential.
 */
export function wantedSecrets(
  entry: CatalogEntry,
  id: string,
  chosen: ReadonlyMap<string, string>,
): readonly WantedSecret[] {
  const credentials = neededCredentials(entry);
  checkNames(credentials, chosen);
  return credentials.map((credential) => ({
    credential,
    name: chosen.get(credential.id) ?? suggestedSecretName(id, credential.id),
    isChosen: chosen.has(credential.id),
  }));
}

/**
 * Finds or asks for every secret of `wanted`.
 *
 * @param isLater whether to skip missing secrets.
 * @throws {CliError} `CLI_USAGE`, `CLI_INTERRUPTED`; errors of the secret store.
 */
export async function obtainSecrets(
  context: CliContext,
  entry: CatalogEntry,
  wanted: readonly WantedSecret[],
  { isLater }: { readonly isLater: boolean },
): Promise<readonly ObtainedSecret[]> {
  const found: ObtainedSecret[] = [];
  const missing: WantedSecret[] = [];
  for (const one of wanted) {
    if (await isThere(context, one.name, one.isChosen && !isLater)) {
      found.push({ credential: one.credential.id, name: one.name, result: "found" });
    } else missing.push(one);
  }
  if (isLater) {
    const left = missing.map(({ credential, name }) => ({
      credential: credential.id,
      name,
      result: "missing" as const,
    }));
    return inOrder(wanted, [...found, ...left]);
  }
  if (missing.length > 1 && !canAsk(context)) {
    const all = missing.map(({ name }) => `toolcrib secret set ${name}`).join(", ");
    throw new CliError("CLI_USAGE", "Standard input can provide one secret, and several are missing", {
      hint: `run ${all} first, or use --without-secrets`,
    });
  }
  for (const { credential, name } of missing) {
    const value = await askForSecret(context, entry, credential, name);
    await storeSecret(context, name, value);
    found.push({ credential: credential.id, name, result: "kept" });
  }
  return inOrder(wanted, found);
}

/** Returns the credentials that requests of `entry` use. */
function neededCredentials({ manifest, toolspec }: CatalogEntry): readonly ManifestCredential[] {
  if (toolspec === undefined) return manifest.credentials ?? [];
  const placed = new Set(placedCredentials(manifest, toolspec).map(({ id }) => id));
  return (manifest.credentials ?? []).filter(({ id }) => placed.has(id));
}

function checkNames(credentials: readonly ManifestCredential[], names: ReadonlyMap<string, string>): void {
  const unknown = [...names.keys()].find((given) => !credentials.some(({ id }) => id === given));
  if (unknown === undefined) return;
  const known = credentials.map(({ id }) => id).join(", ");
  throw new CliError("CLI_USAGE", `It has no credential ${JSON.stringify(unknown)}`, {
    hint: known === "" ? "omit --secret: it needs none" : `its credentials are ${known}`,
  });
}

function inOrder(
  wanted: readonly { readonly credential: ManifestCredential }[],
  obtained: readonly ObtainedSecret[],
): readonly ObtainedSecret[] {
  return wanted.flatMap(({ credential }) => obtained.find((one) => one.credential === credential.id) ?? []);
}

/** @throws {SecretsError} `SECRETS_NOT_FOUND` for a required secret that does not exist. */
async function isThere(context: CliContext, name: string, mustBe: boolean): Promise<boolean> {
  const { options } = context;
  try {
    await readNamedSecret(name, { env: context.env, readFile: readRegularFile, home: options.home });
    return true;
  } catch (error) {
    if (!mustBe && isCodedError(error) && error.code === "SECRETS_NOT_FOUND") return false;
    throw error;
  }
}

async function askForSecret(
  context: CliContext,
  entry: CatalogEntry,
  credential: ManifestCredential,
  name: string,
): Promise<string> {
  const { output } = context;
  output.note(...credentialHelp(entry, credential));
  if (!canAsk(context)) return oneLine(await readPiped(credential.id, name, context), name);
  if (credential.type !== "basic") return oneLine(await readSecretInput(name, {}, context), name);
  const user = await askLine("User: ", context);
  const password = await askHidden("Password (it is not shown): ", context);
  return oneLine(`${user}:${password}`, name);
}

async function readPiped(credentialId: string, name: string, context: ProcessContext): Promise<string> {
  try {
    return await readSecretInput(name, {}, context);
  } catch (cause) {
    if (!isCodedError(cause) || cause.code !== "SECRETS_UNUSABLE") throw cause;
    throw new CliError("CLI_USAGE", `${cause.message}, but it must contain the secret ${name}`, {
      cause,
      hint: `pipe the secret, use a stored secret with --secret ${credentialId}=NAME, or skip it with --without-secrets`,
    });
  }
}

/** Requires a single line, because requests send the value in a header. */
function oneLine(value: string, name: string): string {
  const given = value.trim();
  if (given === "" || given === ":")
    throw new CliError("CLI_USAGE", `Nothing was added: no value was entered for the secret ${name}`, {
      hint: `repeat the command with the value at hand, or with --without-secrets, and store it later: toolcrib secret set ${name}`,
    });
  if (!/[\r\n]/.test(given)) return given;
  throw new CliError("CLI_USAGE", `Nothing was added: the value of the secret ${name} has line breaks`, {
    hint: "enter only the value, in one line",
  });
}

async function storeSecret(context: CliContext, name: string, value: string): Promise<void> {
  const { options } = context;
  await using store = await openSecretStore(
    { home: options.home, env: context.env },
    { now: context.now, randomBytes },
  );
  await store.set(name, value);
}
