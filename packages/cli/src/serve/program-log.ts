/**
 * The program log of a gateway as a file of its home, `logs/_gateway.log`, which
 * `toolcrib logs` shows: standard error is gone with the terminal, or in the log of
 * a service. It has the records from level info on, whatever standard error shows,
 * and is rotated like the logs of servers. The id of a server never begins with `_`.
 *
 * Gateways that share a home write to one file; each record says which.
 */

import { join } from "node:path";
import type { Logger } from "@toolcrib/diagnostics";
import { LogFile } from "@toolcrib/process";
import type { CliContext } from "../cli-context.ts";
import { createLogger } from "../output/logger.ts";

/** Name of the file without its extension. */
export const programLogName = "_gateway";

/** Bytes after which the file is rotated; one rotated file is kept. */
const fileMaxBytes = 5 << 20;

/** The program log as a file. Disposing writes what waits. */
export interface ProgramLog extends AsyncDisposable {
  /** Writes to the file only. */
  readonly logger: Logger;
  /** Returns a logger that writes to the file and to `other`. */
  with(other: Logger): Logger;
}

/** Opens the program log. The first record creates the file. */
export function openProgramLog(context: Pick<CliContext, "options" | "now" | "stderr">): ProgramLog {
  let hasFailed = false;
  const path = join(context.options.home, "logs", `${programLogName}.log`);
  const file = new LogFile(path, {
    maxBytes: fileMaxBytes,
    // Standard error has the warnings nevertheless.
    onFailure: () => {
      hasFailed = true;
    },
  });
  const output = {
    write(line: string) {
      if (!hasFailed) file.append(line.trimEnd());
    },
  };
  const records = createLogger({ output, now: context.now }, { level: "info" });
  const withGateway = (fields: object) => ({ ...fields, gateway: process.pid });
  const logger: Logger = {
    debug() {},
    info: (fields, message) => records.info(withGateway(fields), message),
    warn: (fields, message) => records.warn(withGateway(fields), message),
    error: (fields, message) => records.error(withGateway(fields), message),
  };
  return {
    logger,
    with: (other) => ({
      debug: (fields, message) => other.debug(fields, message),
      info: (fields, message) => {
        logger.info(fields, message);
        other.info(fields, message);
      },
      warn: (fields, message) => {
        logger.warn(fields, message);
        other.warn(fields, message);
      },
      error: (fields, message) => {
        logger.error(fields, message);
        other.error(fields, message);
      },
    }),
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  };
}
