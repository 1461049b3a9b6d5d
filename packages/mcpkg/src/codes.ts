/** Codes of this package's errors and findings, each with its meaning. */
export const mcpkgCodes = {
  MCPKG_ARCHIVE_INVALID: "An archive is not a ZIP file that every program reads in the same way.",
  MCPKG_ARCHIVE_TOO_LARGE: "An archive, or what it contains, is larger than a package may be.",
  MCPKG_PATH_INVALID: "The path of a file in a package is not allowed, or looks like another one.",
  MCPKG_FOLDER_UNUSABLE: "A folder or a file of it cannot be read as a package.",
  MCPKG_FILE_MISSING: "A file that a manifest names is not in the package.",
  MCPKG_FILE_UNUSED: "A file of a package looks like a part of it, but the manifest does not name it.",
  MCPKG_FILE_TOO_LARGE: "A manifest or a test is longer than 1 MiB.",
  MCPKG_SYNTAX: "A manifest or a test is not readable JSON.",
  MCPKG_TOO_COMPLEX: "A manifest or a test is nested too deep.",
  MCPKG_DUPLICATE_KEY: "A member occurs twice in one object of a manifest or a test.",
  MCPKG_UNKNOWN_FIELD: "A manifest or a test has a member that this version of the format does not have.",
  MCPKG_FIELD_REQUIRED: "A required member of a manifest or a test is missing.",
  MCPKG_WRONG_TYPE: "A value of a manifest or a test has the wrong type.",
  MCPKG_VALUE_INVALID: "A value of a manifest or a test is not allowed there.",
  MCPKG_TOOL_ID_INVALID: "A toolId is not two or more parts of a-z 0-9 _ with dots between.",
  MCPKG_VERSION_INVALID: "A version is not MAJOR.MINOR.PATCH (SemVer).",
  MCPKG_SCHEMA_INVALID: "An input schema or an output schema is not a JSON Schema that can be used.",
  MCPKG_ENDPOINT_INVALID: "An endpoint cannot be called as it is written.",
  MCPKG_COMMAND_INVALID: "The command of a local endpoint is not a program that packages may run.",
  MCPKG_PROGRAM_INVALID:
    "The program of a Starlark endpoint is not UTF-8, is too long, or its list of tools names one twice or its own package.",
  MCPKG_CHAIN_INVALID: "A step of a chain names something that does not exist at that point.",
  MCPKG_JSON_PATH_INVALID: "A path is not a JSONPath (RFC 9535).",
  MCPKG_JSON_PATH_LIMIT: "The evaluation of a JSONPath needs more nodes, steps or time than allowed.",
  MCPKG_ASSERTION_INVALID: "An assertion of a test has no condition, or several.",
  MCPKG_TEST_INPUT_INVALID: "The input of a test does not match the input schema.",
  MCPKG_SIGNATURE_INVALID:
    "The signature of a package does not cover exactly its files, or is not by its key.",
  MCPKG_KEY_INVALID: "A key is not an Ed25519 key in PEM.",
} as const;

/** A code of this package. */
export type McpkgCode = keyof typeof mcpkgCodes;
