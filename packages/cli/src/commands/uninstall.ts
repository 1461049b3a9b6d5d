/** `toolcrib uninstall`. */

import { defineCommand } from "../cli-command.ts";
import { placeOptions } from "../package/install-options.ts";

export const command = defineCommand({
  name: "uninstall",
  summary: "remove installed tool packages from this project (exit code 4 if one is not installed)",
  arguments: {
    toolIds: {
      completes: "package",
      isVariadic: true,
      help: "toolId of each package, as toolcrib info lists them",
    },
  },
  options: {
    ...placeOptions,
    allowBrokenChains: { help: "allow the removal of tools that chains of other packages call" },
    forgetKey: { help: "forget the pinned keys too, so that the next installation accepts any key" },
  },
  examples: ["toolcrib uninstall demo.echo"],
  run: async (context, { toolIds }, options) =>
    (await import("../package/uninstall-tools.ts")).uninstallTools(context, toolIds, options),
});
