/**
 * `toolcrib secret`: stores, lists, removes and tests the secrets of the home. It
 * never prints a value, and never accepts one as an argument.
 */

import { randomBytes } from "node:crypto";
import { type CodedError, didYouMean, isCodedError } from "@toolcrib/diagnostics";
import { readRegularFile } from "@toolcrib/files";
import {
  type NamedSecret,
  openSecretStore,
  readNamedSecret,
  SecretsError,
  secretVariable,
} from "@toolcrib/secrets";
import type { SecretEntry, SecretStore } from "@toolcrib/store";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { loadConfigOrDefaults } from "../config/load-cli-config.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { warnAboutUnknownClients } from "../policy/client-identity.ts";
import { asTyped } from "../serve/source-table.ts";
import { identitySecretName } from "./identity-secrets.ts";
import { readSecretInput, type SecretInput } from "./secret-input.ts";
import { secretUseLines } from "./secret-users.ts";

/** Options of `secret set`. */
export interface SecretSetFlags extends SecretInput, IdentityFlag {}

/** Names the client that a secret belongs to. */
interface IdentityFlag {
  readonly identity?: string;
}

/** Returns the name in the store: that of the secret itself, or of the one of a client. */
async function storedName(context: CliContext, name: string, { identity }: IdentityFlag): Promise<string> {
  if (identity === undefined) return name;
  const { config } = await loadConfigOrDefaults(context);
  if (!/@https?:/.test(identity)) warnAboutUnknownClients(context, config, [identity]);
  return identitySecretName(config, name, identity);
}

function openStore(context: CliContext): Promise<SecretStore> {
  const { options } = context;
  return openSecretStore({ home: options.home, env: context.env }, { now: context.now, randomBytes });
}

/** Runs `secret set`. */
export async function setSecret(
  context: CliContext,
  named: string,
  { isInArguments, identity, ...input }: SecretSetFlags & { readonly isInArguments: boolean },
): Promise<ExitCode> {
  const { output } = context;
  if (isInArguments) {
    throw new CliError(
      "CLI_USAGE",
      "A secret cannot be an argument: process lists and the shell history show arguments",
      {
        hint: "pipe it, use --from-env or --from-file, or enter it at the prompt; and replace a secret that was an argument",
      },
    );
  }
  const name = await storedName(context, named, { identity });
  await using store = await openStore(context);
  // Fail before the user types a value that cannot be stored.
  await store.get(name).catch((error: unknown) => {
    if (error instanceof SecretsError && preventsReplacement(error)) throw error;
  });
  const result = await store.set(name, await readSecretInput(named, input, context));
  output.json({ name: named, identity, result });
  const reference = identity === undefined ? named : `{ store: ${named}, per: identity }`;
  // The secret of one client is used beside a shared one, and its reference says so.
  const uses =
    identity === undefined ? await secretUseLines(context, named, { isNew: result !== "changed" }) : [];
  output.prose(
    result === "changed"
      ? "Replaced. Toolspecs send the new value immediately, servers after their next connection or start"
      : uses.length > 0
        ? "Stored."
        : `Stored. Use it in the configuration as secret_key_ref: ${reference}`,
    ...uses,
  );
  const variable = secretVariable(name);
  if ((context.env[variable] ?? "").trim() !== "") {
    output.note(`${variable} is set and overrides it.`);
  }
  return exitCodes.done;
}

/** Whether an unreadable secret also cannot be replaced. */
function preventsReplacement({ code }: SecretsError): boolean {
  return code !== "SECRETS_DAMAGED";
}

/** Runs `secret list`. */
export async function listSecrets(context: CliContext): Promise<ExitCode> {
  const { output } = context;
  await using store = await openStore(context);
  const entries = await store.list();
  output.json(entries.map(toJson));
  if (entries.length === 0)
    output.print(asTyped("No secrets are stored. See toolcrib secret set --help", context));
  else {
    const hasProblems = entries.some(({ problem }) => problem !== undefined);
    output.table(
      [
        { title: "NAME" },
        { title: "UPDATED" },
        { title: "CREATED" },
        ...(hasProblems ? [{ title: "PROBLEM", canShrink: true }] : []),
      ],
      entries.map(({ name, createdAt, updatedAt, problem }) => [
        safeLine(name),
        timeOf(updatedAt) ?? "-",
        timeOf(createdAt) ?? "-",
        problem === undefined ? "" : safeLine(problem.message),
      ]),
    );
  }
  return exitCodes.done;
}

function toJson({ name, createdAt, updatedAt, problem }: SecretEntry) {
  return {
    name,
    created: timeOf(createdAt),
    updated: timeOf(updatedAt),
    problem: problem && { code: problem.code, message: problem.message, hint: problem.hint },
  };
}

function timeOf(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : new Date(milliseconds).toISOString();
}

/** Runs `secret rm`. */
export async function removeSecret(
  context: CliContext,
  named: string,
  flags: IdentityFlag,
): Promise<ExitCode> {
  const name = await storedName(context, named, flags);
  await using store = await openStore(context);
  if (!(await store.delete(name))) {
    const names = (await store.list()).map((entry) => entry.name);
    throw new SecretsError(
      "SECRETS_NOT_FOUND",
      `Cannot find secret ${JSON.stringify(named)}${flags.identity === undefined ? "" : ` of the client ${JSON.stringify(flags.identity)}`} in the secret store`,
      {
        hint:
          didYouMean(name, names) ?? "see toolcrib secret list; remove variables and plain files yourself",
      },
    );
  }
  context.output.json({ name: named, identity: flags.identity, result: "removed" });
  context.output.print("Removed.");
  return exitCodes.done;
}

function placeText(kind: NamedSecret["kind"], place: string): string {
  if (kind === "store") return "the secret store";
  return `the ${kind === "env" ? "variable" : kind} ${safeLine(place)}`;
}

/** Returns the error about a missing secret with the nearest name in the store before its hint. */
async function withNearest(context: CliContext, name: string, error: CodedError): Promise<CodedError> {
  await using store = await openStore(context);
  const near = didYouMean(
    name,
    (await store.list()).map((entry) => entry.name),
  );
  if (near === undefined) return error;
  const { code, message, hint = "", cause } = error;
  return new SecretsError(code as "SECRETS_NOT_FOUND", message, { hint: `${near} Otherwise ${hint}`, cause });
}

/** Runs `secret test`. */
export async function testSecret(context: CliContext, named: string, flags: IdentityFlag): Promise<ExitCode> {
  const { output, options } = context;
  const name = await storedName(context, named, flags);
  const { value, kind, place } = await readNamedSecret(name, {
    env: context.env,
    readFile: readRegularFile,
    home: options.home,
  }).catch(async (error: unknown) => {
    throw isCodedError(error) && error.code === "SECRETS_NOT_FOUND"
      ? await withNearest(context, name, error)
      : error;
  });
  const characters = [...value].length;
  const isOneLine = !/[\r\n]/.test(value);
  output.json({
    name: named,
    identity: flags.identity,
    from: kind,
    place,
    characters,
    bytes: Buffer.byteLength(value),
    isOneLine,
  });
  output.print(
    `${characters} character${characters === 1 ? "" : "s"}, from ${placeText(kind, place)}`,
    ...(isOneLine ? [] : ["It has line breaks: use it in a variable, not in a header."]),
  );
  return exitCodes.done;
}
