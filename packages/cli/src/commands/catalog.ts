/** `toolcrib catalog`. */

import { type CliCommandGroup, defineCommand } from "../cli-command.ts";

const load = () => import("../toolspec/show-catalog.ts");

export const command: CliCommandGroup = {
  name: "catalog",
  summary: "browse the REST APIs and servers that can be added",
  commands: [
    defineCommand({
      name: "list",
      summary: "list the APIs and servers",
      options: { category: { value: "category", help: "only those of this category" } },
      run: async (context, _args, options) => (await load()).listCatalog(context, options),
    }),
    defineCommand({
      name: "search",
      summary: "find APIs and servers by what they do, best match first",
      arguments: { words: { isVariadic: true, help: "what it should do" } },
      examples: ["toolcrib catalog search send email"],
      run: async (context, { words }) => (await load()).searchCatalog(context, words.join(" ")),
    }),
    defineCommand({
      name: "show",
      summary: "show an API or a server: hosts, credentials, tools, and its configuration entry",
      arguments: { name: { help: "name, or NAME@VERSION" } },
      run: async (context, { name }) => (await load()).showCatalogEntry(context, name),
    }),
  ],
};
