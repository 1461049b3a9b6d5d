/** Explanations of the codes of the package discovery. A table is one piece. */

import type { Explanations } from "../explanation.ts";

export const explanations: Explanations = {
  CURSOR_UNKNOWN: {
    cause:
      "read_more reads the rest of a long result by a cursor. This cursor is misspelled, belongs to another client, has not been used for ten minutes, or its tool is not available to this client any more.",
    did: "An agent calls read_more with the cursor of a result from an hour ago.",
    prints:
      "The cursor names no part of a result\ncopy it from the end of the part before; parts are kept for ten minutes after the last reading: call the tool again for a result that is gone",
    unrun: "client",
    fix: "Copy the cursor exactly from the end of the part before. If the result is gone, call the tool again, and ask for less at once where the tool allows it.",
  },
};
