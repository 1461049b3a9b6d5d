/** Explanations of the codes of the package process. A table is one piece. */

import type { Explanations } from "../explanation.ts";

export const explanations: Explanations = {
  PROCESS_COMMAND_NOT_EXECUTABLE: {
    cause:
      "The command exists but cannot be started: it is a folder, has no right to execute, or is a batch file on Windows.",
    files: {
      "toolcrib.yaml": "tool_servers:\n  - { id: notes, transport: { kind: stdio, command: ./server.sh } }\n",
      "server.sh": "#!/bin/sh\n",
    },
    before: ["chmod 644 server.sh"],
    run: "toolcrib list --log-level warn 2>&1 | grep code",
    repaired: { before: ["chmod +x server.sh"] },
    fix: 'Run the chmod of the hint. For a folder, name the program inside it. For a batch file on Windows, write command: cmd and args: ["/c", NAME].',
  },
  PROCESS_COMMAND_NOT_FOUND: {
    cause:
      "The command of a server does not exist, or is in no folder of the PATH that the process gets. A gateway that was started by a desktop or service manager has a shorter PATH than a terminal.",
    files: {
      "toolcrib.yaml":
        "tool_servers:\n  - { id: notes, transport: { kind: stdio, command: notes-server } }\n",
    },
    run: "toolcrib list --log-level warn 2>&1 | grep code",
    fix: "Install the program, or write its full path (which uvx) as command, or set PATH in transport.env.",
  },
  PROCESS_DIRECTORY_INVALID: {
    cause: "The working directory of a server does not exist, or is not a folder.",
    files: {
      "toolcrib.yaml":
        "tool_servers:\n  - { id: notes, transport: { kind: stdio, command: sh, cwd: ./old } }\n",
    },
    run: "toolcrib list --log-level warn 2>&1 | grep code",
    fix: "Correct transport.cwd, or create the folder.",
  },
  PROCESS_LAUNCHER_CLOSED: {
    cause: "A server was to be started while the gateway was closing.",
    did: "A call arrives for a lazy server while Ctrl-C is pressed.",
    prints: 'Cannot launch server "notes": the gateway is closing',
    unrun: "moment",
    tested: "packages/process/test/process-launcher.process.test.ts",
    fix: "Start the gateway again.",
  },
  PROCESS_LAUNCH_INVALID: {
    cause:
      "A launch has something that no process can have: a NUL character, an empty command, a variable that Toolcrib reserves to recognise its processes.",
    files: {
      "toolcrib.yaml":
        "tool_servers:\n  - id: notes\n    transport: { kind: stdio, command: node, args: [notes.mjs], env: { TOOLCRIB_SERVER: a } }\n",
    },
    run: "toolcrib list --log-level warn 2>&1 | grep code",
    fix: "Remove or correct what the message names.",
  },
  PROCESS_LIMIT: {
    cause: "The gateway already runs the maximum number of processes.",
    did: "A configuration starts several hundred servers at once.",
    prints:
      'Cannot launch server "notes": 256 servers run already\nraise the limit of processes, or let servers be shared or stopped when idle',
    unrun: "load",
    tested: "packages/process/test/process-launcher.process.test.ts",
    fix: "Write start: lazy and idle_seconds for servers that are rarely used, and remove those that nobody uses.",
  },
  PROCESS_SPAWN_FAILED: {
    cause:
      "The operating system refused to start the program: its interpreter is missing (the #! line), too many processes, no memory, another architecture.",
    files: {
      "toolcrib.yaml": "tool_servers:\n  - id: notes\n    transport: { kind: stdio, command: ./notes }\n",
      notes: "#!/opt/python4\nprint()\n",
    },
    before: ["chmod +x notes"],
    run: "toolcrib list --log-level warn 2>&1 | grep attempt",
    fix: "Install the interpreter, or write it as command. EAGAIN: raise ulimit -u. ENOEXEC: the program is for another system.",
  },
  PROCESS_WATCHDOG_FAILED: {
    cause:
      "A small shell process ends all servers when the gateway is killed. It could not be started, and without it servers could remain, so none is started.",
    did: "The gateway runs in a container without /bin/sh.",
    prints:
      "Cannot start the watchdog that ends all servers when the gateway dies: spawn /bin/sh ENOENT\nit needs /bin/sh and sleep; in a container without a shell, run the gateway as process 1",
    unrun: "machine",
    tested: "packages/process/test/process-watchdog.process.test.ts",
    fix: "Use an image with /bin/sh and sleep, or run the gateway as process 1 of the container, which ends all others with it.",
  },
};
