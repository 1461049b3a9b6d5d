/**
 * Finds the configuration of a command: the files given with `--config`, otherwise
 * `./toolcrib.yaml`, otherwise `<home>/toolcrib.yaml`.
 *
 * Toolcrib never reads `./.mcp.json` unless the user names it. A configuration
 * starts programs, and a repository contains that file for another program, which
 * asks before it uses the file.
 */

import { existsSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";

/** Names of Toolcrib's own configuration, in the order of the search. */
export const configFileNames: readonly string[] = ["toolcrib.yaml", "toolcrib.yml", "toolcrib.json"];

/** Files of other programs that list servers, relative to a project. */
export const foreignProjectFiles: readonly string[] = [".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"];

/**
 * Returns the configuration files of this run, at least one, with paths for display.
 *
 * @throws {CliError} `CLI_CONFIG_NOT_FOUND` when none is given and none is found.
 */
export function findConfigFiles(context: CliContext): readonly string[] {
  const { options } = context;
  if (options.configFiles.length > 0) return options.configFiles;
  const found = configFileIn(context.directory) ?? configFileIn(options.home);
  if (found !== undefined) return [shortPath(found, context.directory)];
  const other = foreignProjectFiles.find((name) => existsSync(join(context.directory, name)));
  const first = "create one with toolcrib init";
  throw new CliError(
    "CLI_CONFIG_NOT_FOUND",
    `No configuration: there is no toolcrib.yaml in ${context.directory} or ${options.home}`,
    {
      hint:
        other === undefined
          ? `take the servers of your clients over with toolcrib import, ${first}, or name one with --config FILE`
          : `${first} --import ${other}, or use that file directly with --config ${other}`,
    },
  );
}

/** The paths of the configuration files that this run reads, or would read if they existed. */
export function configCandidates({ options, directory }: CliContext): readonly string[] {
  if (options.configFiles.length > 0) return options.configFiles;
  return [directory, options.home].flatMap((folder) => configFileNames.map((name) => join(folder, name)));
}

/** Returns the path of Toolcrib's own configuration in a folder. */
export function configFileIn(directory: string): string | undefined {
  return configFileNames.map((name) => join(directory, name)).find((path) => existsSync(path));
}

/** Returns `path` relative to `directory` if it is inside, otherwise unchanged. */
export function shortPath(path: string, directory: string): string {
  const short = relative(directory, path);
  return short === "" || short.startsWith("..") || isAbsolute(short) ? path : short;
}
