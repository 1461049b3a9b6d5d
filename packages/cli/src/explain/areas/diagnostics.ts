/** Explanations of the codes of the package diagnostics. A table is one piece. */

import type { Explanations } from "../explanation.ts";

export const explanations: Explanations = {
  LIBRARY_UNAVAILABLE: {
    cause:
      "Large libraries, such as the one that checks arguments, are loaded when they are first needed. Such a file could not be read: too many files and connections are open (EMFILE), or an update replaced the installation. What needs the library is refused: a call whose arguments cannot be checked does not reach its server, and a result that cannot be checked is not passed on.",
    did: "Toolcrib is being updated while a gateway runs, and an agent makes its first call.",
    prints:
      "Cannot load the library ajv.cjs of Toolcrib: MODULE_NOT_FOUND\nif Toolcrib was updated or its files were changed, restart it; otherwise install it again",
    unrun: "machine",
    tested: "packages/cli/test/late-libraries.process.test.ts",
    fix: "After an update, restart the gateway. With EMFILE, close connections or raise the limit of open files (ulimit -n, or LimitNOFILE of a service). The next use loads the library again; no restart is needed for that.",
  },
};
