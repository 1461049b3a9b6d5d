/** `toolcrib add`. */

import { defineCommand } from "../cli-command.ts";
import { nameValuePair, serverArgOption, serverEnvOption, wholeNumber } from "../option-values.ts";

export const command = defineCommand({
  name: "add",
  summary:
    "add an API or a server to the configuration: from the catalog, a registry, a file, a URL or a command line",
  arguments: {
    what: {
      isOptional: true,
      isVariadic: true,
      help: "name in the catalog, words to search for, npm:NAME[@VERSION], pypi:NAME[@VERSION], go:MODULE[@VERSION], a URL of an MCP server, a server.json, .mcpb or .mcpkg (file or URL), a manifest, or after -- a command line",
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
      help: "folder or file that the server may read, also one that the arguments of a bundle or server.json name; repeatable",
    },
    write: { value: "path", isRepeatable: true, help: "folder that the server may write; repeatable" },
    allow: {
      value: "host",
      isRepeatable: true,
      help: "host that the process of the server may reach (default: none); repeatable",
    },
    program: { value: "name", help: "the program of a package that has several" },
    set: {
      value: "name=value",
      isRepeatable: true,
      parse: nameValuePair("name=value"),
      help: "a value that a server.json or bundle asks for; repeatable",
    },
    use: {
      value: "number",
      parse: wholeNumber(1, 400),
      help: "which of the packages and endpoints of a server.json (default: the first)",
    },
    untested: {
      value: "reason",
      help: "save the server although it fails its trial, with this reason in its entry",
    },
    dryRun: { help: "try and show it, and write nothing" },
    yes: {
      short: "y",
      help: "ask for nothing except secrets, approve the definitions that nothing is suspicious in, and show the server no path that its author named",
    },
  },
  examples: [
    "toolcrib add github",
    "toolcrib add github --secret token=github-token --yes",
    "toolcrib add filesystem --server-arg /srv/docs --read /srv/docs",
    "toolcrib add npm:@modelcontextprotocol/server-everything",
    "toolcrib add https://mcp.example.com/mcp",
    "toolcrib add --write ./notes -- node ./server.js --folder ./notes",
  ],
  run: async (context, { what }, options) =>
    (await import("../add/add-what.ts")).addWhat(context, what, options),
});
