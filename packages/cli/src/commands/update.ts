/** `toolcrib update`. */

import { defineCommand } from "../cli-command.ts";
import { allowOptions, placeOptions } from "../package/install-options.ts";
import { registryOptions } from "../registry/registry-options.ts";

export const command = defineCommand({
  name: "update",
  summary: "install the newest versions of installed tool packages, within the ranges that were asked for",
  arguments: {
    toolIds: {
      completes: "source",
      isOptional: true,
      isVariadic: true,
      help: "toolIds (default: all from registries and URLs; files and folders only where they are named)",
    },
  },
  options: {
    ...placeOptions,
    yes: { short: "y", help: "do not ask" },
    dryRun: { help: "show what would be installed, and change nothing" },
    ...registryOptions,
    ...allowOptions,
  },
  examples: ["toolcrib update", "toolcrib update demo.echo"],
  run: async (context, { toolIds }, options) =>
    (await import("../package/update-tools.ts")).updateTools(context, toolIds, options),
});
