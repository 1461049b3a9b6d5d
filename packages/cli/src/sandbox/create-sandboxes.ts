/** The sandboxes of this machine for a command. */

import { homedir, tmpdir } from "node:os";
import { chooseStartParent, Sandboxes } from "@toolcrib/sandbox";
import type { ProcessContext } from "../process-context.ts";

/** Returns the home folder of the user. */
export function userHomeOf({ env }: Pick<ProcessContext, "env">): string {
  const { HOME } = env;
  return HOME === undefined || HOME === "" ? homedir() : HOME;
}

/** Creates the sandboxes of the user who runs this command. */
export function createSandboxes(context: Pick<ProcessContext, "env">): Sandboxes {
  return new Sandboxes({
    uid: process.getuid?.() ?? -1,
    gid: process.getgid?.() ?? -1,
    temporaryDirectory: chooseStartParent(tmpdir()),
    userHome: userHomeOf(context),
  });
}
