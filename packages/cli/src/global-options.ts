/**
 * The options that every command takes, and where their values come from:
 * the flag, else the environment, else the default.
 */

import { isAbsolute, join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { CliError } from "./cli-error.ts";
import type { World } from "./world.ts";

/** Least severe level of the program log. */
export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** Global options with everything in its place. */
export interface GlobalOptions {
  /** Configuration files as they were given; empty: `findConfigFiles` looks. */
  readonly configFiles: readonly string[];
  /** Toolcrib's home, absolute. */
  readonly home: string;
  /** Whether the home is not the default one, so that commands to paste must name it. */
  readonly isHomeGiven: boolean;
  readonly isJson: boolean;
  readonly noColor: boolean;
  /** `undefined`: the command's own default. */
  readonly logLevel: LogLevel | undefined;
  readonly isDebug: boolean;
}

/** Toolcrib's home in the user's. */
const defaultHomeName = ".toolcrib";

const logLevels: readonly LogLevel[] = ["debug", "info", "warn", "error", "silent"];

/** Add the global options to the program. */
export function addGlobalOptions(program: Command): void {
  program
    .option(
      "-c, --config <file>",
      "configuration file; repeatable, later files override earlier ones (default: ./toolcrib.yaml, else <home>/toolcrib.yaml)",
      (file: string, files: readonly string[] | undefined) => [...(files ?? []), file],
    )
    .option("--home <dir>", "Toolcrib's home directory (default: $TOOLCRIB_HOME, else ~/.toolcrib)")
    .option("--json", "print one JSON document on standard output and nothing else there")
    .option("--no-color", "no colours, as with NO_COLOR in the environment")
    .addOption(
      new Option(
        "--log-level <level>",
        "least severe log records to show (default: $TOOLCRIB_LOG_LEVEL)",
      ).choices(logLevels),
    )
    .option("--debug", "show the stack of an error, and the log from level debug on");
}

/** What commander makes of `addGlobalOptions`. */
export interface GlobalFlags {
  readonly config?: readonly string[];
  readonly home?: string;
  readonly json?: boolean;
  readonly color?: boolean;
  readonly logLevel?: LogLevel;
  readonly debug?: boolean;
}

/**
 * Complete the global options.
 *
 * @param homeName name of the home in the user's directory, where nothing else is said
 * @throws {CliError} `CLI_USAGE` for an environment variable with a value that it cannot have.
 */
export function resolveGlobalOptions(
  flags: GlobalFlags,
  world: World,
  homeName = defaultHomeName,
): GlobalOptions {
  const { environment } = world;
  const defaultHome = join(world.userDirectory, homeName);
  const homeText = flags.home ?? textOf(environment["TOOLCRIB_HOME"]);
  const home = homeText === undefined ? defaultHome : toAbsolute(homeText, world);
  return {
    configFiles: flags.config ?? [],
    home,
    isHomeGiven: home !== defaultHome,
    isJson: flags.json === true,
    noColor: flags.color === false,
    logLevel:
      flags.logLevel ?? levelOf(environment["TOOLCRIB_LOG_LEVEL"]) ?? (flags.debug ? "debug" : undefined),
    isDebug: flags.debug === true,
  };
}

function textOf(value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : value;
}

/** A variable is not expanded by a shell, so `~` is expanded here. */
function toAbsolute(path: string, world: World): string {
  if (path === "~") return world.userDirectory;
  if (/^~[\\/]/.test(path)) return join(world.userDirectory, path.slice(2));
  return isAbsolute(path) ? resolve(path) : resolve(world.directory, path);
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
