/** Codes of this package's errors and findings, each with its meaning. */
export const cliCodes = {
  CLI_USAGE:
    "The command line is invalid: an unknown command or option, a missing argument, a value that is not allowed.",
  CLI_ARGUMENTS_INVALID: "The arguments given for a tool are not a JSON object, or not NAME=VALUE.",
  CLI_CONFIG_NOT_FOUND: "No configuration was found.",
  CLI_CODE_NOT_FOUND: "No error code of this name exists.",
  CLI_CONFIG_INVALID: "The configuration has errors; the command lists each of them.",
  CLI_FILE_EXISTS: "A file that the command would create already exists.",
  CLI_FILE_UNUSABLE: "A file or folder cannot be read or written.",
  CLI_HOME_IN_USE: "Another gateway uses the home directory, and one of them does not share it.",
  CLI_IMPORT_FAILED:
    "The servers of another program's file, the operations of an OpenAPI document, or the program of a package, cannot be imported.",
  CLI_EXPORT_FAILED: "A saved tool cannot be written as a package: its tests have errors.",
  CLI_PUBLISH_REFUSED:
    "A saved tool is not published: it is not approved, its reach is not known, a test fails, or the version is too low.",
  CLI_PACKAGE_INVALID: "A tool package has errors; the command lists each of them.",
  CLI_PACKAGE_UNTESTED: "A tool package has no tests.",
  CLI_TEST_CALLS_OTHERS:
    "The tests of a package would make calls that were not allowed: those of a chain or program that is not installed, or of tools that can write.",
  CLI_FETCH_FAILED: "A document cannot be fetched from its URL.",
  CLI_TOOL_NOT_FOUND: "No tool has this name.",
  CLI_TOOLSPEC_NOT_FOUND: "The catalog has no toolspec with this name.",
  CLI_CONFIG_NOT_EDITABLE:
    "An entry cannot be added to the configuration automatically; the command prints the entry.",
  CLI_APPROVAL_OUTDATED:
    "Other definitions wait for approval than those that were shown, or an approval of the call would not count any more.",
  CLI_ARGUMENT_UNSEEN:
    "An argument of a contained server names a folder that no sandbox shows, such as the whole home of the user.",
  CLI_APPROVAL_NOT_FOUND: "No such tool or call waits for approval.",
  CLI_SERVER_NOT_FOUND: "No tool server, toolspec or package has this id.",
  CLI_PROFILE_NOT_FOUND: "The configuration has no profile of this name that the client may use.",
  CLI_FETCHED_NOT_FOUND: "No fetched package of a server has this name.",
  CLI_TOKEN_NOT_FOUND: "No token of this home has this name.",
  CLI_CLIENT_NOT_FOUND:
    "No client has this name: no program that can be connected, or none that received labelled data or taught search words.",
  CLI_CONNECTION_NOT_FOUND: "A client was not connected to this home.",
  CLI_CALL_NOT_FOUND: "The audit trail has no call with this id.",
  CLI_RUNNER_MISSING: "The program that fetches or builds a server (npx, uvx, go) is not installed.",
  CLI_SERVER_NOT_READY: "A required tool server is not ready, or did not become ready in time.",
  CLI_GATEWAY_UNUSABLE: "The running gateway cannot be reached, or its response is invalid.",
  CLI_PROXY_UNUSABLE: "The proxy of the environment cannot be reached, or refuses a request.",
  CLI_CREDENTIAL_MISSING: "A credential that a manifest declares is not in the environment.",
  CLI_SERVICE_UNAVAILABLE: "There is no systemd of the user that could run the gateway as a service.",
  CLI_SERVICE_FAILED: "A command of systemd about the service of the gateway failed.",
  CLI_TIMEOUT: "The call exceeded its time limit.",
  CLI_PROGRAM_UNUSABLE: "A program cannot be started.",
  CLI_PROGRAM_INVALID: "A Starlark program has errors and was not run; the command lists each of them.",
  CLI_PROGRAM_FAILED: "A Starlark program failed while it ran, or reached a limit.",
  CLI_INTERRUPTED: "The command was interrupted from the keyboard or by a signal.",
  CLI_INSTALLATION_INCOMPLETE: "A module of Toolcrib, or of a package that it needs, is missing.",
  CLI_INTERNAL: "The command failed because of a bug in Toolcrib.",
} as const;

/** A key of `cliCodes`. */
export type CliCode = keyof typeof cliCodes;
