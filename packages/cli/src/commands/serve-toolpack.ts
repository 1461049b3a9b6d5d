/** `toolcrib toolpack serve`, which `toolcrib toolpack` runs too: the engine. Images of toolpacks have this command alone. */

import { defineCommand } from "../cli-command.ts";
import { manifestSecretOption } from "../option-values.ts";

export const command = defineCommand({
  name: "serve",
  summary: "serve the tools of toolspecs on standard input and output, without a gateway",
  options: {
    manifest: { value: "file", help: "the manifest (default: /app/manifest.yaml)" },
    toolspec: { value: "file", help: "the toolspec (default: /app/toolspec.yaml)" },
    folder: {
      value: "dir",
      help: "folder with a manifest.yaml and a toolspec.yaml for each service, as NAME/manifest.yaml: tools are named NAME__TOOL (default: /app/toolpacks)",
    },
    secret: manifestSecretOption,
    variable: { value: "name=value", isRepeatable: true, help: "a variable of base URLs; repeatable" },
    reserved: {
      value: "tool.parameter",
      isRepeatable: true,
      help: "a path parameter whose slashes are not encoded; repeatable",
    },
    call: {
      value: "tool",
      help: "call one tool with the JSON object on standard input, print its result, and end",
    },
  },
  examples: ["toolcrib toolpack --manifest manifest.yaml --toolspec toolspec.yaml"],
  run: async (context, _args, options) =>
    (await import("../toolpack/serve-toolpack.ts")).serveToolpack(context, options),
});
