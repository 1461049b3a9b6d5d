/** `toolcrib disconnect`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "disconnect",
  summary: "take this gateway out of the configuration of clients, and restore their files",
  arguments: {
    clients: {
      completes: "program",
      isVariadic: true,
      isOptional: true,
      help: "clients that toolcrib connect wrote to",
    },
  },
  options: {
    all: { help: "all connected clients" },
    yes: { help: "accepted, as of toolcrib connect: nothing is asked anyway" },
  },
  examples: ["toolcrib disconnect cursor", "toolcrib disconnect --all"],
  run: async (context, { clients }, options) =>
    (await import("../connect/disconnect-client.ts")).disconnectClients(context, clients, options),
});
