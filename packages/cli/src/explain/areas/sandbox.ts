/** Explanations of the codes of the package sandbox. A table is one piece. */

import type { Explanations } from "../explanation.ts";

export const explanations: Explanations = {
  SANDBOX_LIMIT: {
    cause:
      "sandbox.max_sandboxes limits how many contained processes run at a time, so that a machine is not filled with them. All are in use.",
    did: "A configuration has 120 contained servers, and the limit is 100.",
    prints:
      "Cannot start another sandbox: 100 run already\nraise sandbox.max_sandboxes, write start: lazy for servers, or remove some",
    unrun: "load",
    tested: "packages/sandbox/test/control-groups.process.test.ts",
    fix: "Write start: lazy and idle_seconds for servers that are rarely used, remove some, or raise sandbox.max_sandboxes if the machine has the memory.",
  },
  SANDBOX_PATH_REFUSED: {
    cause:
      "A path that a contained process should read or write holds something that would undo the containment: the home of Toolcrib, the configuration, credentials such as ~/.ssh, a socket, the whole file system; or the path does not exist, or cannot be looked up: links that lead in a circle, or a folder above it that the user of the gateway may not search. Or the program lies in a folder that it may write itself, and a link or the first line of a script there leads to a program that its sandbox does not show otherwise.",
    files: {
      "toolcrib.yaml":
        'tool_servers:\n  - { id: notes, transport: { kind: stdio, command: sh }, containment: { read_paths: ["/"] } }\n',
    },
    run: "toolcrib list --log-level warn 2>&1 | grep code",
    fix: "Name a narrower folder that has only what the server works with, and create it if it does not exist. For a program behind a link that it can change, add the folder of its installation to read_paths.",
  },
  SANDBOX_UNAVAILABLE: {
    cause:
      "The server declares a containment (no network, a scoped network, limited paths), and this machine has nothing to enforce it: bubblewrap is missing, user namespaces are switched off, or the system is not supported. A server that must be contained is not started without.",
    did: "A server with network_egress: deny is started in a container without bubblewrap.",
    prints: "This machine has no sandbox for processes: bubblewrap: bwrap is not installed",
    unrun: "machine",
    tested: "packages/cli/test/e2e/gateway-image.process.test.ts",
    fix: "Do what the hint says: install bubblewrap (apt install bubblewrap), allow user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0), or run the container with what it needs. toolcrib sandbox check shows every tier and its reason. If the server may run uncontained, say so in its entry.",
  },
};
