/** Explanations of the codes of the package inventory. A table is one piece. */

import type { Explanations } from "../explanation.ts";

export const explanations: Explanations = {
  TOOL_DEFINITION_INVALID: {
    cause:
      "A server lists a tool, prompt, resource or template that breaks the protocol, such as an input schema that is no object. Clients could fail at it, so it is left out; the other tools of the server work.",
    did: "A server lists a tool whose inputSchema is a list.",
    prints: '"notes:search" is malformed: inputSchema must be an object',
    unrun: "remote",
    fix: "Update the server, or report it to its maintainers. toolcrib status shows the number of such tools, toolcrib list --all each of them with its reason.",
  },
  TOOL_NAME_COLLISION: {
    cause:
      "Two tools have names that differ only in case, separators or lookalike characters. A model could call the wrong one, so the one that was declared later is held back.",
    did: "A server lists read_file and later read-file.",
    prints: '"notes:read-file" is too similar to "notes:read_file", which was declared first',
    unrun: "remote",
    fix: "Give one of the servers another id in the configuration, or rename a tool with serve.tools. If both belong to one server, report it to its maintainers.",
  },
};
