/** `toolcrib search`. */

import { defineCommand } from "../cli-command.ts";
import { wholeNumber } from "../option-values.ts";

/** Maximum number of results of a search; also the limit of `search_tools`. */
const searchMaxResults = 50;

export const command = defineCommand({
  name: "search",
  summary: "find tools by what they do, best match first",
  arguments: { words: { isVariadic: true, help: "what the tool should do" } },
  options: {
    limit: {
      short: "n",
      value: "count",
      parse: wholeNumber(1, searchMaxResults),
      default: 10,
      help: `most results, 1 to ${searchMaxResults}`,
    },
  },
  examples: ["toolcrib search read a file"],
  run: async (context, { words }, { limit }) =>
    (await import("../tools/search-tools.ts")).searchTools(context, words.join(" "), limit),
});
