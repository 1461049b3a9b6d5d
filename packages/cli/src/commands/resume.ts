/** `toolcrib resume`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "resume",
  summary: "allow calls again that toolcrib pause stopped",
  arguments: {
    kind: { help: "server, tool, client or all, as it was paused" },
    name: {
      completes: { server: "source", tool: "tool", client: "client" },
      isOptional: true,
      help: "the name under which it was paused",
    },
  },
  examples: ["toolcrib resume server github", "toolcrib resume all"],
  run: async (context, { kind, name }) =>
    (await import("../guards/pause.ts")).resume(context, { kind, name }),
});
