/** `toolcrib logout`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "logout",
  summary: "revoke the login to a server, and delete it",
  arguments: { server: { completes: "server", help: "id of the server" } },
  options: { client: { help: "the client whose login it is, where auth has per: identity", value: "name" } },
  examples: ["toolcrib logout notes"],
  run: async (context, { server }, options) =>
    (await import("../login/login-server.ts")).logoutFromServer(context, server, options),
});
