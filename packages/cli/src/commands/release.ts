/** `toolcrib release`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "release",
  summary: "use a quarantined server of the running gateway again",
  arguments: { server: { help: "id of the server; toolcrib status shows the quarantined ones" } },
  examples: ["toolcrib release files"],
  run: async (context, { server }) =>
    (await import("../serve/release-server.ts")).releaseServer(context, server),
});
