/** `toolcrib save`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "save",
  summary: "save a composite program as a tool, or show all its problems (exit code 1)",
  arguments: { file: { help: "the Starlark program, or - to read it from standard input" } },
  options: {
    name: { value: "name", help: "name of the tool (default: the file's name)" },
    description: { value: "text", help: "what the tool does (default: the program's first comment)" },
    schema: {
      value: "file",
      help: "JSON Schema of its parameters (default: the saved schema, otherwise no parameters)",
    },
  },
  examples: ["toolcrib save report.star --schema report.schema.json"],
  run: async (context, { file }, options) =>
    (await import("../saved/save-tool.ts")).saveTool(context, file, options),
});
