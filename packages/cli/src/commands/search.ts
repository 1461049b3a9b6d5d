/** `toolcrib search` and its subcommands. */

import { type CliCommandGroup, defineCommand } from "../cli-command.ts";
import { wholeNumber } from "../option-values.ts";

/** Maximum number of results of a search; also the limit of `search_tools`. */
const searchMaxResults = 50;

export const command: CliCommandGroup = {
  name: "search",
  summary: "find tools by what they do, or forget what search learned from use",
  defaultCommand: "find",
  commands: [
    defineCommand({
      name: "find",
      summary: "find tools by what they do, best match first (toolcrib search WORDS)",
      arguments: { words: { isVariadic: true, help: "what the tool should do" } },
      options: {
        limit: {
          short: "n",
          value: "count",
          parse: wholeNumber(1, searchMaxResults),
          default: 10,
          help: `most results, 1 to ${searchMaxResults}`,
        },
        why: {
          help: "show the parts of each score: the word, the field or learned words in which it is, and what it adds",
        },
      },
      examples: ["toolcrib search read a file", "toolcrib search --why open an issue"],
      run: async (context, { words }, options) =>
        (await import("../tools/search-tools.ts")).searchTools(context, words.join(" "), options),
    }),
    defineCommand({
      name: "forget",
      summary: "erase words that search learned from use; say of which tool or client, or all",
      options: {
        tool: { value: "tool", help: "only the words of this tool, such as github:create_issue" },
        identity: {
          value: "client",
          help: 'only the words that this client taught: the name of its token, or "ISSUER SUBJECT"',
        },
        all: { help: "everything, also files that cannot be read" },
      },
      examples: ["toolcrib search forget --identity ci", "toolcrib search forget --all"],
      run: async (context, _args, options) =>
        (await import("../tools/forget-learned.ts")).forgetWords(context, options),
    }),
  ],
};
