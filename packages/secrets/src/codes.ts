/** A name that no secret can have. */
export const secretsNameInvalid = "SECRETS_NAME_INVALID";
/** A value that cannot be kept as a secret: empty, too long, or no text. */
export const secretsValueInvalid = "SECRETS_VALUE_INVALID";
/** There is no secret of this name where it was looked for. */
export const secretsNotFound = "SECRETS_NOT_FOUND";
/** A secret of this name, or of one that differs in case only, exists already. */
export const secretsExists = "SECRETS_EXISTS";
/** The store holds as many secrets as it can. */
export const secretsFull = "SECRETS_FULL";
/** Secrets are stored, but the key that they were encrypted with is gone. */
export const secretsKeyMissing = "SECRETS_KEY_MISSING";
/** The key of the store is no key: it has another form or length. */
export const secretsKeyInvalid = "SECRETS_KEY_INVALID";
/** A secret was encrypted with another key than the one at hand. */
export const secretsKeyWrong = "SECRETS_KEY_WRONG";
/** A stored secret was changed, exchanged or cut outside Toolcrib. */
export const secretsDamaged = "SECRETS_DAMAGED";
/** A secret, the key, or the folder they are in is open to other users of the machine. */
export const secretsExposed = "SECRETS_EXPOSED";
/** A file that should hold a secret cannot be read. */
export const secretsUnreadable = "SECRETS_UNREADABLE";
/** A file or keychain entry holds nothing that can be used as a secret. */
export const secretsUnusable = "SECRETS_UNUSABLE";
/** The store cannot be written. */
export const secretsUnwritable = "SECRETS_UNWRITABLE";
/** Another process has been changing the store for too long. */
export const secretsBusy = "SECRETS_BUSY";
/** The keychain of the operating system cannot be asked. */
export const secretsKeychainUnavailable = "SECRETS_KEYCHAIN_UNAVAILABLE";
