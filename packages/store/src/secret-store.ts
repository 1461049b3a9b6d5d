/**
 * The interface of the store of secrets, and its records. Types only. The engine of
 * one machine keeps one encrypted file for each secret (package `secrets`); every
 * engine passes the contract tests in `@toolcrib/testing`.
 */

import type { CodedError } from "@toolcrib/diagnostics";

/** A stored secret without its value. */
export interface SecretEntry {
  readonly name: string;
  /** Milliseconds since the epoch; `undefined` when the secret cannot be decrypted. */
  readonly createdAt: number | undefined;
  readonly updatedAt: number | undefined;
  /** Why the secret cannot be decrypted. */
  readonly problem: CodedError | undefined;
}

/** A change of one secret. */
export interface SecretChange {
  readonly kind: "set" | "removed";
  readonly name: string;
}

/**
 * The secrets of one home, which several open stores share.
 *
 * Each change is atomic and applies to one secret. Changes of all stores of a home are
 * made one after the other, and a change that resolved is visible to every later read
 * of every store. Values have at most 65,536 bytes of UTF-8. No method returns or
 * reports a value except `get`.
 */
export interface SecretStore extends AsyncDisposable {
  /**
   * Returns the value of `name`, or `undefined` when no such secret exists.
   *
   * @throws {CodedError} `SECRETS_NAME_INVALID`, `SECRETS_KEY_MISSING`, `SECRETS_KEY_INVALID`, `SECRETS_KEY_WRONG`,
   *   `SECRETS_DAMAGED`, `SECRETS_EXPOSED`.
   */
  get(name: string): Promise<string | undefined>;
  /**
   * Stores `value` under `name`. Replaces an existing value, also one that cannot be decrypted because it is damaged.
   *
   * @throws {CodedError} as `get`; `SECRETS_VALUE_INVALID`; `SECRETS_EXISTS` for a name that differs in case only;
   *   `SECRETS_FULL`.
   */
  set(name: string, value: string): Promise<"created" | "changed">;
  /** Removes `name`. Needs no key. @returns whether the secret existed. */
  delete(name: string): Promise<boolean>;
  /**
   * Renames a secret; its value and the time of its creation stay.
   *
   * @throws {CodedError} `SECRETS_NOT_FOUND`, `SECRETS_EXISTS`; as `get`.
   */
  rename(from: string, to: string): Promise<void>;
  /** Returns every secret by name. A secret that cannot be decrypted is listed with its problem. */
  list(): Promise<readonly SecretEntry[]>;
  /** Calls `listener` for each secret that any process sets or removes, until disposed. Resolves when the watch has begun. */
  watch(listener: (change: SecretChange) => void): Promise<AsyncDisposable>;
}
