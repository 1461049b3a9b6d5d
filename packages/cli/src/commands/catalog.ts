/** `toolcrib catalog`. */

import { type CliCommandGroup, defineCommand } from "../cli-command.ts";

const load = () => import("../toolspec/show-catalog.ts");

export const command: CliCommandGroup = {
  name: "catalog",
  summary: "browse the REST APIs that can be added",
  commands: [
    defineCommand({
      name: "list",
      summary: "list the APIs",
      options: { category: { value: "category", help: "only APIs of this category" } },
      run: async (context, _args, options) => (await load()).listCatalog(context, options),
    }),
    defineCommand({
      name: "search",
      summary: "find APIs by what they do, best match first",
      arguments: { words: { isVariadic: true, help: "what the API should do" } },
      examples: ["toolcrib catalog search send email"],
      run: async (context, { words }) => (await load()).searchCatalog(context, words.join(" ")),
    }),
    defineCommand({
      name: "show",
      summary: "show an API: hosts, credentials, tools, and its configuration entry",
      arguments: { name: { help: "name, or NAME@VERSION" } },
      run: async (context, { name }) => (await load()).showCatalogEntry(context, name),
    }),
  ],
};
