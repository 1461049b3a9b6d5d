/** `toolcrib fetched`. */

import { type CliCommandGroup, defineCommand } from "../cli-command.ts";

const load = () => import("../sandbox/manage-fetched.ts");

const name = { help: "NAME of the package in toolcrib fetched list" };

export const command: CliCommandGroup = {
  name: "fetched",
  summary: "list, verify and remove the packages of servers that npx, uvx or go run launch",
  commands: [
    defineCommand({
      name: "list",
      summary: "list the fetched packages with their versions",
      run: async (context) => (await load()).listFetched(context),
    }),
    defineCommand({
      name: "verify",
      summary: "compare the files of all packages with those that were fetched (exit code 1)",
      run: async (context) => (await load()).verifyFetched(context),
    }),
    defineCommand({
      name: "remove",
      summary: "remove a package; the next start of its server fetches it again",
      arguments: { name },
      run: async (context, args) => (await load()).removeFetched(context, args.name),
    }),
  ],
};
