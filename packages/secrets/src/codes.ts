/** Codes of this package's errors and findings, each with its meaning. */
export const secretsCodes = {
  SECRETS_NAME_INVALID: "A name that no secret can have.",
  SECRETS_VALUE_INVALID: "A value that cannot be kept as a secret: empty, too long, or no text.",
  SECRETS_NOT_FOUND: "There is no secret of this name where it was looked for.",
  SECRETS_EXISTS: "A secret of this name, or of one that differs in case only, exists already.",
  SECRETS_FULL: "The store holds as many secrets as it can.",
  SECRETS_KEY_MISSING: "Secrets are stored, but the key that they were encrypted with is gone.",
  SECRETS_KEY_INVALID: "The key of the store is no key: it has another form or length.",
  SECRETS_KEY_WRONG: "A secret was encrypted with another key than the one at hand.",
  SECRETS_DAMAGED: "A stored secret was changed, exchanged or cut outside Toolcrib.",
  SECRETS_EXPOSED: "A secret, the key, or the folder they are in is open to other users of the machine.",
  SECRETS_UNREADABLE: "A file that should hold a secret cannot be read.",
  SECRETS_UNUSABLE: "A file or keychain entry holds nothing that can be used as a secret.",
  SECRETS_UNWRITABLE: "The store cannot be written.",
  SECRETS_BUSY: "Another process has been changing the store for too long.",
  SECRETS_KEYCHAIN_UNAVAILABLE: "The keychain of the operating system cannot be asked.",
} as const;

/** A key of `secretsCodes`. */
export type SecretsCode = keyof typeof secretsCodes;
