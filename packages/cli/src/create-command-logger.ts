/** The program log of a command: on standard error, for people on a terminal, as JSON lines elsewhere. */

import type { Logger } from "@toolcrib/diagnostics";
import { createLogger } from "@toolcrib/gateway";
import type { CommandContext } from "./command-context.ts";
import type { LogLevel } from "./global-options.ts";

/**
 * Create the logger of a command.
 *
 * @param defaultLevel without `--log-level`, `TOOLCRIB_LOG_LEVEL` and `--debug`.
 */
export function createCommandLogger({ options, world }: CommandContext, defaultLevel: LogLevel): Logger {
  return createLogger(
    { output: world.stderr, now: world.now },
    { level: options.logLevel ?? defaultLevel, pretty: world.stderr.isTTY === true },
  );
}
