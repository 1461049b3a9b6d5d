/** `toolcrib pause`. */

import { defineCommand } from "../cli-command.ts";
import { duration } from "../option-values.ts";

export const command = defineCommand({
  name: "pause",
  summary: "stop a server, tools, a client or everything at once (default: list what is paused)",
  arguments: {
    kind: { isOptional: true, help: "server, tool, client or all" },
    name: {
      completes: { server: "source", tool: "tool", client: "client" },
      isOptional: true,
      help: 'id of the server; name or pattern of the tools, such as "*:delete_*"; name of the client',
    },
  },
  options: {
    reason: { value: "text", help: "the reason, which clients and the audit trail show" },
    for: { value: "time", parse: duration, help: "resume after this time, such as 30m, 2h or 1d" },
  },
  examples: [
    "toolcrib pause",
    'toolcrib pause server github --reason "key leaked"',
    'toolcrib pause tool "*:delete_*" --for 30m',
    "toolcrib pause all",
  ],
  run: async (context, { kind, name }, options) =>
    (await import("../guards/pause.ts")).pause(context, { kind, name }, options),
});
