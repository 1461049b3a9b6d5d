/** Explanations of the codes of the package learning. A table is one piece. */

import type { Explanations } from "../explanation.ts";

export const explanations: Explanations = {
  LEARNING_FILE_UNREADABLE: {
    cause:
      "Search learns words from use and keeps them in files of the home. One cannot be read or is damaged. Search works without its words, and the file is not replaced, so that nothing is lost.",
    did: "A learned file was shortened by a crash of the disk.",
    prints:
      'Cannot read "/home/ada/.toolcrib/search/cli.json": it is not JSON\nits words do not count; toolcrib search forget --all removes it',
    unrun: "machine",
    tested: "packages/learning/test/learning.security.test.ts",
    fix: "Restore the file from a backup, or remove what was learned: toolcrib search forget --all. Search then learns again.",
  },
  LEARNING_UNWRITABLE: {
    cause:
      "Learned words cannot be stored or removed: no space, no permission, a read-only file system. Search goes on with what is in memory.",
    did: "The disk of the home is full.",
    prints: 'Cannot write "/home/ada/.toolcrib/search/cli.json": ENOSPC',
    unrun: "untested",
    fix: "Free space, or let the user who runs Toolcrib own the folder search in the home.",
  },
};
