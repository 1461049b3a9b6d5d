/** `toolcrib init`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "init",
  summary: "write a toolcrib.yaml to start from",
  arguments: { dir: { default: ".", help: "folder to write it to" } },
  options: {
    import: {
      value: "file",
      isRepeatable: true,
      help: "import the servers of another program's file (.mcp.json, VS Code, Claude, Cursor); repeatable",
    },
    force: { help: "overwrite an existing toolcrib.yaml" },
  },
  examples: ["toolcrib init", "toolcrib init --import .mcp.json"],
  run: async (context, { dir }, options) =>
    (await import("../init/write-config.ts")).writeConfig(context, dir, options),
});
