/** What a stdio server is to be launched with is malformed: a NUL, an empty command, a reserved variable, a relative directory. */
export const upstreamLaunchInvalid = "UPSTREAM_LAUNCH_INVALID";
/** The command of a stdio server does not exist, or is in no directory of the PATH that the server gets. */
export const upstreamCommandNotFound = "UPSTREAM_COMMAND_NOT_FOUND";
/** The command of a stdio server exists, but is not a file that this user may execute. */
export const upstreamCommandNotExecutable = "UPSTREAM_COMMAND_NOT_EXECUTABLE";
/** The working directory of a stdio server does not exist, is no directory or may not be entered. */
export const upstreamDirectoryInvalid = "UPSTREAM_DIRECTORY_INVALID";
/** The operating system refused to start a stdio server. */
export const upstreamSpawnFailed = "UPSTREAM_SPAWN_FAILED";
/** As many stdio servers run as one gateway may have at a time. */
export const upstreamProcessLimit = "UPSTREAM_PROCESS_LIMIT";
/** The watchdog that kills every server when the gateway dies could not be started, so no server is. */
export const upstreamWatchdogFailed = "UPSTREAM_WATCHDOG_FAILED";
/** A stdio server was to be launched after the gateway began to close. */
export const upstreamLauncherClosed = "UPSTREAM_LAUNCHER_CLOSED";
/** An upstream server is not connected; the message says why and when it is tried again. */
export const upstreamUnavailable = "UPSTREAM_UNAVAILABLE";
/** An upstream server ended, or broke the connection, before it answered. */
export const upstreamClosed = "UPSTREAM_CLOSED";
/** An upstream server answered with a JSON-RPC error. */
export const upstreamError = "UPSTREAM_ERROR";
/** A list of an upstream server has no end: its cursor repeats, or it has more pages or items than the limit. */
export const upstreamListEndless = "UPSTREAM_LIST_ENDLESS";
/** As many clients have a session of their own with this server as the limit allows. */
export const upstreamSessionLimit = "UPSTREAM_SESSION_LIMIT";
/** An upstream server asked its client something outside of any call that could be asked on account of. */
export const upstreamAskUnattributed = "UPSTREAM_ASK_UNATTRIBUTED";
/** A resource cannot be watched: its server does not tell of its changes, or as many are watched as the limit allows. */
export const upstreamWatchRefused = "UPSTREAM_WATCH_REFUSED";
