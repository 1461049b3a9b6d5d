/** Codes of this package's errors, each with its meaning. */
export const processCodes = {
  PROCESS_LAUNCH_INVALID:
    "A launch request is malformed: it contains a NUL character, an empty command, a reserved variable or a relative directory.",
  PROCESS_COMMAND_NOT_FOUND:
    "The command to launch does not exist, or is in no directory of the PATH that the process gets.",
  PROCESS_COMMAND_NOT_EXECUTABLE:
    "The command to launch exists, but is not a file that this user can execute.",
  PROCESS_DIRECTORY_INVALID:
    "The working directory of a launch does not exist, is not a directory, or cannot be entered.",
  PROCESS_SPAWN_FAILED: "The operating system refused to start the process.",
  PROCESS_LIMIT: "The launcher already runs its maximum number of processes.",
  PROCESS_WATCHDOG_FAILED:
    "The watchdog, which ends all processes when the gateway dies, could not be started, so no process is launched.",
  PROCESS_LAUNCHER_CLOSED: "A launch was requested after the launcher began to close.",
} as const;

/** A key of `processCodes`. */
export type ProcessCode = keyof typeof processCodes;
