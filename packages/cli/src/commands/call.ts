/** `toolcrib call`. */

import { InvalidArgumentError } from "commander";
import { defineCommand } from "../cli-command.ts";
import { toolArgumentOption } from "../option-values.ts";

/** Longest `--timeout`: a day. */
const timeoutMaxSeconds = 86_400;

export const command = defineCommand({
  name: "call",
  summary: "call a tool and print its result",
  arguments: {
    tool: { completes: "tool", help: "server__tool or server:tool" },
    arguments: {
      isOptional: true,
      help: "a JSON object, or - to read one from standard input (default: {})",
    },
  },
  options: {
    arg: toolArgumentOption,
    timeout: { value: "seconds", parse: toSeconds, help: "stop waiting after this long (exit code 5)" },
  },
  examples: [
    "toolcrib call files__read_file --arg path=README.md",
    `toolcrib call files__read_file '{"path": "README.md"}'`,
  ],
  run: async (context, { tool, arguments: text }, options) =>
    (await import("../tools/call-tool.ts")).callTool(context, tool, text, options),
});

function toSeconds(text: string): number {
  const seconds = Number(text);
  if (seconds > 0 && seconds <= timeoutMaxSeconds) return seconds;
  throw new InvalidArgumentError(`It must be a number of seconds up to ${timeoutMaxSeconds}.`);
}
