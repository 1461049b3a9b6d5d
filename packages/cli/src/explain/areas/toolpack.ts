/** Explanations of the codes of the package toolpack. A table is one piece. */

import type { Explanations } from "../explanation.ts";

export const explanations: Explanations = {
  TOOLPACK_PATH_INVALID: {
    cause:
      "A JSONPath of a toolspec is not valid, or uses match() or search(), whose time has no bound. toolcrib lint-toolspecs finds it before.",
    did: 'A program uses a toolspec that was not checked, with results: "$.items[".',
    prints:
      'Cannot use the JSONPath "$.items[": unexpected end of the path\nwrite a path of RFC 9535 without match() and search()',
    unrun: "library",
    fix: "Correct the path; toolcrib lint-toolspecs shows the place.",
  },
  TOOLPACK_PATH_TOO_COSTLY: {
    cause:
      "The paths of the tool visit too many values of this response, mostly because of .. over a large document.",
    did: 'results is "$..id", and an API returns a document with millions of values.',
    prints: 'The JSONPaths of this tool take more than 1000000 steps on this response, at "$..id"',
    unrun: "remote",
    fix: "Name the members on the way instead of .. in the toolspec, or ask the API for less.",
  },
  TOOLPACK_TOOL_UNKNOWN: {
    cause: "A toolspec has no tool of this name.",
    did: "An embedding program calls a tool that the toolspec does not have.",
    prints: 'The toolspec "acme" has no tool "list_isues"\ndid you mean list_issues?',
    unrun: "library",
    fix: "Use a name of the toolspec; toolcrib toolspec shows them.",
  },
};
