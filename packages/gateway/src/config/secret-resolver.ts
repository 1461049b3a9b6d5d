/**
 * References to secrets become their values here, and nowhere else. Remembers
 * every value that it gave out, so that results and logs can be scrubbed of
 * them. Its findings name the reference and the fix, never a value.
 */

import { dirname, isAbsolute, join, resolve } from "node:path";
import {
  configSecretExposed,
  configSecretNotAvailable,
  configSecretNotFound,
  configSecretUnreadable,
  configSecretUnusable,
} from "./codes.ts";
import type { SecretRef } from "./config-types.ts";
import { type FileContent, type ReadFile, readFailure } from "./read-file.ts";
import { quote } from "./reporter.ts";

/** Longest secret, in bytes. */
export const secretMaxBytes = 64 * 1024;
/** Most values that are remembered; the oldest is forgotten first. */
const maxRememberedValues = 10_000;

/** What `createSecretResolver` needs of the world. */
export interface SecretResolverDeps {
  /** The environment of the gateway. */
  readonly env: { readonly [name: string]: string | undefined };
  readonly readFile: ReadFile;
  /** Toolcrib's home (`~/.toolcrib`): `secret_key_ref: NAME` is looked for in its folder `secrets`. */
  readonly homeDirectory: string;
}

/** A secret's value, or why there is none. */
export type SecretResolution =
  | { readonly kind: "value"; readonly value: string }
  | { readonly kind: "failed"; readonly code: string; readonly message: string; readonly hint: string };

/** Turns references into secrets, and remembers which it gave out. */
export interface SecretResolver {
  /** Read the secret that `ref` names; a relative file is relative to the folder of `fileName`. */
  resolve(ref: SecretRef, fileName: string): Promise<SecretResolution>;
  /** An environment variable of the gateway. */
  variable(name: string): string | undefined;
  /** Remember `value` as a secret that was found elsewhere. */
  remember(value: string): void;
  /** Every secret given out or remembered so far, longest first, so that no part of a longer one is left when scrubbing. */
  values(): readonly string[];
}

/** Create a resolver. No I/O before the first `resolve`. */
export function createSecretResolver(deps: SecretResolverDeps): SecretResolver {
  const known = new Set<string>();
  const remember = (value: string): void => {
    if (value.trim() === "") return;
    known.delete(value);
    known.add(value);
    if (known.size > maxRememberedValues) known.delete(known.values().next().value as string);
  };
  return {
    async resolve(ref, fileName) {
      const resolution = await resolveRef(ref, fileName, deps);
      if (resolution.kind === "value") remember(resolution.value);
      return resolution;
    },
    variable: (name) => (Object.hasOwn(deps.env, name) ? deps.env[name] : undefined),
    remember,
    values: () => [...known].sort((a, b) => b.length - a.length),
  };
}

/** The variable in which `secret_key_ref: NAME` is looked for first. */
export function secretVariable(name: string): string {
  return `TOOLCRIB_SECRET_${name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
}

async function resolveRef(
  ref: SecretRef,
  fileName: string,
  deps: SecretResolverDeps,
): Promise<SecretResolution> {
  switch (ref.kind) {
    case "env":
      return fromVariable(ref.name, deps);
    case "file":
      return await fromFile(fromFolder(ref.path, fileName, deps.env), "others", deps);
    case "named":
      return await fromName(ref.name, deps);
    case "store":
    case "keychain":
      return failed(
        configSecretNotAvailable,
        `Cannot read secret ${quote(ref.name)}: this version does not read ${ref.kind === "store" ? "the encrypted secret store" : "the keychain"} yet`,
        `write secret_key_ref: ${ref.name} (a file secrets/${ref.name} in Toolcrib's home, or the variable ${secretVariable(ref.name)}), or use env or file`,
      );
  }
}

function fromVariable(name: string, { env }: SecretResolverDeps): SecretResolution {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value === undefined || value.trim() === "") {
    const state = value === undefined ? "is not set" : "is empty";
    return failed(
      configSecretNotFound,
      `Cannot read a secret from the environment: ${name} ${state}`,
      `set ${name} in the environment that starts Toolcrib`,
    );
  }
  return { kind: "value", value };
}

async function fromName(name: string, deps: SecretResolverDeps): Promise<SecretResolution> {
  const variable = secretVariable(name);
  if ((deps.env[variable] ?? "").trim() !== "") return fromVariable(variable, deps);
  const path = join(deps.homeDirectory, "secrets", name);
  const found = await fromFile(path, "anyone else", deps);
  if (found.kind === "value" || found.code !== configSecretNotFound) return found;
  return failed(
    configSecretNotFound,
    `Cannot find secret ${quote(name)}: there is no file ${quote(path)}, and ${variable} is not set`,
    `put it into that file (mode 600), or set ${variable}`,
  );
}

/** Read a file that `readers` may not be able to read: other users, or anyone but the owner. */
async function fromFile(
  path: string,
  readers: "others" | "anyone else",
  deps: SecretResolverDeps,
): Promise<SecretResolution> {
  let content: FileContent;
  try {
    content = await deps.readFile(path, secretMaxBytes);
  } catch (error) {
    const reason = readFailure(error);
    const isAbsent =
      error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
    return failed(
      isAbsent ? configSecretNotFound : configSecretUnreadable,
      `Cannot read the secret file ${quote(path)}: ${reason}`,
      isAbsent
        ? "create it (mode 600), or correct the path"
        : "make it a file that the user who runs Toolcrib can read",
    );
  }
  const forbidden = readers === "others" ? 0o007 : 0o077;
  if (content.mode !== undefined && (content.mode & forbidden) !== 0) {
    return failed(
      configSecretExposed,
      `Cannot use the secret file ${quote(path)}: its mode ${content.mode.toString(8)} lets other users of this machine at it`,
      `run chmod 600 ${path}`,
    );
  }
  return toValue(path, content.bytes);
}

function toValue(path: string, bytes: Uint8Array): SecretResolution {
  if (bytes.length > secretMaxBytes) {
    return failed(
      configSecretUnusable,
      `Cannot use the secret file ${quote(path)}: it is longer than ${secretMaxBytes.toLocaleString("en")} bytes`,
      "name a file that holds nothing but the secret",
    );
  }
  let value: string;
  try {
    value = new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\r?\n$/, "");
  } catch {
    return failed(
      configSecretUnusable,
      `Cannot use the secret file ${quote(path)}: it is not text in UTF-8`,
      "store the secret as text",
    );
  }
  if (value.trim() === "") {
    return failed(
      configSecretUnusable,
      `Cannot use the secret file ${quote(path)}: it is empty`,
      "put the secret into it",
    );
  }
  return { kind: "value", value };
}

/** `path` as an absolute one: below `~/`, or relative to the folder of the file that names it. */
export function fromFolder(
  path: string,
  fileName: string,
  env: { readonly [name: string]: string | undefined },
): string {
  if (/^~[\\/]/.test(path) && env["HOME"] !== undefined) return join(env["HOME"], path.slice(2));
  return isAbsolute(path) ? path : resolve(dirname(fileName), path);
}

function failed(code: string, message: string, hint: string): SecretResolution {
  return { kind: "failed", code, message, hint };
}
