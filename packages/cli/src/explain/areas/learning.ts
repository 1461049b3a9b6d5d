/** Explanations of the codes of the package learning. A table is one piece. */

import type { Explanations } from "../explanation.ts";

export const explanations: Explanations = {
  LEARNING_FILE_UNREADABLE: {
    cause:
      "Search learns words from use and keeps them in files of the home. One cannot be read or is damaged. Search works without its words, and the file is not replaced, so that nothing is lost.",
    files: { ".toolcrib/search": "not a folder\n" },
    did: "A file is where the folder of learned words has to be.",
    run: "toolcrib search forget --all",
    repaired: { before: ["rm .toolcrib/search"] },
    fix: "Restore the file from a backup, or remove what was learned: toolcrib search forget --all. Search then learns again.",
  },
  LEARNING_UNWRITABLE: {
    cause:
      "Learned words cannot be stored or removed: no space, no permission, a read-only file system. Search goes on with what is in memory.",
    files: { ".toolcrib/search/cli.json": "{}\n", ".toolcrib/locks": "not a folder\n" },
    did: "A file is where the folder of locks has to be.",
    run: "toolcrib search forget --all",
    repaired: { before: ["rm .toolcrib/locks"] },
    fix: "Free space, or let the user who runs Toolcrib own the folder search in the home.",
  },
};
