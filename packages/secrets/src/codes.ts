/** Codes of this package's errors, each with its meaning. */
export const secretsCodes = {
  SECRETS_NAME_INVALID: "The name is not valid for a secret.",
  SECRETS_VALUE_INVALID: "The value cannot be stored as a secret: it is empty, too long, or not text.",
  SECRETS_NOT_FOUND: "No secret has this name in the searched place.",
  SECRETS_EXISTS: "A secret with this name, or with a name that differs in case only, exists.",
  SECRETS_FULL: "The store has its maximum number of secrets.",
  SECRETS_KEY_MISSING: "The store has secrets, but the key that they were encrypted with is missing.",
  SECRETS_KEY_INVALID: "The key of the store has an invalid form or length.",
  SECRETS_KEY_WRONG: "A secret was encrypted with a different key.",
  SECRETS_DAMAGED: "A stored secret was changed, replaced or truncated outside Toolcrib.",
  SECRETS_EXPOSED: "A secret, the key, or their folder is open to other users of the machine.",
  SECRETS_UNREADABLE: "A secret file cannot be read.",
  SECRETS_UNUSABLE: "The content of a secret file or keychain entry cannot be used as a secret.",
  SECRETS_UNWRITABLE: "The store cannot be written.",
  SECRETS_BUSY: "Another process has locked the store for too long.",
  SECRETS_KEYCHAIN_UNAVAILABLE: "The keychain of the operating system cannot be read.",
} as const;

/** A key of `secretsCodes`. */
export type SecretsCode = keyof typeof secretsCodes;
