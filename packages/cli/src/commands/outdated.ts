/** `toolcrib outdated`. */

import { defineCommand } from "../cli-command.ts";
import { placeOptions } from "../package/install-options.ts";
import { registryOptions } from "../registry/registry-options.ts";

export const command = defineCommand({
  name: "outdated",
  summary: "compare installed tool packages with their registry (exit code 1 if one is outdated)",
  options: { ...placeOptions, ...registryOptions },
  run: async (context, _args, options) =>
    (await import("../package/update-tools.ts")).showOutdated(context, options),
});
