/**
 * Entry point of the command. Turns on Node's compile cache before the rest of the
 * command is loaded: everything that this module imported itself would be compiled
 * anew at each start.
 */

import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

// The cache is in the user's own folder, because cached code is executed. An empty variable or a relative path
// counts as unset (XDG Base Directory Specification).
const given = process.env["XDG_CACHE_HOME"] ?? "";
const caches = isAbsolute(given) ? given : join(homedir(), ".cache");
enableCompileCache(join(caches, "toolcrib", "compile"));
const { start } = await import("./start.ts");
await start();
