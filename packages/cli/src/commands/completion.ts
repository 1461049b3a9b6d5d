/** `toolcrib completion`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "completion",
  summary: "print a completion script; for bash: source <(toolcrib completion bash)",
  arguments: { shell: { choices: ["bash", "zsh", "fish"], help: "the shell" } },
  run: async (context, { shell }) =>
    (await import("../help/print-completion.ts")).printCompletion(context, shell),
});
