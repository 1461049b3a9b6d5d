/** Explanations of the codes of the package files. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { library } from "../samples.ts";

export const explanations: Explanations = {
  FILE_EXPOSED: {
    cause:
      "A folder that must be private is open to other users, and its mode cannot be changed: it belongs to another user, or the file system has no modes.",
    files: library('await makePrivateDirectory("/proc/self");'),
    did: "A program keeps private files in a folder of a file system whose modes cannot be changed.",
    run: "node program.mjs",
    fix: "Run the chmod as the owner of the folder, or choose a home on a file system with permissions: --home ~/.toolcrib.",
  },
  FILE_LOCK_UNUSABLE: {
    cause:
      "Toolcrib uses lock files so that two processes do not write the same file. The lock could not be created: the file system has no locks (some network drives), or the folder is not writable.",
    files: library('tryLock("/proc", "home", "exclusive");'),
    did: "A program locks a folder of a file system that has no locks.",
    run: "node program.mjs",
    fix: "Move the home to a local disk (--home, TOOLCRIB_HOME), and let the user who runs Toolcrib own it. toolcrib doctor tests locks in the home.",
  },
  FILE_NOT_DURABLE: {
    cause:
      "The file was replaced, but the disk did not confirm it (fsync failed). The new content is in place; after a power failure the old content may come back.",
    did: "The disk reports an error while toolcrib approve writes.",
    prints:
      'Changed "/home/ada/.toolcrib/approvals/saved-tools.json", but the disk did not confirm the change: EIO\ncheck the disk; after a power failure the file may have its old content',
    unrun: "machine",
    tested: "packages/files/test/replace-file.process.test.ts",
    fix: "Check the disk and its log (dmesg, smartctl). When it is well, repeat the command so that the change is confirmed.",
  },
  FILE_UNWRITABLE: {
    cause:
      "A file could not be written: no space, a quota, no permission, or a read-only file system. Files are replaced as a whole, so the old content is still there.",
    did: "The disk is full, and toolcrib secret set is run.",
    prints:
      'Cannot write "/home/ada/.toolcrib/secrets/github-token": ENOSPC\nfree some space and try again; nothing was changed',
    unrun: "machine",
    tested: "packages/files/test/replace-file.process.test.ts",
    fix: "Free space (ENOSPC, EDQUOT), give the user access to the folder (EACCES, EPERM), or make the file system writable (EROFS). Then repeat the command.",
  },
};
