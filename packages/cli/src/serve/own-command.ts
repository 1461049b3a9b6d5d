/**
 * How to call this very command from another terminal: `toolcrib` where that is
 * on the PATH, `npx toolcrib` in a checkout or a project that has it, else the
 * whole path. What is printed with it works when it is pasted.
 */

import { existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CliContext } from "../cli-context.ts";
import type { ProcessContext } from "../process-context.ts";
import { shellQuote } from "./shell-quote.ts";

/** The file that starts the command, on source and on the build. */
const launcherPath = fileURLToPath(new URL("../../bin/toolcrib.js", import.meta.url));

/** The command with the options that it needs to find this home. */
export function ownCommand(context: CliContext): string {
  const { options } = context;
  const home = options.isHomeGiven ? ` --home ${shellQuote(options.home)}` : "";
  return `${programOf(context)}${home}`;
}

function programOf({ env, directory }: ProcessContext): string {
  const folders = (env["PATH"] ?? "").split(delimiter);
  // npm and npx put these first; another terminal does not have them.
  const lasting = folders.filter(
    (folder) => folder !== "" && !/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder),
  );
  if (lasting.some((folder) => isLauncher(join(folder, "toolcrib")))) return "toolcrib";
  for (let at = directory; ; at = dirname(at)) {
    if (isLauncher(join(at, "node_modules", ".bin", "toolcrib"))) return "npx toolcrib";
    if (dirname(at) === at) break;
  }
  return `${shellQuote(process.execPath)} ${shellQuote(launcherPath)}`;
}

function isLauncher(path: string): boolean {
  try {
    return existsSync(path) && realpathSync(path) === realpathSync(launcherPath);
  } catch {
    return false;
  }
}
