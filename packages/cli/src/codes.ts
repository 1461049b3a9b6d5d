/** The command line itself is wrong: an unknown command or option, a missing argument, a value outside its choices. */
export const cliUsage = "CLI_USAGE";
/** The arguments given for a tool are not a JSON object, or not NAME=VALUE. */
export const cliArgumentsInvalid = "CLI_ARGUMENTS_INVALID";
/** There is no configuration where one is looked for. */
export const cliConfigNotFound = "CLI_CONFIG_NOT_FOUND";
/** The configuration has errors; each is shown. */
export const cliConfigInvalid = "CLI_CONFIG_INVALID";
/** A file that would be written exists already. */
export const cliFileExists = "CLI_FILE_EXISTS";
/** A file or folder cannot be read or written. */
export const cliFileUnusable = "CLI_FILE_UNUSABLE";
/** The servers of another program's file, or the operations of an API's document, cannot be taken over. */
export const cliImportFailed = "CLI_IMPORT_FAILED";
/** A document cannot be fetched from its URL. */
export const cliFetchFailed = "CLI_FETCH_FAILED";
/** No tool has this name. */
export const cliToolNotFound = "CLI_TOOL_NOT_FOUND";
/** The catalogue has no toolspec of this name. */
export const cliToolspecNotFound = "CLI_TOOLSPEC_NOT_FOUND";
/** An entry cannot be added to the configuration by itself; what to write there is shown. */
export const cliConfigNotEditable = "CLI_CONFIG_NOT_EDITABLE";
/** No tool server has this id. */
export const cliServerNotFound = "CLI_SERVER_NOT_FOUND";
/** The audit trail knows no call with this id. */
export const cliCallNotFound = "CLI_CALL_NOT_FOUND";
/** A tool server that is needed is not ready, or was not within the time that the command waits. */
export const cliServerNotReady = "CLI_SERVER_NOT_READY";
/** The running gateway does not answer as it should. */
export const cliGatewayUnusable = "CLI_GATEWAY_UNUSABLE";
/** The proxy that the environment names cannot be reached, or does not let a request through. */
export const cliProxyUnusable = "CLI_PROXY_UNUSABLE";
/** A credential that a manifest declares is not in the environment. */
export const cliCredentialMissing = "CLI_CREDENTIAL_MISSING";
/** The call took longer than it may. */
export const cliTimeout = "CLI_TIMEOUT";
/** A program cannot be started. */
export const cliProgramUnusable = "CLI_PROGRAM_UNUSABLE";
/** A Starlark program has errors and was not run; each is shown. */
export const cliProgramInvalid = "CLI_PROGRAM_INVALID";
/** A Starlark program failed while it ran, or used up a limit. */
export const cliProgramFailed = "CLI_PROGRAM_FAILED";
/** The command was interrupted from the keyboard or by a signal. */
export const cliInterrupted = "CLI_INTERRUPTED";
/** The command failed for a reason that nobody foresaw: a defect of Toolcrib. */
export const cliInternal = "CLI_INTERNAL";
