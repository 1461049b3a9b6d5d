/**
 * The secrets of a toolspec: found where they are kept, else asked for and kept
 * in the store. A value goes from a terminal or standard input into the store,
 * and nowhere else.
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

/** A credential and what became of its secret. */
export interface ObtainedSecret {
  /** Id of the credential in the manifest. */
  readonly credential: string;
  /** The name that `secret_key_ref` has. */
  readonly name: string;
  readonly result: "found" | "kept" | "missing";
}

/** A credential whose secret is wanted, and what the secret is called. */
export interface WantedSecret {
  readonly credential: ManifestCredential;
  readonly name: string;
  /** Whether the operator chose the name, so that a secret of this name must be there. */
  readonly isChosen: boolean;
}

/**
 * The secrets that requests of `entry` carry.
 *
 * @param id of the toolspec in the configuration.
 * @param chosen names of secrets by the ids of their credentials; the others get one that says what they are for.
 * @throws {CliError} `CLI_USAGE` for a credential that it does not have.
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
 * Find or ask for every secret of `wanted`.
 *
 * @param isLater whether a missing one is left for later.
 * @throws {CliError} `CLI_USAGE`, `CLI_INTERRUPTED`; what the store throws.
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
    throw new CliError("CLI_USAGE", "Standard input is one secret, and several are missing", {
      hint: `run ${all} first, or give --without-secrets`,
    });
  }
  for (const { credential, name } of missing) {
    const value = await askFor(context, entry, credential, name);
    await keep(context, name, value);
    found.push({ credential: credential.id, name, result: "kept" });
  }
  return inOrder(wanted, found);
}

/** The credentials that requests of `entry` carry. */
function neededCredentials({ manifest, toolspec }: CatalogEntry): readonly ManifestCredential[] {
  const placed = new Set(placedCredentials(manifest, toolspec).map(({ id }) => id));
  return (manifest.credentials ?? []).filter(({ id }) => placed.has(id));
}

function checkNames(credentials: readonly ManifestCredential[], names: ReadonlyMap<string, string>): void {
  const unknown = [...names.keys()].find((given) => !credentials.some(({ id }) => id === given));
  if (unknown === undefined) return;
  const known = credentials.map(({ id }) => id).join(", ");
  throw new CliError("CLI_USAGE", `It has no credential ${JSON.stringify(unknown)}`, {
    hint: known === "" ? "leave --secret out: it needs none" : `its credentials are ${known}`,
  });
}

function inOrder(
  wanted: readonly { readonly credential: ManifestCredential }[],
  obtained: readonly ObtainedSecret[],
): readonly ObtainedSecret[] {
  return wanted.flatMap(({ credential }) => obtained.find((one) => one.credential === credential.id) ?? []);
}

/** @throws {SecretsError} `SECRETS_NOT_FOUND` for one that must be there. */
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

async function askFor(
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
    throw new CliError("CLI_USAGE", `${cause.message}, where the secret ${name} is read from`, {
      cause,
      hint: `pipe the secret, name one that is kept with --secret ${credentialId}=NAME, or leave it for later with --without-secrets`,
    });
  }
}

/** Requests carry it in one line. */
function oneLine(value: string, name: string): string {
  if (value.trim() !== "" && !/[\r\n]/.test(value)) return value.trim();
  throw new CliError("CLI_USAGE", `The value of ${name} cannot be sent: it is empty or has line breaks`, {
    hint: "give the value alone, in one line",
  });
}

async function keep(context: CliContext, name: string, value: string): Promise<void> {
  const { options } = context;
  await using store = await openSecretStore(
    { home: options.home, env: context.env },
    { now: context.now, randomBytes },
  );
  await store.set(name, value);
}
