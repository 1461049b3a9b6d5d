/** `toolcrib info`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "info",
  summary: "show what a tool package contains, how it runs, and who signed it",
  arguments: { path: { help: "folder or archive of a package" } },
  run: async (context, { path }) => (await import("../package/show-package.ts")).showPackage(context, path),
});
