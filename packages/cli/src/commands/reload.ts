/** `toolcrib reload`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "reload",
  summary: "apply the changed configuration to the running gateways now",
  examples: ["toolcrib reload", "toolcrib reload --json"],
  run: async (context) => (await import("../serve/reload-gateways.ts")).reloadGateways(context),
});
