/** `toolcrib login`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "login",
  summary: "log in to a server with transport.auth; a running gateway uses the login at once",
  arguments: { server: { completes: "server", help: "id of the server" } },
  options: {
    device: { help: "show a code to enter in a browser on any machine" },
    browser: { help: "print the address instead of opening a browser", isNegated: true, default: true },
    client: { help: "the client that the login is for, where auth has per: identity", value: "name" },
    scope: { help: "ask for this scope, too", value: "scope", isRepeatable: true },
  },
  examples: ["toolcrib login notes", "toolcrib login notes --device", "toolcrib login notes --client ci"],
  run: async (context, { server }, options) =>
    (await import("../login/login-server.ts")).loginToServer(context, server, options),
});
