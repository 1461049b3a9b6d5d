/** `toolcrib serve`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "serve",
  summary: "serve the configured tools on one MCP endpoint",
  options: {
    stdio: { help: "use MCP over standard input and output, for a client that starts this command" },
    profile: {
      value: "name",
      completes: "profile",
      help: "with --stdio, serve this profile of the configuration instead of everything",
    },
    listen: {
      short: "l",
      value: "host:port",
      help: "address to listen on; port 0 picks a free port (default: 127.0.0.1:7420)",
    },
    auth: {
      value: "kind",
      choices: ["token", "none"],
      help: "how clients authenticate (default: token)",
    },
    mode: {
      value: "mode",
      choices: ["full", "search", "auto"],
      help: "tools in a client's list: all tools, a few tools that find the others, or by what all would cost",
    },
    quiet: { short: "q", help: "print nothing on standard output" },
  },
  examples: ["toolcrib serve", "toolcrib --config toolcrib.yaml serve --listen 127.0.0.1:0"],
  run: async (context, _args, options) => (await import("../serve/serve.ts")).serve(context, options),
});
