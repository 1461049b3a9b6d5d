/** Codes of this package's errors, each with its meaning. */
export const mcpkgRuntimeCodes = {
  PACKAGE_UNUSABLE: "An installed package cannot run on this machine, or not as it is configured.",
  PACKAGE_INPUT_INVALID: "A call of a package has arguments that its endpoint cannot take.",
  PACKAGE_PROGRAM_FAILED: "The program of a package ended with an error.",
  PACKAGE_RESULT_UNREADABLE:
    "The program of a package wrote something else than one JSON value, or too much of it.",
  PACKAGE_NOT_STARTED: "No implementation of a package could be started.",
  PACKAGE_BUSY: "Too many programs of packages run and wait.",
} as const;

/** A key of `mcpkgRuntimeCodes`. */
export type McpkgRuntimeCode = keyof typeof mcpkgRuntimeCodes;
