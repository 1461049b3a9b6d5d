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
      options: {
        print: {
          help: "print the token, also where standard output is no terminal, and nothing else on standard output",
        },
      },
      examples: ["toolcrib token create ci", "toolcrib token create ci --print"],
      run: async (context, { name }, { print }) =>
        (await import("../token/create-token.ts")).createToken(context, name, print === true),
    }),
  ],
};
