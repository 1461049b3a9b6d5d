/** The path of the launcher, in a checkout, in the build and in the published package, whose modules are in one folder. */

import { fileURLToPath } from "node:url";

/** The file that starts this command. */
export const launcherPath: string = fileURLToPath(new URL("../bin/toolcrib.js", import.meta.url));
