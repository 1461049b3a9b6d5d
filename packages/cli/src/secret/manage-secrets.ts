/**
 * `toolcrib secret`: stores, lists, removes and tests the secrets of the home. It
 * never prints a value, and never accepts one as an argument.
 */

import { randomBytes } from "node:crypto";
import { didYouMean } from "@toolcrib/diagnostics";
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
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { readSecretInput, type SecretInput } from "./secret-input.ts";

/** Options of `secret set`. */
export type SecretSetFlags = SecretInput;

function openStore(context: CliContext): Promise<SecretStore> {
  const { options } = context;
  return openSecretStore({ home: options.home, env: context.env }, { now: context.now, randomBytes });
}

/** Runs `secret set`. */
export async function setSecret(
  context: CliContext,
  name: string,
  { isInArguments, ...input }: SecretSetFlags & { readonly isInArguments: boolean },
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
  await using store = await openStore(context);
  // Fail before the user types a value that cannot be stored.
  await store.get(name).catch((error: unknown) => {
    if (error instanceof SecretsError && preventsReplacement(error)) throw error;
  });
  const result = await store.set(name, await readSecretInput(name, input, context));
  output.json({ name, result });
  output.print(
    result === "created"
      ? `Stored. Use it in the configuration as secret_key_ref: ${name}`
      : "Replaced. Toolspecs send the new value immediately, servers after their next connection or start",
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
  if (entries.length === 0) output.print("No secrets are stored. See toolcrib secret set --help");
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
export async function removeSecret(context: CliContext, name: string): Promise<ExitCode> {
  await using store = await openStore(context);
  if (!(await store.delete(name))) {
    const names = (await store.list()).map((entry) => entry.name);
    throw new SecretsError(
      "SECRETS_NOT_FOUND",
      `Cannot find secret ${JSON.stringify(name)} in the secret store`,
      {
        hint:
          didYouMean(name, names) ?? "see toolcrib secret list; remove variables and plain files yourself",
      },
    );
  }
  context.output.json({ name, result: "removed" });
  context.output.print("Removed.");
  return exitCodes.done;
}

function placeText(kind: NamedSecret["kind"], place: string): string {
  if (kind === "store") return "the secret store";
  return `the ${kind === "env" ? "variable" : kind} ${safeLine(place)}`;
}

/** Runs `secret test`. */
export async function testSecret(context: CliContext, name: string): Promise<ExitCode> {
  const { output, options } = context;
  const { value, kind, place } = await readNamedSecret(name, {
    env: context.env,
    readFile: readRegularFile,
    home: options.home,
  });
  const characters = [...value].length;
  const isOneLine = !/[\r\n]/.test(value);
  output.json({ name, from: kind, place, characters, bytes: Buffer.byteLength(value), isOneLine });
  output.print(
    `${characters} character${characters === 1 ? "" : "s"}, from ${placeText(kind, place)}`,
    ...(isOneLine ? [] : ["It has line breaks: use it in a variable, not in a header."]),
  );
  return exitCodes.done;
}
