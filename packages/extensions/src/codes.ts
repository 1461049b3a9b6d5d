/** Codes of this package's errors, each with its meaning. */
export const extensionsCodes = {
  TASK_NOT_FOUND:
    "No task of the caller has this id at this endpoint: it never existed, belongs to another client, or is not kept any more.",
  TASK_NOT_SUPPORTED: "The tool cannot run as a task, or runs only as one.",
  TASK_ENDED: "The task has ended, so that it cannot be cancelled.",
  TASK_CANCELLED: "The client cancelled the task.",
  TASK_EXPIRED: "The task did not end within the time for which it is kept.",
  TASK_LEFT: "The gateway is being stopped; the server continues the task without it.",
  TASK_RESULT_TOO_LARGE: "The result of the task is not kept: the results of tasks use all of their memory.",
  TASK_RESULT_WITHHELD:
    "The tool of the task is denied, paused, quarantined or not offered any more: its result is kept, and not given.",
  TASKS_FULL: "The maximum number of tasks, of this client or of all, is kept.",
  TASKS_UNREADABLE: "The stored tasks of the home cannot be used.",
} as const;

/** A key of `extensionsCodes`. */
export type ExtensionsCode = keyof typeof extensionsCodes;
