/** `toolcrib starlark`. */

import { type CliCommandGroup, defineCommand } from "../cli-command.ts";
import { programParamOptions, wholeNumber } from "../option-values.ts";

const dialect = {
  value: "name",
  choices: ["tool", "core"],
  default: "tool",
  help: "the language for tools, or strictly the language of the specification",
} as const;

const limits = {
  steps: { value: "count", parse: wholeNumber(1), help: "most steps (default: 10000000)" },
  memoryMb: { value: "count", parse: wholeNumber(1), help: "most memory in MiB (default: 128)" },
  wallMs: { value: "count", parse: wholeNumber(1), help: "most milliseconds (default: 30000)" },
} as const;

export const command: CliCommandGroup = {
  name: "starlark",
  summary: "run, check and format Starlark programs, or try the language",
  commands: [
    defineCommand({
      name: "run",
      summary: "run a program and print its result as JSON",
      arguments: { file: { help: "the program, or - to read it from standard input" } },
      options: { dialect, ...limits, ...programParamOptions },
      examples: ["toolcrib starlark run sum.star --param count=3"],
      run: async (context, { file }, options) =>
        (await import("../starlark/run-program.ts")).runProgram(context, file, options),
    }),
    defineCommand({
      name: "check",
      summary: "print OK for each valid program, or every problem and its position (exit code 1)",
      arguments: { files: { isVariadic: true, help: "programs; - is standard input" } },
      options: { dialect },
      run: async (context, { files }, options) =>
        (await import("../starlark/check-programs.ts")).checkPrograms(context, files, options),
    }),
    defineCommand({
      name: "fmt",
      summary: "format programs in place, and print the files that changed",
      arguments: {
        files: { isVariadic: true, help: "programs; - alone formats standard input to standard output" },
      },
      options: {
        dialect,
        check: { help: "write nothing, and print the files that would change (exit code 1)" },
      },
      run: async (context, { files }, options) =>
        (await import("../starlark/format-programs.ts")).formatPrograms(context, files, options),
    }),
    defineCommand({
      name: "repl",
      summary: "read statements and expressions, run each, and print its value",
      options: { dialect, ...limits },
      run: async (context, _args, options) =>
        (await import("../starlark/run-repl.ts")).runRepl(context, options),
    }),
  ],
};
