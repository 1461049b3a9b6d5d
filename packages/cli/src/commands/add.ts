/** `toolcrib add`. */

import { defineCommand } from "../cli-command.ts";
import { nameValuePair, serverArgOption, serverEnvOption } from "../option-values.ts";

export const command = defineCommand({
  name: "add",
  summary: "add a REST API or a server from the catalog to the configuration, and store its secret",
  arguments: {
    name: {
      isOptional: true,
      help: "name in the catalog, NAME@VERSION for a version other than the newest, words to search for, or the path of the manifest of a server",
    },
  },
  options: {
    list: { help: "list the APIs and servers that can be added" },
    id: {
      value: "id",
      help: "id in the configuration, the first half of its tools' names (default: its name)",
    },
    secret: {
      value: "credential=name",
      isRepeatable: true,
      parse: nameValuePair("credential=name"),
      help: "use the stored secret of this name; repeatable. Without it the command asks for the secret, or reads it from standard input",
    },
    withoutSecrets: { help: "do not ask for secrets now" },
    variable: {
      value: "name=value",
      isRepeatable: true,
      parse: nameValuePair("name=value"),
      help: "a variable of its base URL, such as the name of a tenant; repeatable",
    },
    allTools: { help: "offer every tool (default: the tools that its manifest offers by default)" },
    serverArg: serverArgOption,
    env: serverEnvOption,
    read: {
      value: "path",
      isRepeatable: true,
      help: "folder or file that the server may read; repeatable",
    },
    write: { value: "path", isRepeatable: true, help: "folder that the server may write; repeatable" },
    yes: {
      short: "y",
      help: "ask for nothing except secrets, and approve the tools that the manifest of a server offers",
    },
  },
  examples: [
    "toolcrib add github",
    "toolcrib add github --secret token=github-token --yes",
    "toolcrib add filesystem --server-arg /srv/docs --read /srv/docs",
  ],
  run: async (context, { name }, options) =>
    options.list === true
      ? (await import("../toolspec/show-catalog.ts")).listCatalog(context)
      : (await import("../toolspec/add-toolspec.ts")).addToolspec(context, name, options),
});
