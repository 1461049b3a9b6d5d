/**
 * Resolves references to secrets; no other module does. The resolver remembers
 * every value that it returns, so that results and logs can be scrubbed of
 * them. Its findings name the reference and the fix, never a value.
 */

import { dirname, isAbsolute, join, resolve } from "node:path";
import { quote, type SecretRef } from "@toolcrib/config";
import { isCodedError } from "@toolcrib/diagnostics";
import type { ReadFile } from "@toolcrib/files";
import {
  createEnvSource,
  createFileSource,
  createKeychainSource,
  createStoreSource,
  readNamedSecret,
  type SecretSource,
} from "@toolcrib/secrets";

/** Maximum number of remembered values; the oldest is dropped first. */
const maxRememberedValues = 10_000;

/** Dependencies of `createSecretResolver`. */
export interface SecretResolverDeps {
  /** The environment of the gateway. */
  readonly env: { readonly [name: string]: string | undefined };
  readonly readFile: ReadFile;
  /** Home folder (`~/.toolcrib`) with the secret store, and with plain files in its folder `secrets`. */
  readonly home: string;
}

/** A secret's value and its source, or the reason why it cannot be resolved. */
export type SecretResolution =
  | { readonly kind: "value"; readonly value: string; readonly from: SecretSource["kind"] }
  | { readonly kind: "failed"; readonly code: string; readonly message: string; readonly hint: string };

/** Resolves references to secrets, and remembers the values that it returns. */
export interface SecretResolver {
  /** Reads the secret that `ref` names; a relative path is relative to the folder of `fileName`. */
  resolve(ref: SecretRef, fileName: string): Promise<SecretResolution>;
  /** Returns an environment variable of the gateway. */
  variable(name: string): string | undefined;
  /** Remembers `value`, a secret from another source. */
  remember(value: string): void;
  /** Returns every remembered secret, longest first, so that scrubbing leaves no part of a longer one. */
  values(): readonly string[];
}

/** Creates a resolver. No I/O before the first `resolve`. */
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

async function resolveRef(
  ref: SecretRef,
  fileName: string,
  deps: SecretResolverDeps,
): Promise<SecretResolution> {
  const place = ref.kind === "file" ? fromFolder(ref.path, fileName, deps.env) : ref.name;
  try {
    return { kind: "value", ...(await readFrom(ref.kind, place, deps)) };
  } catch (error) {
    if (!isCodedError(error)) throw error;
    // By mistake, a reference may contain the secret itself instead of its place.
    const message = error.message.replaceAll(JSON.stringify(place), quote(place));
    return toFailed(error.code, message, error.hint ?? "check the value that is stored there");
  }
}

/** Converts the error of a secret source to a finding about the configuration. */
function toFailed(placeCode: string, message: string, hint: string): SecretResolution {
  switch (placeCode) {
    case "SECRETS_NOT_FOUND":
      return failed("CONFIG_SECRET_NOT_FOUND", message, hint);
    case "SECRETS_EXPOSED":
      return failed("CONFIG_SECRET_EXPOSED", message, hint);
    case "SECRETS_UNUSABLE":
      return failed("CONFIG_SECRET_UNUSABLE", message, hint);
    case "SECRETS_KEYCHAIN_UNAVAILABLE":
      return failed("CONFIG_SECRET_NOT_AVAILABLE", message, hint);
    default:
      return failed("CONFIG_SECRET_UNREADABLE", message, hint);
  }
}

function failed(code: string, message: string, hint: string): SecretResolution {
  return { kind: "failed", code, message, hint };
}

async function readFrom(
  kind: SecretRef["kind"],
  place: string,
  { env, readFile, home }: SecretResolverDeps,
): Promise<{ readonly value: string; readonly from: SecretSource["kind"] }> {
  if (kind === "named") {
    const found = await readNamedSecret(place, { env, readFile, home });
    return { value: found.value, from: found.kind };
  }
  const sources = {
    env: () => createEnvSource(env),
    file: () => createFileSource({ readFile, closedTo: "others" }),
    store: () => createStoreSource({ home, env }),
    keychain: () => createKeychainSource({ env, platform: process.platform }),
  };
  return { value: await sources[kind]().read(place), from: kind };
}

/** Returns `path` as an absolute path: below `~/`, or relative to the folder of the file that names it. */
export function fromFolder(
  path: string,
  fileName: string,
  env: { readonly [name: string]: string | undefined },
): string {
  if (/^~[\\/]/.test(path) && env["HOME"] !== undefined) return join(env["HOME"], path.slice(2));
  return isAbsolute(path) ? path : resolve(dirname(fileName), path);
}
