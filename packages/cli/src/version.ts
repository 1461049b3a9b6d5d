/** The version of the command, from its package.json, for sources and the build. */

import { readFileSync } from "node:fs";

/** The version of this program, such as `0.1.0`. */
export const version: string = (
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
).version;
