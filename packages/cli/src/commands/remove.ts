/** `toolcrib remove`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "remove",
  summary: "take servers and toolspecs out of the configuration file that contains them",
  arguments: { ids: { completes: "server", isVariadic: true, help: "ids of tool servers and toolspecs" } },
  options: {
    yes: { help: "do not ask" },
    dryRun: { help: "show what would be removed, and remove nothing" },
    purge: {
      help: "also remove what nothing else uses: its stored secrets, pins, remembered definitions and fetched packages",
    },
  },
  examples: ["toolcrib remove github --dry-run", "toolcrib remove github --purge --yes"],
  run: async (context, { ids }, options) =>
    (await import("../remove/remove-entries.ts")).removeEntries(context, ids, options),
});
