/** `toolcrib enable`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "enable",
  summary: "start and offer servers or tools again that were disabled",
  arguments: {
    kind: { isOptional: true, help: "server (also a toolspec or package) or tool" },
    names: {
      completes: { server: "source", tool: "disabledTool" },
      isOptional: true,
      isVariadic: true,
      help: 'ids of servers; names or patterns of tools, such as github__delete_repository or "*:delete_*"',
    },
  },
  examples: ["toolcrib enable server github", 'toolcrib enable tool "github:delete_*"'],
  run: async (context, { kind, names }) =>
    (await import("../switches/switch-sources.ts")).switchSources(
      context,
      { kind, names: names ?? [] },
      { isEnabled: true },
    ),
});
