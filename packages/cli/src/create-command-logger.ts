/** The program log of a command: on standard error, for people on a terminal, as JSON lines elsewhere. */

import type { Logger } from "@toolcrib/diagnostics";
import { createLogger } from "@toolcrib/gateway";
import type { CliContext } from "./cli-context.ts";
import type { LogLevel } from "./global-options.ts";

/**
 * Create the logger of a command.
 *
 * @param defaultLevel without `--log-level`, `TOOLCRIB_LOG_LEVEL` and `--debug`.
 */
export function createCommandLogger(context: CliContext, defaultLevel: LogLevel): Logger {
  const { options } = context;
  return createLogger(
    { output: context.stderr, now: context.now },
    { level: options.logLevel ?? defaultLevel, pretty: context.stderr.isTTY === true },
  );
}
