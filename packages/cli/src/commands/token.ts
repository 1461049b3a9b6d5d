/** `toolcrib token`. */

import { type CliCommandGroup, defineCommand } from "../cli-command.ts";

export const command: CliCommandGroup = {
  name: "token",
  summary: "create tokens, with which clients authenticate at the gateway",
  commands: [
    defineCommand({
      name: "create",
      summary: "create a token for a client; a running gateway accepts it within a second",
      arguments: { name: { help: "name of the client, as in policy.clients" } },
      examples: ["toolcrib token create ci"],
      run: async (context, { name }) => (await import("../token/create-token.ts")).createToken(context, name),
    }),
  ],
};
