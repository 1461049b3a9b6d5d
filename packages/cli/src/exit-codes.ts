/**
 * Exit codes, their meanings, and the exit code of each error. Scripts may branch
 * on them; a code keeps its meaning.
 */

import { isCodedError } from "@toolcrib/diagnostics";

/** The exit codes by name. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  denied: 3,
  notFound: 4,
  unavailable: 5,
  interrupted: 130,
} as const;

/** An exit code of the command. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Returns the exit code of a program that the command ran. The program defines its meaning. */
export function toExitCode(code: number): ExitCode {
  return code as ExitCode;
}

/** The meaning of each exit code, for `toolcrib help exit-codes` and the documentation. */
export const exitCodeMeanings: readonly { readonly code: ExitCode; readonly meaning: string }[] = [
  { code: exitCodes.done, meaning: "done" },
  {
    code: exitCodes.failed,
    meaning: "failed: a tool returned an error, doctor found a problem, a program has errors",
  },
  { code: exitCodes.usage, meaning: "wrong usage or configuration" },
  {
    code: exitCodes.denied,
    meaning:
      "denied by policy, a hook or the declaration of a server, paused, beyond a limit, or without an approval",
  },
  {
    code: exitCodes.notFound,
    meaning: "no such name: a tool, server, client, profile, package, token, secret, call or error code",
  },
  {
    code: exitCodes.unavailable,
    meaning:
      "unavailable or timed out: a server, the host of an API, the gateway, the address to listen on; the audit trail, or a file about it that audit verify is to read",
  },
  { code: exitCodes.interrupted, meaning: "interrupted (Ctrl-C)" },
];

/** The treatment of an unknown name, for `toolcrib help exit-codes` and the documentation. */
export const unknownNames: readonly { readonly what: string; readonly outcome: string }[] = [
  {
    what: "the name of a server, tool, client, profile, package, token, secret, saved tool, call or error code",
    outcome: "exit code 4, nothing is changed, and the nearest name as a hint",
  },
  {
    what: "the same, for pause, enable and disable, where no gateway runs and no configuration says what exists",
    outcome: "done (0)",
  },
  {
    what: "pause, for a pattern or a client; an identity provider may know the client",
    outcome: "paused, with a warning and the nearest name",
  },
  { what: "why and policy, for a client", outcome: "the answer for a client without rules, with a warning" },
  { what: "a filter of audit", outcome: "no records (0)" },
  { what: "a command, an option, a help topic or a file of the configuration", outcome: "exit code 2" },
  {
    what: "a file that audit verify is to read",
    outcome: "exit code 5, because 1 means that something was found",
  },
  { what: "another file", outcome: "exit code 1" },
];

/** Exit codes with their error codes. The first match decides; without a match it is `failed`. */
const codesOf: readonly (readonly [ExitCode, RegExp])[] = [
  [
    exitCodes.denied,
    /^(?:POLICY_DENIED|POLICY_UNAVAILABLE|CALL_PAUSED|PAUSES_UNREADABLE|RATE_LIMITED|BUDGET_EXCEEDED|BUDGETS_UNREADABLE|OUTSIDE_WINDOW|HOOK_DENIED|HOOK_FAILED|RESULT_WITHHELD|MUTABILITY_VIOLATION|CONTAINMENT_VIOLATION)$/,
  ],
  [exitCodes.interrupted, /^CLI_INTERRUPTED$/],
  [exitCodes.usage, /^(?:CONFIG|TOKEN)_/],
  [
    exitCodes.usage,
    /^CLI_(?:USAGE|ARGUMENTS_INVALID|CONFIG_NOT_FOUND|CONFIG_INVALID|CONFIG_NOT_EDITABLE|CREDENTIAL_MISSING|FILE_EXISTS|IMPORT_FAILED)$/,
  ],
  [exitCodes.usage, /^(?:HTTP_AUTH_REQUIRED|STORE_HOME_UNUSABLE|AUDIT_QUERY_INVALID|MCP_UNAUTHORIZED)$/],
  [exitCodes.usage, /^METATOOL_(?:PACKAGE_EXISTS|PACKAGE_INVALID|DIRECTORY_UNUSABLE)$/],
  [exitCodes.unavailable, /^(?:METATOOL_DIRECTORY_BUSY|INSTALL_BUSY)$/],
  [exitCodes.usage, /^INSTALL_(?:SOURCE_INVALID|NO_REGISTRY|LOCK_INVALID|RECORD_UNREADABLE)$/],
  [exitCodes.usage, /^SECRETS_(?:NAME_INVALID|VALUE_INVALID|UNUSABLE|EXISTS|KEY_INVALID)$/],
  [exitCodes.unavailable, /^SECRETS_(?:BUSY|KEYCHAIN_UNAVAILABLE)$/],
  [exitCodes.unavailable, /^CLI_(?:HOME_IN_USE|SERVER_NOT_READY|RUNNER_MISSING|GATEWAY_UNUSABLE|TIMEOUT)$/],
  [exitCodes.unavailable, /^(?:HTTP_ADDRESS_IN_USE|HTTP_LISTEN_FAILED|CONTROL_LISTEN_FAILED)$/],
  [
    exitCodes.unavailable,
    /^(?:TOOL_UNAVAILABLE|CALL_TIMEOUT|CALLS_OVERLOADED|CALLS_SHARE_EXCEEDED|AUDIT_UNAVAILABLE|AUDIT_UNWRITABLE|AUDIT_UNREADABLE|AUDIT_ANCHOR_UNREADABLE)$/,
  ],
  [
    exitCodes.unavailable,
    /^MCP_(?:TIMEOUT|CONNECTION_CLOSED|UNREACHABLE|HTTP_ERROR|SESSION_EXPIRED|OVERLOADED|UNSUPPORTED_VERSION)$/,
  ],
  [exitCodes.unavailable, /^EGRESS_(?:UNREACHABLE|TIMED_OUT|TLS_FAILED|CONNECTION_LOST|LISTEN_FAILED)$/],
  // An error response of a server is a failed call. All other upstream errors mean that it is unavailable.
  [exitCodes.unavailable, /^(?:PROCESS_|UPSTREAM_(?!ERROR$))/],
  // The names of switches are the only thing that can be wrong in them.
  [exitCodes.notFound, /(?:_NOT_FOUND|^SWITCH_INVALID)$/],
];

/** Returns the exit code for an error code. */
export function exitCodeOf(code: string): ExitCode {
  return codesOf.find(([, pattern]) => pattern.test(code))?.[0] ?? exitCodes.failed;
}

/** Returns the exit code for a thrown error. */
export function exitCodeOfError(error: unknown): ExitCode {
  return isCodedError(error) ? exitCodeOf(error.code) : exitCodes.failed;
}
