/** Codes of this package's errors and findings, each with its meaning. */
export const cliCodes = {
  CLI_USAGE:
    "The command line itself is wrong: an unknown command or option, a missing argument, a value outside its choices.",
  CLI_ARGUMENTS_INVALID: "The arguments given for a tool are not a JSON object, or not NAME=VALUE.",
  CLI_CONFIG_NOT_FOUND: "There is no configuration where one is looked for.",
  CLI_CONFIG_INVALID: "The configuration has errors; each is shown.",
  CLI_FILE_EXISTS: "A file that would be written exists already.",
  CLI_FILE_UNUSABLE: "A file or folder cannot be read or written.",
  CLI_IMPORT_FAILED:
    "The servers of another program's file, or the operations of an API's document, cannot be taken over.",
  CLI_FETCH_FAILED: "A document cannot be fetched from its URL.",
  CLI_TOOL_NOT_FOUND: "No tool has this name.",
  CLI_TOOLSPEC_NOT_FOUND: "The catalogue has no toolspec of this name.",
  CLI_CONFIG_NOT_EDITABLE:
    "An entry cannot be added to the configuration by itself; what to write there is shown.",
  CLI_SERVER_NOT_FOUND: "No tool server has this id.",
  CLI_CALL_NOT_FOUND: "The audit trail knows no call with this id.",
  CLI_SERVER_NOT_READY:
    "A tool server that is needed is not ready, or was not within the time that the command waits.",
  CLI_GATEWAY_UNUSABLE: "The running gateway does not answer as it should.",
  CLI_PROXY_UNUSABLE:
    "The proxy that the environment names cannot be reached, or does not let a request through.",
  CLI_CREDENTIAL_MISSING: "A credential that a manifest declares is not in the environment.",
  CLI_TIMEOUT: "The call took longer than it may.",
  CLI_PROGRAM_UNUSABLE: "A program cannot be started.",
  CLI_PROGRAM_INVALID: "A Starlark program has errors and was not run; each is shown.",
  CLI_PROGRAM_FAILED: "A Starlark program failed while it ran, or used up a limit.",
  CLI_INTERRUPTED: "The command was interrupted from the keyboard or by a signal.",
  CLI_INTERNAL: "The command failed for a reason that nobody foresaw: a defect of Toolcrib.",
} as const;

/** A key of `cliCodes`. */
export type CliCode = keyof typeof cliCodes;
