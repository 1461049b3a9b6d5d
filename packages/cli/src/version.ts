/** The version of the command, from its own package.json; the same on source and on the build. */

import { readFileSync } from "node:fs";

/** This program's version, such as `0.1.0`. */
export const version: string = (
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
).version;
