/** The interface of a store of secrets. Types only; `openSecretStore` opens the engine that keeps encrypted files. */

import type { SecretsError } from "./secrets-error.ts";
import type { SecretChange } from "./watch-secrets.ts";

/** A stored secret without its value. */
export interface SecretEntry {
  readonly name: string;
  /** Milliseconds since the epoch; `undefined` when the secret cannot be decrypted. */
  readonly createdAt: number | undefined;
  readonly updatedAt: number | undefined;
  /** Why the secret cannot be decrypted. */
  readonly problem: SecretsError | undefined;
}

/** The secrets of one home. Every engine passes the contract tests of this package. */
export interface SecretStore extends AsyncDisposable {
  /**
   * Returns the value of `name`, or `undefined` when no such secret exists.
   *
   * @throws {SecretsError} `SECRETS_NAME_INVALID`, `SECRETS_KEY_MISSING`, `SECRETS_KEY_INVALID`, `SECRETS_KEY_WRONG`,
   *   `SECRETS_DAMAGED`, `SECRETS_EXPOSED`.
   */
  get(name: string): Promise<string | undefined>;
  /**
   * Store `value` under `name`. Replaces an existing value, also one that cannot be decrypted because it is damaged.
   *
   * @throws {SecretsError} as `get`; `SECRETS_VALUE_INVALID`; `SECRETS_EXISTS` for a name that differs in case only;
   *   `SECRETS_FULL`.
   */
  set(name: string, value: string): Promise<"created" | "changed">;
  /** Remove `name`. Needs no key. @returns whether the secret existed. */
  delete(name: string): Promise<boolean>;
  /**
   * Rename a secret; its value and the time of its creation stay.
   *
   * @throws {SecretsError} `SECRETS_NOT_FOUND`, `SECRETS_EXISTS`; as `get`.
   */
  rename(from: string, to: string): Promise<void>;
  /** Returns every secret by name. A secret that cannot be decrypted is listed with its problem. */
  list(): Promise<readonly SecretEntry[]>;
  /** Call `listener` for each secret that any process sets or removes, until disposed. Resolves when the watch has begun. */
  watch(listener: (change: SecretChange) => void): Promise<AsyncDisposable>;
}
