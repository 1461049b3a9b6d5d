/** Codes of this package's errors and findings, each with its meaning. */
export const mcpkgInstallCodes = {
  INSTALL_RECORD_UNREADABLE: "The record of installed packages in the home cannot be read, or is damaged.",
  INSTALL_PACKAGE_CHANGED:
    "The folder of an installed package does not have exactly the files of its archive.",
} as const;

/** A code of this package. */
export type McpkgInstallCode = keyof typeof mcpkgInstallCodes;
