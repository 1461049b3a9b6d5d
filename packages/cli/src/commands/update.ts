/** `toolcrib update`. */

import { defineCommand } from "../cli-command.ts";
import { allowOptions, placeOptions } from "../package/install-options.ts";
import { registryOptions } from "../registry/registry-options.ts";

export const command = defineCommand({
  name: "update",
  summary:
    "pin servers to their newest versions, and install the newest tool packages, after showing what differs",
  arguments: {
    ids: {
      completes: "source",
      isOptional: true,
      isVariadic: true,
      help: "ids of servers, and toolIds of packages (default: all; packages of files and folders only where they are named)",
    },
  },
  options: {
    ...placeOptions,
    yes: {
      short: "y",
      help: "do not ask: changed definitions are approved where their earlier ones were; new and suspicious ones wait for toolcrib approve",
    },
    dryRun: { help: "show what would change, and change nothing" },
    ...registryOptions,
    ...allowOptions,
  },
  examples: ["toolcrib update", "toolcrib update time --dry-run", "toolcrib update demo.echo"],
  run: async (context, { ids }, options) =>
    (await import("../add/update-all.ts")).updateAll(context, ids, options),
});
