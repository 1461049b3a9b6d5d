/** Codes of this package's errors, each with its meaning. */
export const discoveryCodes = {
  CURSOR_UNKNOWN:
    "The cursor of `read_more` names no part of a result that this client can read: it is misspelled, of another client, expired, or the tool is not available to the client any more.",
} as const;

/** A key of `discoveryCodes`. */
export type DiscoveryCode = keyof typeof discoveryCodes;
