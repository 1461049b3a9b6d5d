/**
 * The places that a secret can be read from, behind one interface. Each read
 * goes to the place itself: nothing is kept, so what was rotated there is what
 * the next read gives.
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
   * The value that is there now.
   *
   * @param name what the place knows it by: a variable, a path, a name.
   * @throws {SecretsError} `SECRETS_NOT_FOUND` when there is none, else why it cannot be used; never with a value.
   */
  read(name: string): Promise<string>;
}

/** The environment, or one like it. */
export type Environment = { readonly [name: string]: string | undefined };

/** Environment variables; an empty one counts as absent. */
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

/** Read at most `maxBytes + 1` bytes of a file; `mode` is its permission bits, where the platform has them. */
export type ReadSecretFile = (
  path: string,
  maxBytes: number,
) => Promise<{ readonly bytes: Uint8Array; readonly mode: number | undefined }>;

/** How files of secrets are read. */
export interface FileSourceOptions {
  readonly readFile: ReadSecretFile;
  /** Who must not have access: other users, or everyone but the owner. */
  readonly closedTo: "others" | "group and others";
}

/** Files that hold nothing but the secret; a name is an absolute path. One trailing line break is cut. */
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
          `Cannot use the secret file ${JSON.stringify(path)}: its mode ${mode.toString(8)} lets other users of this machine at it`,
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

/** The encrypted store of a home, for reading only. */
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

/** The keychain of the operating system: entries of service `toolcrib` with the name as their account. */
export function createKeychainSource(deps: KeychainDeps): SecretSource {
  return { kind: "keychain", read: (name) => readKeychain(name, deps) };
}
