/** `toolcrib` without a command. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "toolcrib",
  summary: "lead from nothing to a first call, on a terminal",
  run: async (context) => (await import("../first-run/first-run.ts")).firstRun(context),
});
