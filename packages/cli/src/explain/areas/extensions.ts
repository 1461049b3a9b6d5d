/** Explanations of the codes of the package extensions. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { gateway, jobsFile, message, serverFile, taskCall, taskId } from "../samples.ts";

export const explanations: Explanations = {
  TASKS_FULL: {
    cause: "Tasks are kept until they expire, and a limited number of them for each client and for all.",
    did: "A client starts a thousand tasks with a ttl of a day.",
    prints:
      "This client's share of the tasks that are kept at a time are in use\nwait until tasks of yours expire, or ask for a shorter ttl",
    unrun: "load",
    tested: "packages/extensions/test/tasks.test.ts",
    fix: "Ask for a shorter ttl, and read results soon. The limit is for all clients of the gateway.",
  },
  TASKS_UNREADABLE: {
    cause: "Tasks outlive a restart in a folder of the home, and this folder cannot be used.",
    files: serverFile("notes"),
    before: ["umask 077; mkdir -p .toolcrib; echo no > .toolcrib/tasks"],
    run: "toolcrib list --log-level warn",
    fix: "chown the folder to the user who runs Toolcrib, or remove it; tasks in it are lost.",
  },
  TASK_CANCELLED: {
    cause:
      "The client cancelled the task itself (tasks/cancel). Its call was ended; what it did until then is not undone.",
    files: jobsFile("jobs"),
    before: ["toolcrib serve &", taskCall, message("tasks/cancel", { taskId })],
    run: message("tasks/result", { taskId }),
    fix: "Nothing. Start the task again if it was cancelled by mistake.",
  },
  TASK_ENDED: {
    cause: "The task has ended, so it can neither be cancelled nor answer a question.",
    files: jobsFile("jobs"),
    before: ["toolcrib serve &", taskCall, message("tasks/cancel", { taskId })],
    run: message("tasks/cancel", { taskId }),
    fix: "Read its result with tasks/result.",
  },
  TASK_EXPIRED: {
    cause:
      "A task is kept for the time that the client asked for (ttl), at most a limit. It did not end within it.",
    did: "A client starts a task of an hour with a ttl of ten minutes.",
    prints: "The task did not end within 600 s",
    unrun: "setup",
    tested: "packages/extensions/test/tasks.test.ts",
    fix: "Ask for a longer ttl with the call, or do less in one task.",
  },
  TASK_LEFT: {
    cause:
      "The gateway is being stopped. The server goes on with its task, and the next start of the gateway asks for it again where the server supports tasks itself.",
    did: "The gateway is stopped while a server starts a task, or while the gateway itself runs one.",
    prints: "The gateway is being stopped",
    unrun: "moment",
    tested: "packages/extensions/test/tasks.test.ts",
    fix: "Ask for the task again after the restart (tasks/get). If it is not known any more, check whether it had an effect before you start it again.",
  },
  TASK_NOT_FOUND: {
    cause:
      "No task of this client has the id at this endpoint: it is misspelled, belongs to another client, has expired, or its tool is not available to the client now.",
    files: gateway.files,
    before: gateway.before,
    run: message("tasks/get", { taskId: "786512e2-9e0d-44bd-8f29-789f320fe840" }),
    fix: "Use the id from the answer to the call, with the same token and endpoint, before the ttl ends.",
  },
  TASK_NOT_SUPPORTED: {
    cause:
      "The tool does not run as a task, or runs only as one; its definition says which (execution.taskSupport).",
    files: gateway.files,
    before: gateway.before,
    run: message("tools/call", { name: "list_saved_tools", arguments: {}, task: { ttl: 60000 } }),
    fix: "Call it in the way that its definition in tools/list says.",
  },
  TASK_RESULT_TOO_LARGE: {
    cause:
      "Results of tasks share a limited memory, and this one is too large, or newer ones needed the room.",
    did: "A task exports 200 MB.",
    prints: "The result of the task is too large to be kept",
    unrun: "load",
    tested: "packages/extensions/test/tasks.test.ts",
    fix: "Let the task write a file and return its path, or ask for less. Read results soon after the end.",
  },
  TASK_RESULT_WITHHELD: {
    cause:
      "The task ended, and its tool may not be used by this client at the moment: it is denied, paused, quarantined or gone. The result is kept and not given out.",
    files: jobsFile("jobs-done"),
    before: ["toolcrib serve &", taskCall, "toolcrib pause server notes"],
    run: message("tasks/result", { taskId }),
    fix: "Ask the operator (toolcrib status, toolcrib why TOOL), and read the result when the tool may be used again.",
  },
};
