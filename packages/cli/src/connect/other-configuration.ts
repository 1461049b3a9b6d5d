/** Says what happens where the running gateway of the home serves other files than a command is about. Only reads. */

import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import { isCodedError } from "@toolcrib/diagnostics";
import { findRunningGateways } from "../access/run-file.ts";
import type { CliContext } from "../cli-context.ts";
import { findConfigFiles, shortPath } from "../config/find-config-files.ts";
import { noteWrapped } from "../output/note-wrapped.ts";
import { safeLine } from "../output/output.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";

/**
 * Warns where no gateway of the home serves the configuration of this command, and one serves another.
 *
 * @param outcome what the clients get then, as the end of a sentence
 * @returns whether it warned
 */
export function noteOtherConfiguration(
  context: CliContext,
  outcome: string,
  files: readonly string[] = configFilesOf(context),
): boolean {
  const { output, directory, options } = context;
  const running = findRunningGateways(options.home);
  const own = files.map((file) => resolve(directory, file));
  const [first] = running;
  const isServed = running.some(({ configFiles }) => own.some((file) => configFiles.includes(file)));
  if (first === undefined || first.configFiles.length === 0 || own.length === 0 || isServed) return false;
  const served = first.configFiles.map((file) => shortPath(file, directory)).join(", ");
  const wanted = own.map((file) => shortPath(file, directory)).join(", ");
  const named = own.map((file) => ` --config ${shellQuote(file)}`).join("");
  const command = `${ownCommand(context)}${named} serve`;
  noteWrapped(
    context,
    `${output.noteStyle("yellow", "warning")}: the gateway that runs for this home serves ${safeLine(served)}, not ${safeLine(wanted)}: ${outcome}. To serve this file, stop that gateway (kill ${first.pid}), and start: ${safeLine(command)}`,
  );
  return true;
}

/** The files of this command. The file of the home is what a command falls back to, and no choice of its user. */
function configFilesOf(context: CliContext): readonly string[] {
  try {
    const files = findConfigFiles(context);
    const isFallback =
      context.options.configFiles.length === 0 &&
      !existsSync(resolve(context.directory, basename(files[0] ?? "")));
    return isFallback ? [] : files;
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return [];
  }
}
