/** `toolcrib validate`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "validate",
  summary: "check a tool package, and print every problem and its position (exit code 1)",
  arguments: { path: { help: "folder or archive of a package" } },
  run: async (context, { path }) =>
    (await import("../package/show-package.ts")).validatePackage(context, path),
});
