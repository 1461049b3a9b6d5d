/** `toolcrib completion`. */

import { type CliCommandGroup, defineCommand } from "../cli-command.ts";

const load = () => import("../help/print-completion.ts");

export const command: CliCommandGroup = {
  name: "completion",
  summary: "print a completion script; for bash: source <(toolcrib completion bash)",
  commands: [
    defineCommand({
      name: "bash",
      summary: "print the script for bash: source <(toolcrib completion bash)",
      run: async (context) => (await load()).printCompletion(context, "bash"),
    }),
    defineCommand({
      name: "zsh",
      summary: "print the script for zsh: source <(toolcrib completion zsh)",
      run: async (context) => (await load()).printCompletion(context, "zsh"),
    }),
    defineCommand({
      name: "fish",
      summary: "print the script for fish: toolcrib completion fish | source",
      run: async (context) => (await load()).printCompletion(context, "fish"),
    }),
    defineCommand({
      name: "names",
      summary: "print the names that can be the next word of a command line; the scripts run it",
      arguments: {
        words: { isOptional: true, isVariadic: true, help: "the words before it, after --" },
      },
      examples: ["toolcrib completion names -- call"],
      run: async (context, { words }) =>
        (await import("../help/complete-names.ts")).completeNames(context, words ?? []),
    }),
  ],
};
