/** `toolcrib metatool`. */

import { defineCommand } from "../cli-command.ts";
import { metatoolHomeName } from "../global-options.ts";

export const command = defineCommand({
  name: "metatool",
  summary:
    "serve upstreamServers and composite tools on standard input and output, as mcp-metatool (home: ~/.mcp-metatool)",
  homeName: metatoolHomeName,
  run: async (context) => (await import("../serve/serve-metatool.ts")).serveMetatool(context),
});
