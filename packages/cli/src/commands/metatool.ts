/** `toolcrib metatool`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "metatool",
  summary:
    "serve upstreamServers and composite tools on standard input and output, as mcp-metatool (home: ~/.mcp-metatool)",
  homeName: ".mcp-metatool",
  run: async (context) => (await import("../serve/serve-metatool.ts")).serveMetatool(context),
});
