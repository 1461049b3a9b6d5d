/** `toolcrib eval`. */

import { defineCommand } from "../cli-command.ts";
import { programParamOptions } from "../option-values.ts";

export const command = defineCommand({
  name: "eval",
  summary: "run a composite program once, with access to the tools, and print its result",
  arguments: { file: { help: "the Starlark program, or - to read it from standard input" } },
  options: programParamOptions,
  examples: ["toolcrib eval report.star --param days=7"],
  run: async (context, { file }, options) =>
    (await import("../saved/evaluate-program.ts")).evaluateProgram(context, file, options),
});
