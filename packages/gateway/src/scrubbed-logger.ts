/** The log of a gateway without secrets: names and reasons that servers report are in its fields. */

import type { Logger } from "@toolcrib/diagnostics";
import type { TextScrubber } from "@toolcrib/redaction";

/** Returns `logger` with the known secrets in fields and messages replaced. */
export function scrubbedLogger(logger: Logger, scrubber: TextScrubber): Logger {
  const at = (level: keyof Logger) => (fields: object, message: string) =>
    logger[level](scrubber.value(fields), scrubber.text(message));
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
