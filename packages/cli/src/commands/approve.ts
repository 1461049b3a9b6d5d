/** `toolcrib approve`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "approve",
  summary: "show and approve definitions and calls that wait for the operator",
  arguments: {
    what: {
      completes: "source",
      isOptional: true,
      isVariadic: true,
      help: "ids of servers and packages, or of calls such as call:0123456789abcdef (default: list what waits)",
    },
  },
  options: {
    tool: {
      value: "name",
      isRepeatable: true,
      help: "approve only this tool, or other definition such as prompts/greet",
    },
    yes: { help: "approve without a question" },
    full: { help: "show every text of the definitions, or all arguments of the call as JSON" },
    digest: {
      value: "digest",
      help: "approve only if these are the definitions that wait, as an earlier run printed it",
    },
    deny: { help: "deny the call for ten minutes" },
  },
  examples: [
    "toolcrib approve",
    "toolcrib approve files",
    "toolcrib approve files notes",
    "toolcrib approve files --tool read_file --yes",
  ],
  run: async (context, { what }, options) =>
    (await import("../approve/approve.ts")).approveEach(context, what, options),
});
