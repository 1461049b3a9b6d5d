/**
 * `toolcrib secret`: keep, list, remove and try the secrets of the home. A value
 * goes in and never comes out: not into the output, an error or an argument.
 */

import { randomBytes } from "node:crypto";
import { readRegularFile } from "@toolcrib/files";
import {
  type NamedSecret,
  openSecretStore,
  readNamedSecret,
  type SecretEntry,
  type SecretStore,
  SecretsError,
  secretVariable,
} from "@toolcrib/secrets";
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

/** `secret set`. */
export async function setSecret(
  context: CliContext,
  name: string,
  { isInArguments, ...input }: SecretSetFlags & { readonly isInArguments: boolean },
): Promise<ExitCode> {
  const { output } = context;
  if (isInArguments) {
    throw new CliError(
      "CLI_USAGE",
      "A secret is never given as an argument: the list of processes and the history of the shell show arguments",
      {
        hint: "pipe it, name its place with --from-env or --from-file, or give the name alone and be asked; and replace a secret that has been an argument",
      },
    );
  }
  await using store = await openStore(context);
  // Before anybody types a value that could not be kept.
  await store.get(name).catch((error: unknown) => {
    if (error instanceof SecretsError && isInTheWay(error)) throw error;
  });
  const result = await store.set(name, await readSecretInput(name, input, context));
  output.json({ name, result });
  output.print(
    result === "created"
      ? `Kept. Write it into the configuration as secret_key_ref: ${name}`
      : "Replaced. Toolspecs send the new value at once, servers get it at their next connection or start",
  );
  const variable = secretVariable(name);
  if ((context.env[variable] ?? "").trim() !== "") {
    output.note(`${variable} is set and comes before it.`);
  }
  return exitCodes.done;
}

/** Whether a secret that cannot be read cannot be replaced either. */
function isInTheWay({ code }: SecretsError): boolean {
  return code !== "SECRETS_DAMAGED";
}

/** `secret list`. */
export async function listSecrets(context: CliContext): Promise<ExitCode> {
  const { output } = context;
  await using store = await openStore(context);
  const entries = await store.list();
  output.json(entries.map(toJson));
  if (entries.length === 0) output.print("No secrets are kept. See toolcrib secret set --help");
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

/** `secret rm`. */
export async function removeSecret(context: CliContext, name: string): Promise<ExitCode> {
  await using store = await openStore(context);
  if (!(await store.delete(name))) {
    throw new SecretsError(
      "SECRETS_NOT_FOUND",
      `Cannot find secret ${JSON.stringify(name)} in the secret store`,
      {
        hint: "see toolcrib secret list; variables and plain files are removed where they are",
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

/** `secret test`. */
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
    ...(isOneLine ? [] : ["It has line breaks: a variable can carry it, a header cannot."]),
  );
  return exitCodes.done;
}
