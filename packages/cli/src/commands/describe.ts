/** `toolcrib describe`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "describe",
  summary: "show a tool: its description, arguments and annotations",
  arguments: { tool: { completes: "tool", help: "server__tool or server:tool" } },
  examples: ["toolcrib describe files__read_file"],
  run: async (context, { tool }) => (await import("../tools/describe-tool.ts")).describeTool(context, tool),
});
