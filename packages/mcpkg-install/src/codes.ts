/** Codes of this package's errors and findings, each with its meaning. */
export const mcpkgInstallCodes = {
  INSTALL_RECORD_UNREADABLE: "The record of installed packages in the home cannot be read, or is damaged.",
  INSTALL_PACKAGE_CHANGED:
    "The folder of an installed package does not have exactly the files of its archive.",
  INSTALL_SOURCE_INVALID: "What is to be installed is not a file, a folder, an https URL or a toolId.",
  INSTALL_SOURCE_UNUSABLE: "The archive or the folder of a package cannot be read, or fetched from its URL.",
  INSTALL_NO_REGISTRY: "A toolId is to be installed, and there is no registry to find it in.",
  INSTALL_PACKAGE_NOT_FOUND: "No registry has a package of this toolId with a version in the range.",
  INSTALL_PACKAGE_INVALID: "A package that is to be installed has errors, which are listed.",
  INSTALL_DIGEST_MISMATCH:
    "An archive is not the one that the registry or the lock file names: it has another digest.",
  INSTALL_KEY_MISMATCH:
    "A package is not signed by the key that was named with --key-id, or that the registry states.",
  INSTALL_UNSIGNED: "A package from a URL or a registry is not signed.",
  INSTALL_SIGNATURE_STRIPPED: "A package is not signed, and the one with this toolId before it was.",
  INSTALL_KEY_CHANGED: "A package is signed by another key than the one that is pinned for its toolId.",
  INSTALL_REACH_NOT_APPROVED:
    "The Starlark program of a package can call tools that the operator has not approved for it.",
  INSTALL_DOWNGRADE: "A package is older than the installed or the locked one.",
  INSTALL_RELEASE_CHANGED:
    "A package has the same version as the installed or the locked one, and other content.",
  INSTALL_FOLDER_TAKEN: "Where a package would be installed lies something that Toolcrib did not install.",
  INSTALL_FOLDER_UNUSABLE: "The folder in which packages are installed cannot be used, or is a link.",
  INSTALL_TOOLS_MISSING: "A chain calls tools that are neither installed nor found.",
  INSTALL_CHAIN_CYCLE: "Chains call each other in a circle.",
  INSTALL_TOO_LARGE: "More packages, or more bytes, would be installed at once than is allowed.",
  INSTALL_TOOL_TWICE: "Two of the packages that are to be installed are the same tool.",
  INSTALL_TOOL_NEEDED: "A package that is to be removed is called by the chain of another one.",
  INSTALL_NOT_FOUND: "No package with this toolId is installed there.",
  INSTALL_CHANGE_PENDING:
    "An interrupted change in another place cannot be completed; it stays pending, and other places are not affected.",
  INSTALL_BUSY: "Another command installs or removes packages and did not finish in time.",
  INSTALL_LOCK_INVALID: "The file mcp.lock cannot be read, or is damaged.",
} as const;

/** A code of this package. */
export type McpkgInstallCode = keyof typeof mcpkgInstallCodes;
