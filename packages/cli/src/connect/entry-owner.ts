/**
 * Finds the gateway that an entry in the file of a client is for, whatever its user or the client changed in it. Reads the
 * tokens of the home.
 */

import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { isTokenName, tokenDirectory } from "@toolcrib/auth";
import { type ClientProgram, serverIn } from "@toolcrib/clients";
import { isCodedError } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonValue } from "@toolcrib/json";
import type { CliContext } from "../cli-context.ts";
import { type Connection, readConnection, readLeftFile, sha256Of } from "./connection-store.ts";
import { tokenOf } from "./gateway-entry.ts";

/** The facts of an entry about its gateway. An address is none: homes can share one, and a user can change it. */
interface Named {
  /** The home in the arguments of its command. */
  readonly home: string | undefined;
  readonly tokens: readonly string[];
}

/** Returns a digest of the gateway that an entry names: the home in the arguments of its command, else its token. */
export function ownerOf(entry: JsonValue | undefined): string {
  const { home, tokens } = namedIn(entry);
  return sha256Of(JSON.stringify(home === undefined ? tokens : [home]));
}

/**
 * Whether the entry of a connection in `text` is for the gateway of this home; also where there is no entry. It is for
 * another one only where its command has another home, or its token is neither the one that was written nor one of
 * this home.
 */
export function isOwnEntry(
  context: CliContext,
  text: string,
  program: ClientProgram,
  { server, owner }: Connection,
): boolean {
  const entry = serverIn(text, program, server);
  // Records of earlier versions do not say.
  if (entry === undefined || owner === undefined || ownerOf(entry) === owner) return true;
  const { home, tokens } = namedIn(entry);
  if (home !== undefined) return resolve(context.directory, home) === resolve(context.options.home);
  if (tokens.length === 0) return true;
  const own = ownTokens(context);
  return tokens.some((token) => own.has(token));
}

/**
 * The gateway of another home that an entry of before is for. `gone`: that home recorded that its disconnect left this
 * file as it is. `unknown`: nothing here says whether the entry is in use, because it names no home, or one without a
 * readable record: it can be written by hand, or its disk not mounted.
 */
export interface FormerOwner {
  readonly state: "connected" | "gone" | "unknown";
  /** The home that the entry names. */
  readonly home: string | undefined;
}

/** Returns the owner of the entry in `text`, the file as it was before; undefined where it is for no gateway of another home. */
export async function formerOwner(
  context: CliContext,
  text: string,
  program: ClientProgram,
  { server, file, writtenSha256 }: Pick<Connection, "server" | "file" | "writtenSha256">,
): Promise<FormerOwner | undefined> {
  const { home, tokens } = namedIn(entryIn(text, program, server));
  if (home === undefined) return tokens.length === 0 ? undefined : { state: "unknown", home };
  const folder = resolve(context.directory, home);
  if (folder === resolve(context.options.home)) return undefined;
  const record = await readConnection(folder, program.id);
  if (record?.file === file) return { state: "connected", home: folder };
  const left = await readLeftFile(folder, program.id);
  const isGone = left?.file === file && left.leftSha256 === writtenSha256;
  return { state: isGone ? "gone" : "unknown", home: folder };
}

/** Returns the entry of a file that may have no section for it, or be unreadable. */
function entryIn(text: string, program: ClientProgram, server: string): JsonValue | undefined {
  try {
    return serverIn(text, program, server);
  } catch (error) {
    if (isCodedError(error)) return undefined;
    throw error;
  }
}

function namedIn(entry: JsonValue | undefined): Named {
  const texts = textsOf(entry);
  const at = texts.findIndex((text) => /^--home(?:=|$)/.test(text));
  const option = texts[at] ?? "";
  return {
    home: option === "--home" ? texts[at + 1] : option.slice("--home=".length) || undefined,
    tokens: texts.flatMap((text) => text.match(/\btcb_[A-Za-z0-9_-]{16,}/g) ?? []).sort(),
  };
}

/** The tokens of the home. One that cannot be read is none. */
function ownTokens(context: CliContext): ReadonlySet<string> {
  const tokens = new Set<string>();
  for (const name of tokenNames(context)) {
    try {
      const token = tokenOf(context, name);
      if (token !== undefined) tokens.add(token);
    } catch {
      // Damaged, or not readable by this user: no client is connected with it.
    }
  }
  return tokens;
}

function tokenNames({ options }: CliContext): readonly string[] {
  try {
    return readdirSync(tokenDirectory(options.home)).filter(isTokenName);
  } catch {
    return [];
  }
}

/** All texts in a value, in their order. */
function textsOf(value: JsonValue | undefined): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return isJsonObject(value) ? Object.values(value).flatMap(textsOf) : [];
}
