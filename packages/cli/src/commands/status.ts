/** `toolcrib status`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "status",
  summary: "show the running gateway of this home, or what serve would serve (exit code 5)",
  run: async (context) => (await import("../serve/show-status.ts")).showStatus(context),
});
