/**
 * `toolcrib token list` and `toolcrib token revoke`: the tokens of the home as files. A token is read only to check
 * whether a gateway accepts it, and whether another file has the same one; it is never printed. A running gateway notices
 * a removed file by itself, refuses the token within a second, and ends what it opened.
 */

import { lstatSync, statSync } from "node:fs";
import { join } from "node:path";
import { defaultTokenName, isTokenName, readToken, tokenDirectory } from "@toolcrib/auth";
import type { GatewayConfig } from "@toolcrib/config";
import { didYouMean, isCodedError } from "@toolcrib/diagnostics";
import { openTrailReader, type TrailReader } from "../audit/find-call.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { loadConfigOrDefaults } from "../config/load-cli-config.ts";
import { tokenNamesOf } from "../config/load-config-deps.ts";
import { readConnection } from "../connect/connection-store.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { removeToken } from "./write-token.ts";

/** A token without its value. */
interface ListedToken {
  readonly name: string;
  /** When its file was written. */
  readonly createdAt: string;
  /** Tokens of the home never expire. */
  readonly expiresAt: null;
  /** The start of the last call on the audit trail; null where the trail has none. */
  readonly lastCallAt: string | null;
  /** Rules that `policy.clients` adds for it; null where nothing, undefined where the configuration has errors. */
  readonly rules: TokenRules | null | undefined;
  /** Why no gateway accepts it. */
  readonly problem?: { readonly code: string; readonly message: string; readonly hint: string | undefined };
}

interface TokenRules {
  readonly allow?: number;
  readonly deny: number;
  readonly roles: readonly string[];
  readonly profile?: string;
}

/** Runs `token list`. */
export async function listTokens(context: CliContext): Promise<ExitCode> {
  const { output, options } = context;
  const names = namesOf(context);
  const clients = await clientsOf(context);
  await using reader = await openTrailReader(context);
  const tokens: ListedToken[] = [];
  for (const name of names) {
    const token = await describeToken(context, name, { clients, reader });
    if (token !== undefined) tokens.push(token);
  }
  output.json(tokens);
  if (tokens.length === 0) {
    output.print(`No tokens. toolcrib${options.homeFlag} token create NAME writes one.`);
    return exitCodes.done;
  }
  output.table(
    [
      { title: "NAME", canShrink: true },
      { title: "CREATED" },
      { title: "EXPIRES" },
      { title: "LAST CALL" },
      { title: "MAY USE", canShrink: true },
    ],
    tokens.map((token) => [
      token.name,
      token.createdAt.slice(0, 10),
      "never",
      token.lastCallAt === null ? "-" : token.lastCallAt.slice(0, 16).replace("T", " "),
      useOf(token),
    ]),
  );
  for (const { name, problem } of tokens)
    if (problem !== undefined)
      output.note(
        `${output.noteStyle("yellow", "warning")}: ${name}: ${safeLine(problem.message)}`,
        ...(problem.hint === undefined ? [] : [`  fix: ${safeLine(problem.hint)}`]),
      );
  return exitCodes.done;
}

/**
 * Runs `token revoke`.
 *
 * @throws {CliError} `CLI_TOKEN_NOT_FOUND`
 * @throws {StoreError} when the audit trail cannot be written; the token is revoked nevertheless
 */
export async function revokeToken(context: CliContext, name: string): Promise<ExitCode> {
  const { output, options } = context;
  const names = namesOf(context);
  if (!names.includes(name)) {
    throw new CliError("CLI_TOKEN_NOT_FOUND", `No token is called ${JSON.stringify(name.slice(0, 200))}`, {
      hint:
        didYouMean(name, names) ?? (names.length === 0 ? "there are none" : `there are ${names.join(", ")}`),
    });
  }
  const connection = await readConnection(options.home, name);
  const hasRules = Object.hasOwn((await clientsOf(context)) ?? {}, name);
  const copies = copiesOf(options.home, name, names);
  const unrecorded = await removeToken(context, name);
  output.json({ revoked: name, ...(copies.length === 0 ? {} : { copies }) });
  output.print(
    `Revoked "${name}"`,
    "A running gateway refuses it within a second, and ends the",
    "connections, sessions and tasks of its client within three.",
  );
  for (const copy of copies)
    output.note(
      `${output.noteStyle("yellow", "warning")}: the same token is stored as "${copy}", and stays valid under that name`,
      `  fix: toolcrib${options.homeFlag} token revoke ${copy}`,
    );
  if (name === defaultTokenName)
    output.print("The next start of toolcrib serve creates another default token.");
  if (connection !== undefined)
    output.print(`${name} was connected with it: toolcrib${options.homeFlag} disconnect ${name}`);
  if (hasRules) output.print(`Its rules stay in the configuration: policy.clients.${name}`);
  // The token is gone, and the operator learns that the trail does not say so.
  if (unrecorded !== undefined) throw unrecorded;
  return exitCodes.done;
}

/** The names of the files that a gateway reads as tokens. */
function namesOf({ options }: CliContext): readonly string[] {
  return tokenNamesOf(options.home).filter(isTokenName).toSorted();
}

/** The other names under which the token called `name` is stored. */
function copiesOf(home: string, name: string, names: readonly string[]): readonly string[] {
  const token = textOf(home, name);
  return token === undefined ? [] : names.filter((one) => one !== name && textOf(home, one) === token);
}

function textOf(home: string, name: string): string | undefined {
  try {
    return readToken(home, name);
  } catch {
    return undefined;
  }
}

type Clients = GatewayConfig["policy"]["clients"];

/** The rules of the configuration; undefined where it has errors, which do not stand in the way of a revocation. */
async function clientsOf(context: CliContext): Promise<Clients | undefined> {
  try {
    return (await loadConfigOrDefaults(context)).config.policy.clients;
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return undefined;
  }
}

/** Returns undefined for a token that was removed meanwhile. */
async function describeToken(
  { options }: CliContext,
  name: string,
  { clients, reader }: { readonly clients: Clients | undefined; readonly reader: TrailReader },
): Promise<ListedToken | undefined> {
  const writtenAt = writtenAtOf(join(tokenDirectory(options.home), name));
  if (writtenAt === undefined) return undefined;
  const [last] = await reader.list({ issuer: "toolcrib:token", subject: name, limit: 1 });
  return {
    name,
    createdAt: new Date(writtenAt).toISOString(),
    expiresAt: null,
    lastCallAt: last?.time ?? null,
    rules: clients === undefined ? undefined : (rulesOf(clients, name) ?? null),
    ...problemOf(options.home, name),
  };
}

/** When a file was written, or the link in its place where that leads nowhere; undefined without either. */
function writtenAtOf(path: string): number | undefined {
  for (const statOf of [statSync, lstatSync]) {
    try {
      return statOf(path).mtimeMs;
    } catch {
      // The link leads nowhere or in a circle, or the file was removed.
    }
  }
  return undefined;
}

/** Rules with an identity are for a client of an identity provider, not for the token. */
function rulesOf(clients: Clients, name: string): TokenRules | undefined {
  const rules = Object.hasOwn(clients, name) ? clients[name] : undefined;
  if (rules === undefined || rules.identity !== undefined) return undefined;
  const { allow, deny, roles, profile } = rules;
  return {
    ...(allow === undefined ? {} : { allow: allow.length }),
    deny: deny?.length ?? 0,
    roles: roles ?? [],
    ...(profile === undefined ? {} : { profile }),
  };
}

function problemOf(home: string, name: string): Pick<ListedToken, "problem"> {
  try {
    readToken(home, name);
    return {};
  } catch (error) {
    if (!isCodedError(error)) throw error;
    const { code, message, hint } = error;
    return { problem: { code, message, hint } };
  }
}

function useOf({ rules, problem }: ListedToken): string {
  if (problem !== undefined) return "nothing: not accepted";
  if (rules === undefined) return "not known: the configuration has errors";
  if (rules === null) return "all that the policy allows";
  const parts = [
    ...(rules.profile === undefined ? [] : [`profile ${rules.profile}`]),
    ...(rules.roles.length === 0 ? [] : [`roles ${rules.roles.join(", ")}`]),
    ...(rules.allow === undefined ? [] : [`allow ${rules.allow}`]),
    ...(rules.deny === 0 ? [] : [`deny ${rules.deny}`]),
  ];
  return parts.length === 0 ? "all that the policy allows" : parts.join("; ");
}
