/** `toolcrib pack`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "pack",
  summary: "write a folder as a tool package (.mcpkg), after checking it",
  arguments: { dir: { help: "folder with manifest.json" } },
  options: {
    out: { value: "file", help: "file to write (default: TOOLID-VERSION.mcpkg)" },
    sign: { help: "sign it with the publisher key of the home, which is created at its first use" },
    force: { help: "replace a signed archive by one that is not signed, or by another signer's" },
    key: { value: "file", help: "sign it with this Ed25519 key in PEM" },
  },
  examples: ["toolcrib pack ./echo --sign"],
  run: async (context, { dir }, options) =>
    (await import("../package/write-package.ts")).packFolder(context, dir, options),
});
