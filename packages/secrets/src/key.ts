/**
 * The key of the store: the value of TOOLCRIB_SECRETS_KEY, the keychain entry
 * that this variable names, or a file of the store. Never part of a message.
 */

import { readKeychain } from "./keychain.ts";
import { readPrivateFile, type StoreLayout } from "./layout.ts";
import { SecretsError } from "./secrets-error.ts";

/** Bytes of an AES-256 key. */
export const keyBytes = 32;

/** Variable that contains the key, or the name of its keychain entry (`keychain:NAME`). */
export const keyVariable = "TOOLCRIB_SECRETS_KEY";

const keyFilePrefix = "toolcrib-secrets-key-1:";

/** Location of a store and of its key. */
export interface SecretKeySettings {
  /** Toolcrib's home (`~/.toolcrib`). */
  readonly home: string;
  /** Environment: `TOOLCRIB_SECRETS_KEY`, and the variables that the keychain command needs (PATH, HOME, …). */
  readonly env: { readonly [name: string]: string | undefined };
  /** Fails with `SECRETS_KEYCHAIN_UNAVAILABLE` where the keychain has the key, and asks it nothing. */
  readonly withoutKeychain?: boolean | undefined;
}

/**
 * Returns the key, or `undefined` when the store has no key yet.
 *
 * @throws {SecretsError} `SECRETS_KEY_INVALID`, `SECRETS_EXPOSED`, and the errors of `readKeychain`.
 */
export async function readKey(
  layout: StoreLayout,
  { env, withoutKeychain }: SecretKeySettings,
): Promise<Buffer | undefined> {
  const given = (env[keyVariable] ?? "").trim();
  const entry = /^keychain:(.+)$/.exec(given)?.[1];
  if (entry !== undefined) {
    const text = await readKeychain(entry, { env, platform: process.platform, withoutKeychain });
    return parseKey(text, `the entry ${JSON.stringify(entry)} of the keychain`);
  }
  if (given !== "") return parseKey(given, keyVariable);
  const file = await readPrivateFile(layout.keyPath, 1024);
  if (file === undefined) return undefined;
  const text = file.toString("latin1").trim();
  const what = JSON.stringify(layout.keyPath);
  if (!text.startsWith(keyFilePrefix)) throw invalidKey(what);
  return parseKey(text.slice(keyFilePrefix.length), what);
}

/** Returns the content of the key file. */
export function formatKeyFile(key: Uint8Array): string {
  return `${keyFilePrefix}${Buffer.from(key).toString("base64url")}\n`;
}

function parseKey(text: string, what: string): Buffer {
  const isHex = /^[0-9a-f]{64}$/i.test(text);
  const isBase64 = /^(?:[A-Za-z0-9+/]{43}=?|[A-Za-z0-9_-]{43}=?)$/.test(text);
  if (!isHex && !isBase64) throw invalidKey(what);
  return Buffer.from(text, isHex ? "hex" : "base64url");
}

function invalidKey(what: string): SecretsError {
  return new SecretsError(
    "SECRETS_KEY_INVALID",
    `Cannot use the key of the secret store in ${what}: it is not ${keyBytes} bytes in base64 or hexadecimal`,
    {
      hint: "restore the key that the secrets were set with; openssl rand -base64 32 makes one for a new store",
    },
  );
}
