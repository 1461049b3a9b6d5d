/** `toolcrib list`. */

import { InvalidArgumentError } from "commander";
import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "list",
  summary: "list the available tools",
  options: {
    server: { short: "s", value: "id", help: "only the tools of this server" },
    tag: { short: "t", value: "tag", parse: toTag, help: "only tools with this tag" },
  },
  examples: ["toolcrib list --server files"],
  run: async (context, _args, options) =>
    (await import("../tools/list-tools.ts")).listTools(context, options),
});

function toTag(text: string): string {
  const tag = text.trim().toLowerCase().replace(/\s+/g, "-");
  if (tag === "") throw new InvalidArgumentError("A tag has at least one character.");
  return tag;
}
