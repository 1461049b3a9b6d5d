/** The facts about this process and its user that sandboxes depend on. */

import { homedir, tmpdir } from "node:os";
import { chooseStartParent, type Sandboxes } from "@toolcrib/sandbox";
import type { GatewayDeps } from "./gateway-deps.ts";

/** Returns the facts. */
export function sandboxFacts(env: GatewayDeps["env"]): ConstructorParameters<typeof Sandboxes>[0] {
  return {
    uid: process.getuid?.() ?? -1,
    gid: process.getgid?.() ?? -1,
    temporaryDirectory: chooseStartParent(tmpdir()),
    userHome: userHomeOf(env),
  };
}

/** Returns the home folder of the user. */
export function userHomeOf(env: GatewayDeps["env"]): string {
  return env["HOME"] ?? homedir();
}
