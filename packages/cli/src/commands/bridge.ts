/** `toolcrib bridge`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "bridge",
  summary: "connect a client that only starts programs to the running gateway, and start one if none runs",
  options: {
    profile: { value: "name", help: "the profile of the configuration to connect to" },
    as: {
      value: "client",
      help: "name of the token, by which policies and the audit trail know the client (default: bridge)",
    },
  },
  examples: ["toolcrib bridge", "toolcrib bridge --profile work --as claude-desktop"],
  run: async (context, _args, options) => (await import("../bridge/bridge.ts")).runBridge(context, options),
});
