/**
 * Entry point of the command. Turns on Node's compile cache before the rest of the
 * command is loaded: everything that this module imported itself would be compiled
 * anew at each start.
 */

import { enableCompileCache } from "node:module";
import { compileCacheFolder } from "./compile-cache.ts";

const folder = compileCacheFolder(process.env);
if (folder !== undefined) enableCompileCache(folder);
// Not awaited at the top level, which no module of CommonJS can do.
void import("./start.ts").then(({ start }) => start());
