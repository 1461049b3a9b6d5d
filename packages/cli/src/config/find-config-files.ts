/**
 * Which configuration a command reads: the files given with `--config`, else
 * `./toolcrib.yaml`, else `<home>/toolcrib.yaml`.
 *
 * `./.mcp.json` is never read by itself. A configuration starts programs, and a
 * repository brings that file along for another program, which asks before it
 * uses it; whoever wants it names it.
 */

import { existsSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";

/** Names of Toolcrib's own configuration, in the order in which they are looked for. */
export const configFileNames: readonly string[] = ["toolcrib.yaml", "toolcrib.yml", "toolcrib.json"];

/** Files of other programs that hold servers, relative to a project. */
export const projectFilesOfOthers: readonly string[] = [".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"];

/**
 * The configuration files of this run, as people call them; at least one.
 *
 * @throws {CliError} `CLI_CONFIG_NOT_FOUND` when none was given and none is found.
 */
export function findConfigFiles(context: CliContext): readonly string[] {
  const { options } = context;
  if (options.configFiles.length > 0) return options.configFiles;
  const found = firstIn(context.directory) ?? firstIn(options.home);
  if (found !== undefined) return [shortPath(found, context.directory)];
  const other = projectFilesOfOthers.find((name) => existsSync(join(context.directory, name)));
  const first = `write one with toolcrib init`;
  throw new CliError(
    "CLI_CONFIG_NOT_FOUND",
    `No configuration: there is no toolcrib.yaml in ${context.directory} or ${options.home}`,
    {
      hint:
        other === undefined
          ? `${first}, or name one with --config FILE`
          : `${first} --import ${other}, or use that file as it is with --config ${other}`,
    },
  );
}

function firstIn(directory: string): string | undefined {
  return configFileNames.map((name) => join(directory, name)).find((path) => existsSync(path));
}

/** `path` relative to `directory` where it is in it, else as it is. */
export function shortPath(path: string, directory: string): string {
  const short = relative(directory, path);
  return short === "" || short.startsWith("..") || isAbsolute(short) ? path : short;
}
