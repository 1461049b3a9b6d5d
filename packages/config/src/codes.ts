/** Codes of this package's errors and findings, each with its meaning. */
export const configCodes = {
  CONFIG_FILE_UNREADABLE: "A configuration file cannot be read (missing, a folder, no permission).",
  CONFIG_FILE_TOO_LARGE: "A configuration file is longer than 1 MiB.",
  CONFIG_POLICY_UNREADABLE: "A file of policy.files cannot be read.",
  CONFIG_SYNTAX: "A configuration text is neither readable YAML nor readable JSON.",
  CONFIG_DUPLICATE_KEY: "A field is given twice in one map.",
  CONFIG_TOO_COMPLEX: "A configuration nests too deep, or its aliases expand to too many values.",
  CONFIG_UNKNOWN_FIELD: "A field that the configuration does not have.",
  CONFIG_FIELD_REQUIRED: "A required field is missing.",
  CONFIG_FIELD_MISPLACED: "A field belongs to another transport kind.",
  CONFIG_WRONG_TYPE: "A value has the wrong type, such as a number where a string belongs.",
  CONFIG_INVALID_VALUE: "A field does not allow this value.",
  CONFIG_CONFLATED_TARGET: "A tool server and a provider target have the same id.",
  CONFIG_TRANSPORT_KIND: "The kind of a transport is absent or not one of stdio, sse, streamable_http.",
  CONFIG_INLINE_SECRET: "The configuration contains a credential where it needs a secret_key_ref.",
  CONFIG_COMMAND_REQUIRED: "A stdio transport has no command.",
  CONFIG_URL_REQUIRED: "An sse or streamable_http transport has no URL.",
  CONFIG_COMMAND_NOT_FOUND:
    "The command of a tool server or hook, or the script of a hook, is not on this machine, or is not executable.",
  CONFIG_COMMAND_SUSPICIOUS: "A command contains its arguments, so no such executable exists.",
  CONFIG_URL_INVALID: "The URL of a transport cannot be read or has a scheme other than http and https.",
  CONFIG_URL_INSECURE: "The URL of a transport is http to another machine, without allow_http.",
  CONFIG_URL_CREDENTIALS: "The URL of a transport contains a user name or password.",
  CONFIG_HEADER_NOT_ALLOWED: "A header that only Toolcrib sets.",
  CONFIG_ID_INVALID: "The id of a tool server contains characters that tool names cannot have.",
  CONFIG_ID_DUPLICATE: "Two tool servers of one file have the same id.",
  CONFIG_ID_COLLISION: "Two ids differ only in case or separators.",
  CONFIG_ID_NORMALIZED: "The name of a server in another program's file was changed into a valid id.",
  CONFIG_SCOPE_MISSING: "A scoped containment has no list of its scope.",
  CONFIG_SCOPE_UNUSED: "A scope is listed, but the containment is not scoped.",
  CONFIG_TOOLSPEC_NOT_FOUND:
    "The catalog has no toolspec of this name or version, or a path does not lead to a pair of manifest and toolspec.",
  CONFIG_TOOLSPEC_UNREADABLE: "A manifest or toolspec cannot be read.",
  CONFIG_TOOLSPEC_INVALID: "A manifest or toolspec has errors; each is reported at its place.",
  CONFIG_MANIFEST_NOT_FOUND: "The catalog has no manifest of this name or version, or a path leads to none.",
  CONFIG_MANIFEST_UNREADABLE: "The manifest of an adopted server, or its lock, cannot be read.",
  CONFIG_MANIFEST_INVALID: "The manifest of an adopted server has errors, or adopts no server.",
  CONFIG_MANIFEST_LOCK:
    "The lock of an adopted server is missing, or is not the one that its manifest records.",
  CONFIG_CREDENTIAL_MISSING:
    "A toolspec or an adopted server needs a secret for a credential, and the entry names none.",
  CONFIG_CREDENTIAL_UNKNOWN: "The manifest has no credential of this id.",
  CONFIG_TOOL_UNKNOWN:
    "The toolspec or manifest has no tool or parameter of this name, or offers none at all.",
  CONFIG_TOOLSPEC_VARIABLE:
    "A variable of a toolspec is not set, cannot be used in a path, or does not exist.",
  CONFIG_TOOLSPEC_HOST: "The variables of a toolspec produce a host that its manifest does not allow.",
  CONFIG_CA_FILE_INVALID:
    "A file of egress.ca_files or transport.ca_file cannot be read or has no certificate.",
  CONFIG_RULE_UNMATCHED:
    "A rule names a server, tool or client that is not known (a warning): it may be misspelled.",
  CONFIG_IDLE_UNUSED: "idle_seconds is set for a server that does not start lazily.",
  CONFIG_POLICY_FLOOR: "A tool server or a later file declares less containment than policy.floor requires.",
  CONFIG_AUTH_EXPOSED: "serve.auth is none on an address that other machines can reach.",
  CONFIG_RESOURCE_HOST:
    "The endpoint refuses requests to the host that serve.auth.resource names (a warning).",
  CONFIG_FOREIGN_FIELD: "A field of another program's file that has no effect here.",
  CONFIG_FOREIGN_DISABLED: "A server of another program's file is disabled there and is ignored.",
  CONFIG_VARIABLE_NOT_AVAILABLE: "A variable that only the other program can fill in, such as `input:token`.",
  CONFIG_VARIABLE_NOT_SET: "The environment does not have the variable.",
  CONFIG_SECRET_NOT_FOUND: "No secret exists for a reference.",
  CONFIG_SECRET_UNREADABLE: "A secret cannot be read from its file or from the secret store.",
  CONFIG_SECRET_EXPOSED: "A secret file can be read by other users of the machine.",
  CONFIG_SECRET_NOT_AVAILABLE: "The keychain of a secret reference is not available.",
  CONFIG_SECRET_UNUSABLE: "A secret's value cannot be used in its place (empty, a line break in a header).",
} as const;

/** A key of `configCodes`. */
export type ConfigCode = keyof typeof configCodes;
