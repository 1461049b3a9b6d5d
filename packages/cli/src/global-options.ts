/** The options that every command takes. A value comes from the flag, then the environment, then the default. */

import { isAbsolute, join, resolve } from "node:path";
import type { CliOptions, OptionValues } from "./cli-command.ts";
import { CliError } from "./cli-error.ts";
import type { ProcessContext } from "./process-context.ts";
import { shellQuote } from "./serve/shell-quote.ts";

const logLevels = ["debug", "info", "warn", "error", "silent"] as const;

/** Lowest severity that the program log shows. */
export type LogLevel = (typeof logLevels)[number];

/** Definitions of the global options. */
export const globalOptions = {
  config: {
    short: "c",
    value: "file",
    isRepeatable: true,
    help: "configuration file; repeatable, later files override earlier ones (default: ./toolcrib.yaml, else <home>/toolcrib.yaml)",
  },
  home: { value: "dir", help: "Toolcrib's home directory (default: $TOOLCRIB_HOME, else ~/.toolcrib)" },
  json: { help: "print one JSON document on standard output and nothing else there" },
  color: { isNegated: true, help: "no colors, as with NO_COLOR in the environment" },
  logLevel: {
    value: "level",
    choices: logLevels,
    help: "lowest severity of log records to show (default: $TOOLCRIB_LOG_LEVEL)",
  },
  debug: { help: "show the stack of an error, and log records from level debug" },
} as const satisfies CliOptions;

/** Values of the global options on a command line. */
export type GlobalFlags = OptionValues<typeof globalOptions>;

/** Global options, resolved. */
export interface GlobalOptions {
  /** Configuration files from the command line. If empty, `findConfigFiles` searches the default places. */
  readonly configFiles: readonly string[];
  /** Toolcrib's home, absolute. */
  readonly home: string;
  /** Whether the home differs from the default, so that printed commands must name it. */
  readonly isHomeGiven: boolean;
  /** ` --home DIR` if the flag is given, otherwise empty; for the commands in hints. */
  readonly homeFlag: string;
  readonly isJson: boolean;
  readonly noColor: boolean;
  /** If `undefined`, the command uses its own default. */
  readonly logLevel: LogLevel | undefined;
  readonly isDebug: boolean;
}

/** Name of the home of the Metatool document in the user's home directory, the default of `toolcrib metatool`. */
export const metatoolHomeName = ".mcp-metatool";

/** Name of Toolcrib's home in the user's home directory. */
const defaultHomeName = ".toolcrib";

/**
 * Resolves the global options.
 *
 * @param homeName name of the default home in the user's home directory
 * @throws {CliError} `CLI_USAGE` for an environment variable with an invalid value.
 */
export function resolveGlobalOptions(
  flags: GlobalFlags,
  context: ProcessContext,
  homeName = defaultHomeName,
): GlobalOptions {
  const { env } = context;
  const defaultHome = join(context.userDirectory, homeName);
  const homeText = flags.home ?? textOf(env["TOOLCRIB_HOME"]);
  const home = homeText === undefined ? defaultHome : toAbsolute(homeText, context);
  return {
    configFiles: flags.config ?? [],
    home,
    isHomeGiven: home !== defaultHome,
    homeFlag: flags.home === undefined ? "" : ` --home ${shellQuote(home)}`,
    isJson: flags.json === true,
    noColor: flags.color === false,
    logLevel: flags.logLevel ?? levelOf(env["TOOLCRIB_LOG_LEVEL"]) ?? (flags.debug ? "debug" : undefined),
    isDebug: flags.debug === true,
  };
}

function textOf(value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : value;
}

/** Expands `~`, because no shell expands it in a variable. */
function toAbsolute(path: string, context: ProcessContext): string {
  if (path === "~") return context.userDirectory;
  if (/^~[\\/]/.test(path)) return join(context.userDirectory, path.slice(2));
  return isAbsolute(path) ? resolve(path) : resolve(context.directory, path);
}

function levelOf(value: string | undefined): LogLevel | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  const level = logLevels.find((one) => one === text.toLowerCase());
  if (level !== undefined) return level;
  throw new CliError("CLI_USAGE", `TOOLCRIB_LOG_LEVEL cannot be "${text}"`, {
    hint: `write ${logLevels.join(", ")}`,
  });
}
