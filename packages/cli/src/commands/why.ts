/** `toolcrib why`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "why",
  summary:
    "explain what the policy decides about a tool or a call, and what would allow it (exit code 3 if it would be refused now)",
  arguments: {
    what: {
      completes: "tool",
      help: "id of a tool, resource or prompt, of a call on the audit trail or of an approval (call:…); last is the newest call that was refused before it began",
    },
  },
  options: {
    client: {
      value: "name",
      help: "the client: a token, an entry of policy.clients, cli, stdio, library, anonymous, or SUBJECT@ISSUER of an identity provider (default: cli)",
    },
    args: { value: "json", help: "arguments of the call" },
    list: { help: "explain whether the client sees it, and not whether it may call it" },
    onDisk: { help: "the policy as its files are now, and not that of the running gateway" },
  },
  examples: [
    "toolcrib why last",
    "toolcrib why github:merge_pull_request --client ci",
    `toolcrib why stripe:refund --client ci --args '{"amount": 5000}'`,
  ],
  run: async (context, { what }, options) =>
    (await import("../policy/why.ts")).explainWhy(context, what, options),
});
