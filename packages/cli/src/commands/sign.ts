/** `toolcrib sign`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "sign",
  summary: "sign a tool package (.mcpkg)",
  arguments: { file: { help: "archive of the package" } },
  options: {
    out: { value: "file", help: "file to write (default: the archive itself)" },
    key: { value: "file", help: "Ed25519 key in PEM (default: the publisher key of the home)" },
  },
  run: async (context, { file }, options) =>
    (await import("../package/write-package.ts")).signArchive(context, file, options),
});
