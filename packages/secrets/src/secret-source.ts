/**
 * The places that secrets can be read from, behind one interface. Nothing is
 * cached: a secret that is rotated is visible to the next read.
 */

import { explainFileFailure, isAbsence } from "./file-failure.ts";
import type { SecretKeySettings } from "./key.ts";
import { type KeychainDeps, readKeychain } from "./keychain.ts";
import { readStoredSecret } from "./read-secret.ts";
import { secretMaxBytes, toSecretValue } from "./secret-text.ts";
import { SecretsError } from "./secrets-error.ts";

/** A place that secrets are read from. */
export interface SecretSource {
  readonly kind: "env" | "file" | "store" | "keychain";
  /**
   * Returns the current value.
   *
   * @param name the name in this place: a variable, a path, or the name of a secret.
   * @throws {SecretsError} `SECRETS_NOT_FOUND` when it does not exist; another code when it cannot be used. An error
   *   never contains a value.
   */
  read(name: string): Promise<string>;
}

/** A place of secrets, and what reading it needs. */
export type SecretPlace =
  | { readonly kind: "env"; readonly env: Environment }
  | { readonly kind: "file"; readonly readFile: ReadSecretFile }
  /** `home` is the folder with the store. */
  | ({ readonly kind: "store" } & SecretKeySettings)
  | ({ readonly kind: "keychain" } & KeychainDeps);

/**
 * Creates the source of one place: variables of the environment (an empty one counts as missing), files that contain
 * only the secret and that other users cannot read (names are absolute paths, and one trailing line break is removed),
 * the encrypted store of a home, or the keychain of the operating system.
 */
export function createSecretSource(place: SecretPlace): SecretSource {
  switch (place.kind) {
    case "env":
      return createEnvSource(place.env);
    case "file":
      return createFileSource({ readFile: place.readFile, closedTo: "others" });
    case "store":
      return createStoreSource(place);
    case "keychain":
      return { kind: "keychain", read: (name) => readKeychain(name, place) };
  }
}

/** Environment variables by name. */
export type Environment = { readonly [name: string]: string | undefined };

/** Creates the source of environment variables. An empty variable counts as missing. */
export function createEnvSource(env: Environment): SecretSource {
  return {
    kind: "env",
    async read(name) {
      const value = Object.hasOwn(env, name) ? env[name] : undefined;
      if (value !== undefined && value.trim() !== "") return value;
      throw new SecretsError(
        "SECRETS_NOT_FOUND",
        `Cannot read a secret from the environment: ${name} ${value === undefined ? "is not set" : "is empty"}`,
        { hint: `set ${name} in the environment that starts Toolcrib` },
      );
    },
  };
}

/** Reads at most `maxBytes + 1` bytes of a file. `mode` has its permission bits on platforms that have them. */
export type ReadSecretFile = (
  path: string,
  maxBytes: number,
) => Promise<{ readonly bytes: Uint8Array; readonly mode: number | undefined }>;

/** Behaviour of a file source. */
export interface FileSourceOptions {
  readonly readFile: ReadSecretFile;
  /** Users that must not have access: others, or everyone except the owner. */
  readonly closedTo: "others" | "group and others";
}

/** Creates the source of files that contain only the secret. Names are absolute paths. One trailing line break is removed. */
export function createFileSource({ readFile, closedTo }: FileSourceOptions): SecretSource {
  const forbidden = closedTo === "others" ? 0o007 : 0o077;
  return {
    kind: "file",
    async read(path) {
      const { bytes, mode } = await readFile(path, secretMaxBytes).catch((error: unknown) => {
        throw unreadableFile(path, error);
      });
      if (mode !== undefined && (mode & forbidden) !== 0) {
        throw new SecretsError(
          "SECRETS_EXPOSED",
          `Cannot use the secret file ${JSON.stringify(path)}: its mode ${mode.toString(8)} gives other users of this machine access`,
          { hint: `run chmod 600 ${path}` },
        );
      }
      return toSecretValue(bytes, `the secret file ${JSON.stringify(path)}`);
    },
  };
}

function unreadableFile(path: string, cause: unknown): SecretsError {
  const isAbsent = isAbsence(cause);
  return new SecretsError(
    isAbsent ? "SECRETS_NOT_FOUND" : "SECRETS_UNREADABLE",
    `Cannot read the secret file ${JSON.stringify(path)}: ${explainFileFailure(cause)}`,
    {
      cause,
      hint: isAbsent
        ? "create it (mode 600), or correct the path"
        : "make it a file that the user who runs Toolcrib can read",
    },
  );
}

/** Creates the source of the encrypted store of a home. Read-only. */
export function createStoreSource(settings: SecretKeySettings): SecretSource {
  return {
    kind: "store",
    async read(name) {
      const value = await readStoredSecret(name, settings);
      if (value !== undefined) return value;
      throw new SecretsError(
        "SECRETS_NOT_FOUND",
        `Cannot find secret ${JSON.stringify(name)} in the secret store`,
        {
          hint: `run toolcrib secret set ${name}`,
        },
      );
    },
  };
}
