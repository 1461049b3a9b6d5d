/** Explanations of the codes of the package inventory. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { serverFile } from "../samples.ts";

export const explanations: Explanations = {
  TOOL_DEFINITION_INVALID: {
    cause:
      "A server lists a tool, prompt, resource or template that breaks the protocol, such as an input schema that is no object. Clients could fail at it, so it is left out; the other tools of the server work.",
    files: serverFile("malformed"),
    did: "The server lists a tool whose inputSchema is a list.",
    run: "toolcrib list --log-level warn 2>&1 | grep code",
    fix: "Update the server, or report it to its maintainers. toolcrib status shows the number of such tools, toolcrib list --all each of them with its reason.",
  },
  TOOL_NAME_COLLISION: {
    cause:
      "Two tools have names that differ only in case, separators or lookalike characters. A model could call the wrong one, so the one that was declared later is held back.",
    files: serverFile("similar"),
    did: "The server lists read_file and read-file.",
    run: "toolcrib list --log-level warn 2>&1 | grep code",
    fix: "Give one of the servers another id in the configuration, or rename a tool with serve.tools. If both belong to one server, report it to its maintainers.",
  },
};
