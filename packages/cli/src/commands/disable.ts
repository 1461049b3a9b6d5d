/** `toolcrib disable`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "disable",
  summary: "stop offering servers or tools, and keep that (default: list what is disabled)",
  arguments: {
    kind: { isOptional: true, help: "server (also a toolspec or package) or tool" },
    names: {
      completes: { server: "source", tool: "tool" },
      isOptional: true,
      isVariadic: true,
      help: 'ids of servers; names or patterns of tools, such as github__delete_repository or "*:delete_*"',
    },
  },
  examples: ["toolcrib disable server github", 'toolcrib disable tool "github:delete_*"'],
  run: async (context, { kind, names }) =>
    (await import("../switches/switch-sources.ts")).switchSources(
      context,
      { kind, names: names ?? [] },
      { isEnabled: false },
    ),
});
