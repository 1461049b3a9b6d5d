/** `toolcrib help`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "help",
  summary: "print help about a command or a topic (exit-codes, environment, configuration)",
  arguments: { topic: { isOptional: true, isVariadic: true, help: "command or topic" } },
  run: async (context, { topic }) => (await import("../help/print-help.ts")).printHelp(context, topic),
});
