/** `toolcrib connect`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "connect",
  summary: "write this gateway into the configuration of clients, after showing the change",
  arguments: {
    clients: {
      completes: "program",
      isVariadic: true,
      isOptional: true,
      help: "clients, such as claude-code, cursor or vscode",
    },
  },
  options: {
    all: { help: "all clients that are found on this machine" },
    yes: { help: "write without asking" },
    print: { help: "print the entries and write nothing" },
    stdio: { help: "let clients start the gateway, although they can connect to it" },
    force: { help: "replace a server of the same name that this home did not write" },
  },
  examples: [
    "toolcrib connect claude-code",
    "toolcrib connect --all --yes",
    "toolcrib connect cursor --print",
  ],
  run: async (context, { clients }, options) =>
    (await import("../connect/connect-client.ts")).connectClients(context, clients, options),
});
