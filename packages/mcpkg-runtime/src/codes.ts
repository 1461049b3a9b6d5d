/** Codes of this package's errors, each with its meaning. */
export const mcpkgRuntimeCodes = {
  PACKAGE_UNUSABLE: "An installed package cannot run on this machine, or not as it is configured.",
  PACKAGE_INPUT_INVALID: "A call of a package has arguments that its endpoint cannot take.",
  PACKAGE_PROGRAM_FAILED:
    "The program of a package ended with an error, or needs tools that do not exist here.",
  PACKAGE_RESULT_UNREADABLE:
    "The program of a package wrote something else than one JSON value, or too much of it.",
  PACKAGE_NOT_STARTED: "No implementation of a package could be started.",
  PACKAGE_BUSY: "Too many programs of packages run and wait.",
  PACKAGE_CHAIN_INVALID:
    "A chain cannot run: it needs a tool that does not exist, or leads back to itself, or has too many steps.",
  PACKAGE_REPLY_MISSING: "A test that replays recorded replies made a request or a call that has none.",
  PACKAGE_CHAIN_FAILED: "A step of a chain failed.",
} as const;

/** A key of `mcpkgRuntimeCodes`. */
export type McpkgRuntimeCode = keyof typeof mcpkgRuntimeCodes;
