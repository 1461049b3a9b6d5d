/** Codes of this package's errors and findings, each with its meaning. */
export const mcpkgRegistryCodes = {
  MCPKG_REGISTRY_FOLDER_INVALID: "A folder is not a registry, or is one already, or is in use.",
  MCPKG_REGISTRY_PLACE_INVALID: "The address of a registry is neither a folder nor a URL that is allowed.",
  MCPKG_REGISTRY_UNREACHABLE: "A registry cannot be reached, or a file of it cannot be read.",
  MCPKG_REGISTRY_TIMED_OUT: "A registry did not send a file in time.",
  MCPKG_REGISTRY_RESPONSE_INVALID: "A web server answers for a registry with another status than 200 or 304.",
  MCPKG_REGISTRY_TOO_LARGE: "An index, a package or all indexes together are larger than allowed.",
  MCPKG_REGISTRY_INDEX_INVALID: "The index of a registry does not have the form of an index.",
  MCPKG_REGISTRY_SIGNATURE_INVALID:
    "The index of a registry is not signed, or was changed after it was signed.",
  MCPKG_REGISTRY_KEY_MISMATCH: "The index of a registry is signed by another key than the known one.",
  MCPKG_REGISTRY_ROLLED_BACK:
    "The index of a registry is older than one that was seen before, or contradicts it.",
  MCPKG_REGISTRY_EXPIRED: "The index of a registry is past its expiry date.",
  MCPKG_REGISTRY_DIGEST_MISMATCH: "A file of a registry is not the one that its signed index names.",
  MCPKG_REGISTRY_STATE_INVALID: "What the home remembers of a registry cannot be read.",
  MCPKG_REGISTRY_STATE_BUSY: "Another command keeps the key of a registry from being remembered.",
  MCPKG_REGISTRY_VERSION_EXISTS: "A registry already has another archive of this version.",
  MCPKG_REGISTRY_PUBLISHER_CHANGED: "A version of a package is signed by another key than earlier versions.",
  MCPKG_REGISTRY_PACKAGE_UNSIGNED: "A package without a signature is not added to a registry.",
  MCPKG_REGISTRY_PACKAGE_INVALID: "A package with errors is not added to a registry.",
  MCPKG_REGISTRY_PACKAGE_NOT_FOUND: "No registry has a package with this toolId.",
  MCPKG_REGISTRY_VERSION_NOT_FOUND: "A registry has no version of a package in this range.",
  MCPKG_REGISTRY_RANGE_INVALID: "A range of versions is not one of SemVer.",
  SERVER_IMPORT_FILE_TOO_LARGE: "A server.json, or the manifest of a bundle, is longer than 1 MiB.",
  SERVER_IMPORT_SYNTAX: "A server.json, or the manifest of a bundle, is not readable JSON.",
  SERVER_IMPORT_TOO_COMPLEX: "A server.json, or the manifest of a bundle, is nested too deep.",
  SERVER_IMPORT_DUPLICATE_KEY: "A member occurs twice in one object of a server.json or a manifest.",
  SERVER_IMPORT_FIELD_REQUIRED: "A required member of a server.json or a manifest is missing.",
  SERVER_IMPORT_WRONG_TYPE: "A value of a server.json or a manifest has the wrong type.",
  SERVER_IMPORT_VALUE_INVALID:
    "A value of a server.json or a manifest, or one that was given for it, is not allowed.",
  SERVER_IMPORT_VALUE_MISSING: "A server needs a value that its file does not contain.",
  SERVER_IMPORT_LEFT_OUT: "A part of a server.json or a bundle is not imported.",
  SERVER_IMPORT_UNSUPPORTED: "A server cannot be started or reached as its file describes it.",
  SERVER_IMPORT_UNPINNED: "A server has no exact version.",
  SERVER_IMPORT_SECRET_EXPOSED: "A secret would be in a place that others can read; it is not imported.",
  SERVER_IMPORT_LOADER_VARIABLE:
    "A server.json or a bundle sets a variable that chooses the code that a program loads; it is not imported.",
  SERVER_IMPORT_SIGNATURE_INVALID: "A bundle was changed after it was signed, or its signature is damaged.",
  SERVER_IMPORT_CONTAINMENT:
    "A server works differently, or not, within the containment of an unverified one.",
  SERVER_IMPORT_DEPRECATED: "The publisher of a server does not offer it any more.",
  SERVER_IMPORT_BUNDLE_INVALID: "A bundle (.mcpb) has no manifest, or lacks a file that its manifest names.",
  MCPKG_REGISTRY_LISTEN_FAILED: "The server of a registry cannot listen at its address.",
} as const;

/** A code of this package. */
export type McpkgRegistryCode = keyof typeof mcpkgRegistryCodes;
