/** The program log of a command on standard error: text on a terminal, otherwise JSON lines. */

import type { Logger } from "@toolcrib/diagnostics";
import type { CliContext } from "./cli-context.ts";
import type { LogLevel } from "./global-options.ts";
import { createLogger } from "./output/logger.ts";

/**
 * Creates the logger of a command.
 *
 * @param defaultLevel level without `--log-level`, `TOOLCRIB_LOG_LEVEL` and `--debug`.
 */
export function createCommandLogger(context: CliContext, defaultLevel: LogLevel): Logger {
  const { options } = context;
  return createLogger(
    { output: context.stderr, now: context.now },
    { level: options.logLevel ?? defaultLevel, pretty: context.stderr.isTTY === true },
  );
}
