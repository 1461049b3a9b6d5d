/**
 * Finds the command line that starts this command in another terminal: `toolcrib`
 * if it is on the PATH, `npx toolcrib` in a checkout or in a project with the
 * package, otherwise the absolute path. Printed commands work after copy and paste.
 */

import { existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { CliContext } from "../cli-context.ts";
import { launcherPath } from "../launcher-path.ts";
import type { ProcessContext } from "../process-context.ts";
import { shellQuote } from "./shell-quote.ts";

/** Returns the command with the options for this home. */
export function ownCommand(context: CliContext): string {
  const { options } = context;
  const home = options.isHomeGiven ? ` --home ${shellQuote(options.home)}` : "";
  return `${programOf(context)}${home}`;
}

/** Returns the program for commands within a sentence: `npx toolcrib` where that is needed, otherwise `toolcrib`. */
export function shortProgram(context: Pick<ProcessContext, "env" | "directory">): string {
  const program = programOf(context);
  return program.startsWith("npx ") ? program : "toolcrib";
}

function programOf({ env, directory }: Pick<ProcessContext, "env" | "directory">): string {
  const folders = (env["PATH"] ?? "").split(delimiter);
  // npm and npx add these folders, and another terminal does not have them. Without npm, the user added them.
  const isByNpm = env["npm_command"] !== undefined || env["npm_lifecycle_event"] !== undefined;
  const lasting = folders.filter(
    (folder) => folder !== "" && !(isByNpm && /[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder)),
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
