/** `toolcrib logs`. */

import { defineCommand } from "../cli-command.ts";
import { wholeNumber } from "../option-values.ts";

export const command = defineCommand({
  name: "logs",
  summary: "show what servers wrote to standard error, and the program log of the gateway",
  arguments: {
    server: { isOptional: true, help: "id of a server or package (default: the gateway and all servers)" },
  },
  options: {
    follow: { short: "f", help: "stay, and print new lines, across restarts and rotations" },
    lines: {
      short: "n",
      value: "count",
      parse: wholeNumber(0, 10_000),
      help: "last lines of each log to begin with, at most 10000 (default: 100 for a server, 10 for all)",
    },
  },
  examples: ["toolcrib logs", "toolcrib logs github --lines 50", "toolcrib logs --follow"],
  run: async (context, { server }, { follow, lines }) =>
    (await import("../logs/show-logs.ts")).showLogs(context, server, { follow: follow === true, lines }),
});
