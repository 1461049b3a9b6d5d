/** Resolves `secret_key_ref: NAME`: the variable for that name, else the store, else a plain file in the home. */

import { join } from "node:path";
import { isCodedError } from "@toolcrib/diagnostics";
import {
  createEnvSource,
  createFileSource,
  createStoreSource,
  type Environment,
  type ReadSecretFile,
  type SecretSource,
} from "./secret-source.ts";
import { SecretsError } from "./secrets-error.ts";

/** Places that are searched. */
export interface NamedSecretDeps {
  readonly env: Environment;
  readonly readFile: ReadSecretFile;
  /** Toolcrib's home (`~/.toolcrib`). */
  readonly home: string;
  /** Fails with `SECRETS_KEYCHAIN_UNAVAILABLE` for a stored secret whose key the keychain has. */
  readonly withoutKeychain?: boolean | undefined;
}

/** A secret and the place where it was found. */
export interface NamedSecret {
  readonly value: string;
  readonly kind: SecretSource["kind"];
  /** The variable, the path, or the name in the store. */
  readonly place: string;
}

/** Returns the variable that is searched first for `secret_key_ref: NAME`. */
export function secretVariable(name: string): string {
  return `TOOLCRIB_SECRET_${name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
}

/**
 * Finds the secret `name`. A secret that exists and cannot be used is an error: the
 * next place is not searched, because it may contain an old value.
 *
 * @throws {SecretsError}
 */
export async function readNamedSecret(
  name: string,
  { env, readFile, home, withoutKeychain }: NamedSecretDeps,
): Promise<NamedSecret> {
  const variable = secretVariable(name);
  const path = join(home, "secrets", name);
  const places: readonly (readonly [SecretSource, string])[] = [
    [createEnvSource(env), variable],
    [createStoreSource({ home, env, withoutKeychain }), name],
    [createFileSource({ readFile, closedTo: "group and others" }), path],
  ];
  for (const [source, place] of places) {
    try {
      return { value: await source.read(place), kind: source.kind, place };
    } catch (error) {
      if (!isCodedError(error) || error.code !== "SECRETS_NOT_FOUND") throw error;
    }
  }
  throw new SecretsError(
    "SECRETS_NOT_FOUND",
    `Cannot find secret ${JSON.stringify(name)}: there is no file ${JSON.stringify(path)}, and ${variable} is not set`,
    { hint: `run toolcrib secret set ${name}, or put it into that file (mode 600), or set ${variable}` },
  );
}
