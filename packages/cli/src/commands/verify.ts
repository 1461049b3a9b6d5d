/** `toolcrib verify`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "verify",
  summary: "check the signature of a tool package (exit code 1 if there is none, or by another key)",
  arguments: { file: { help: "archive of the package" } },
  options: { keyId: { value: "id", help: "the key that must have signed it, such as sha256:…" } },
  run: async (context, { file }, options) =>
    (await import("../package/show-package.ts")).verifyPackage(context, file, options),
});
