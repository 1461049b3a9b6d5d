/** Codes of this package's errors, each with its meaning. */
export const authCodes = {
  CONTROL_LISTEN_FAILED: "The operating system refused to create the control socket of the gateway.",
  TOKEN_FILE_EXPOSED:
    "A token file, or the folder of the tokens, can be read or changed by other users of the machine.",
  TOKEN_FILE_UNREADABLE: "A token file, or the folder of the tokens, cannot be read or written.",
  TOKEN_INVALID: "A token is too short, too long, or has characters that a header cannot carry.",
  TOKEN_TOO_MANY: "More token files than one gateway reads.",
} as const;

/** A key of `authCodes`. */
export type AuthCode = keyof typeof authCodes;
