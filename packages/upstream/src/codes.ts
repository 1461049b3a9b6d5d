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
