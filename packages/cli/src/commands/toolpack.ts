/** `toolcrib toolpack`. */

import { defineCommand } from "../cli-command.ts";
import { manifestSecretOption } from "../option-values.ts";

export const command = defineCommand({
  name: "toolpack",
  summary: "serve the tools of one toolspec on standard input and output, without a gateway",
  options: {
    manifest: { value: "file", help: "the manifest (default: /app/manifest.yaml)" },
    toolspec: { value: "file", help: "the toolspec (default: /app/toolspec.yaml)" },
    secret: manifestSecretOption,
    variable: { value: "name=value", isRepeatable: true, help: "a variable of base URLs; repeatable" },
    reserved: {
      value: "tool.parameter",
      isRepeatable: true,
      help: "a path parameter whose slashes are not encoded; repeatable",
    },
  },
  examples: ["toolcrib toolpack --manifest manifest.yaml --toolspec toolspec.yaml"],
  run: async (context, _args, options) =>
    (await import("../toolpack/serve-toolpack.ts")).serveToolpack(context, options),
});
