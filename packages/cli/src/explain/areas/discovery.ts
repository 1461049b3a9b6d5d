/** Explanations of the codes of the package discovery. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { call, serverFile } from "../samples.ts";

export const explanations: Explanations = {
  CURSOR_UNKNOWN: {
    cause:
      "read_more reads the rest of a long result by a cursor. This cursor is misspelled, belongs to another client, has not been used for ten minutes, or its tool is not available to this client any more.",
    files: serverFile(
      "long",
      ["mutability_class: read_only"],
      "serve: { auth: none, results: { token_budget: 1000 } }\n",
    ),
    before: ["toolcrib serve &", call("notes__search", { query: "milk" })],
    run: call("read_more", { cursor: "r1" }),
    fix: "Copy the cursor exactly from the end of the part before. If the result is gone, call the tool again, and ask for less at once where the tool allows it.",
  },
};
