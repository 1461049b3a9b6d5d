/**
 * The codes of everything that can be wrong with a configuration, by subject.
 * Meanings only; the messages stand where the problem is found.
 */

/** A configuration file cannot be read (missing, a folder, no permission). */
export const configFileUnreadable = "CONFIG_FILE_UNREADABLE";
/** A configuration file is longer than 1 MiB. */
export const configFileTooLarge = "CONFIG_FILE_TOO_LARGE";
/** A configuration text is neither readable YAML nor readable JSON. */
export const configSyntax = "CONFIG_SYNTAX";
/** A field is given twice in one map. */
export const configDuplicateKey = "CONFIG_DUPLICATE_KEY";
/** A configuration nests too deep, or its aliases expand to too many values. */
export const configTooComplex = "CONFIG_TOO_COMPLEX";

/** A field that the configuration does not have. */
export const configUnknownField = "CONFIG_UNKNOWN_FIELD";
/** A field that must be there is not. */
export const configFieldRequired = "CONFIG_FIELD_REQUIRED";
/** A field belongs to another transport kind. */
export const configFieldMisplaced = "CONFIG_FIELD_MISPLACED";
/** A value has the wrong type, such as a number where a string belongs. */
export const configWrongType = "CONFIG_WRONG_TYPE";
/** A value is outside what its field allows. */
export const configInvalidValue = "CONFIG_INVALID_VALUE";
/** A section of the configuration that this version does not read yet. */
export const configSectionNotAvailable = "CONFIG_SECTION_NOT_AVAILABLE";
/** A value of a field that this version does not support yet. */
export const configValueNotAvailable = "CONFIG_VALUE_NOT_AVAILABLE";

/** A tool server and a provider target have the same id. */
export const configConflatedTarget = "CONFIG_CONFLATED_TARGET";
/** The kind of a transport is absent or not one of stdio, sse, streamable_http. */
export const configTransportKind = "CONFIG_TRANSPORT_KIND";
/** A credential stands in the configuration where a secret_key_ref belongs. */
export const configInlineSecret = "CONFIG_INLINE_SECRET";
/** A stdio transport has no command. */
export const configCommandRequired = "CONFIG_COMMAND_REQUIRED";
/** An sse or streamable_http transport has no URL. */
export const configUrlRequired = "CONFIG_URL_REQUIRED";

/** A command holds its arguments too, so that no such executable will be found. */
export const configCommandSuspicious = "CONFIG_COMMAND_SUSPICIOUS";
/** The URL of a transport cannot be read or has another scheme than http or https. */
export const configUrlInvalid = "CONFIG_URL_INVALID";
/** The URL of a transport is http and leads off this machine without allow_http. */
export const configUrlInsecure = "CONFIG_URL_INSECURE";
/** The URL of a transport carries a user name or password. */
export const configUrlCredentials = "CONFIG_URL_CREDENTIALS";
/** A header that Toolcrib sets itself. */
export const configHeaderNotAllowed = "CONFIG_HEADER_NOT_ALLOWED";
/** The id of a tool server does not fit into tool names. */
export const configIdInvalid = "CONFIG_ID_INVALID";
/** Two tool servers of one file have the same id. */
export const configIdDuplicate = "CONFIG_ID_DUPLICATE";
/** Two ids differ only in case or separators. */
export const configIdCollision = "CONFIG_ID_COLLISION";
/** The name of a server of another program's file was changed into an id that fits. */
export const configIdNormalized = "CONFIG_ID_NORMALIZED";
/** A scoped containment has no list that says its scope. */
export const configScopeMissing = "CONFIG_SCOPE_MISSING";
/** A scope is listed, but the containment is not scoped. */
export const configScopeUnused = "CONFIG_SCOPE_UNUSED";

/** The catalogue has no toolspec of this name or version, or a path leads to no pair of manifest and toolspec. */
export const configToolspecNotFound = "CONFIG_TOOLSPEC_NOT_FOUND";
/** A manifest or toolspec cannot be read. */
export const configToolspecUnreadable = "CONFIG_TOOLSPEC_UNREADABLE";
/** A manifest or toolspec has errors; each is shown where it stands. */
export const configToolspecInvalid = "CONFIG_TOOLSPEC_INVALID";
/** A toolspec needs a secret for a credential, and none is named. */
export const configCredentialMissing = "CONFIG_CREDENTIAL_MISSING";
/** The manifest has no credential of this id. */
export const configCredentialUnknown = "CONFIG_CREDENTIAL_UNKNOWN";
/** The toolspec has no tool or parameter of this name, or offers none at all. */
export const configToolUnknown = "CONFIG_TOOL_UNKNOWN";
/** A variable of a toolspec is not set, cannot stand in a path, or there is none of this name. */
export const configToolspecVariable = "CONFIG_TOOLSPEC_VARIABLE";
/** The variables of a toolspec make a host that its manifest does not allow. */
export const configToolspecHost = "CONFIG_TOOLSPEC_HOST";
/** A file of egress.ca_files cannot be read or has no certificate. */
export const configCaFileInvalid = "CONFIG_CA_FILE_INVALID";

/** A tool server or a later file asks for less containment than policy.floor demands. */
export const configPolicyFloor = "CONFIG_POLICY_FLOOR";
/** serve.auth is none on an address that other machines can reach. */
export const configAuthExposed = "CONFIG_AUTH_EXPOSED";

/** A field of another program's file that has no effect here. */
export const configForeignField = "CONFIG_FOREIGN_FIELD";
/** A server of another program's file is disabled there and was left out. */
export const configForeignDisabled = "CONFIG_FOREIGN_DISABLED";
/** A variable that nobody fills here, such as ${input:token}, which only the other program can. */
export const configVariableNotAvailable = "CONFIG_VARIABLE_NOT_AVAILABLE";
/** A variable names something that the environment does not have. */
export const configVariableNotSet = "CONFIG_VARIABLE_NOT_SET";

/** A secret reference leads nowhere. */
export const configSecretNotFound = "CONFIG_SECRET_NOT_FOUND";
/** A secret cannot be read from its file or from the secret store. */
export const configSecretUnreadable = "CONFIG_SECRET_UNREADABLE";
/** A secret file can be read by other users of the machine. */
export const configSecretExposed = "CONFIG_SECRET_EXPOSED";
/** The keychain that a secret reference names cannot be asked. */
export const configSecretNotAvailable = "CONFIG_SECRET_NOT_AVAILABLE";
/** A secret's value cannot be used where it is wanted (empty, a line break in a header). */
export const configSecretUnusable = "CONFIG_SECRET_UNUSABLE";
