/** Explanations of the codes of the package search. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { library } from "../samples.ts";

export const explanations: Explanations = {
  SEARCH_INDEX_FULL: {
    cause: "The index has the maximum number of tools. More would make each search slow.",
    files: library(
      "const search = createToolSearch();",
      "for (let number = 0; number <= 1_000_000; number += 1)",
      '  search.add({ id: "t:" + number, namespace: "t", name: "t" });',
    ),
    did: "An embedding program adds a million tools, and one more.",
    run: "node program.mjs",
    fix: "Remove tools that nobody uses, or divide them among several gateways.",
  },
  SEARCH_LIMIT_INVALID: {
    cause: "The number of results is not a whole number from 1 to 1,000.",
    files: library(
      "const registry = createRegistry();",
      "await registry.start();",
      'registry.search("milk", 0);',
    ),
    run: "node program.mjs",
    fix: "Ask for 1 to 1,000 results; 10 to 20 are usual.",
  },
  SEARCH_OPTION_INVALID: {
    cause: "A parameter of the ranking (k1, b, a boost) is no number, or outside its range.",
    files: library("createToolSearch({ k1: -1 });"),
    run: "node program.mjs",
    fix: "Use the default, or a number in the range that the message names.",
  },
  SEARCH_QUERY_TOO_LONG: {
    cause:
      "A query has more than 1,000 words or 32,768 characters. A description of the task in a few words finds more.",
    files: library(
      "const registry = createRegistry();",
      "await registry.start();",
      'registry.search("milk ".repeat(2000));',
    ),
    run: "node program.mjs",
    fix: 'Search with the few words that say what the tool does, such as "create github issue".',
  },
};
