/** `toolcrib info`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "info",
  summary: "show what a tool package contains, how it runs, and who signed it; or list the installed ones",
  arguments: {
    package: {
      isOptional: true,
      help: "folder, archive or toolId of an installed package (default: all installed packages)",
    },
  },
  examples: ["toolcrib info", "toolcrib info demo.echo"],
  run: async (context, args) =>
    args.package === undefined
      ? (await import("../package/show-installed.ts")).listInstalled(context)
      : (await import("../package/show-installed.ts")).showPackageOrInstalled(context, args.package),
});
