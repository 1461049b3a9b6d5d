/** `toolcrib token`. */

import { type CliCommandGroup, defineCommand } from "../cli-command.ts";

export const command: CliCommandGroup = {
  name: "token",
  summary: "create, list and revoke tokens, with which clients authenticate at the gateway",
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
    defineCommand({
      name: "list",
      summary:
        "list the tokens: when each was created, its last call, and what it may use; never the tokens themselves",
      run: async (context) => (await import("../token/manage-tokens.ts")).listTokens(context),
    }),
    defineCommand({
      name: "revoke",
      summary: "remove a token; a running gateway refuses it within a second, and closes what it opened",
      arguments: { name: { completes: "token", help: "name of the token" } },
      examples: ["toolcrib token revoke ci"],
      run: async (context, { name }) =>
        (await import("../token/manage-tokens.ts")).revokeToken(context, name),
    }),
  ],
};
