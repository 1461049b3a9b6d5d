/** Codes of this package's errors and findings, each with its meaning. */
export const upstreamCodes = {
  UPSTREAM_LAUNCH_INVALID:
    "What a stdio server is to be launched with is malformed: a NUL, an empty command, a reserved variable, a relative directory.",
  UPSTREAM_COMMAND_NOT_FOUND:
    "The command of a stdio server does not exist, or is in no directory of the PATH that the server gets.",
  UPSTREAM_COMMAND_NOT_EXECUTABLE:
    "The command of a stdio server exists, but is not a file that this user may execute.",
  UPSTREAM_DIRECTORY_INVALID:
    "The working directory of a stdio server does not exist, is no directory or may not be entered.",
  UPSTREAM_SPAWN_FAILED: "The operating system refused to start a stdio server.",
  UPSTREAM_PROCESS_LIMIT: "As many stdio servers run as one gateway may have at a time.",
  UPSTREAM_WATCHDOG_FAILED:
    "The watchdog that kills every server when the gateway dies could not be started, so no server is.",
  UPSTREAM_LAUNCHER_CLOSED: "A stdio server was to be launched after the gateway began to close.",
  UPSTREAM_UNAVAILABLE:
    "An upstream server is not connected; the message says why and when it is tried again.",
  UPSTREAM_CLOSED: "An upstream server ended, or broke the connection, before it answered.",
  UPSTREAM_ERROR: "An upstream server answered with a JSON-RPC error.",
  UPSTREAM_LIST_ENDLESS:
    "A list of an upstream server has no end: its cursor repeats, or it has more pages or items than the limit.",
  UPSTREAM_SESSION_LIMIT: "As many clients have a session of their own with this server as the limit allows.",
  UPSTREAM_ASK_UNATTRIBUTED:
    "An upstream server asked its client something outside of any call that could be asked on account of.",
  UPSTREAM_WATCH_REFUSED:
    "A resource cannot be watched: its server does not tell of its changes, or as many are watched as the limit allows.",
} as const;

/** A key of `upstreamCodes`. */
export type UpstreamCode = keyof typeof upstreamCodes;
