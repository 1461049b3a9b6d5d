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
  options: {
    why: {
      help: "explain which implementation of an installed package runs here, with the reasons of each",
    },
  },
  examples: ["toolcrib info", "toolcrib info demo.echo", "toolcrib info tools.pdf.read_local --why"],
  run: async (context, args, { why }) => {
    if (why === true && args.package !== undefined) {
      const { explainImplementations } = await import("../package/explain-implementations.ts");
      return explainImplementations(context, args.package);
    }
    return args.package === undefined
      ? (await import("../package/show-installed.ts")).listInstalled(context)
      : (await import("../package/show-installed.ts")).showPackageOrInstalled(context, args.package);
  },
});
