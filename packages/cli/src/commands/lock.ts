/** `toolcrib lock`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "lock",
  summary: "write mcp.lock of this project from what is installed in it",
  options: { check: { help: "write nothing; print what differs (exit code 1)" } },
  run: async (context, _args, options) =>
    (await import("../package/lock-tools.ts")).lockTools(context, options),
});
