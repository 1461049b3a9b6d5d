/** `toolcrib status`. */

import { defineCommand } from "../cli-command.ts";
import { CliError } from "../cli-error.ts";
import { seconds } from "../option-values.ts";

/** Interval of `--watch` without `--interval`, in milliseconds. */
const defaultIntervalMs = 2000;

export const command = defineCommand({
  name: "status",
  summary: "show the running gateway of this home, or what serve would serve (exit code 5)",
  options: {
    watch: {
      short: "w",
      help: "stay, and show every change: live on a terminal, elsewhere one line for each change",
    },
    interval: {
      value: "seconds",
      parse: seconds,
      help: "with --watch: time between two readings, 1 to 3600 (default: 2)",
    },
  },
  examples: ["toolcrib status", "toolcrib status --watch", "toolcrib status --watch --json"],
  run: async (context, _args, { watch, interval }) => {
    if (watch === true) {
      const { watchStatus } = await import("../watch/watch-status.ts");
      return watchStatus(context, { intervalMs: interval ?? defaultIntervalMs });
    }
    if (interval !== undefined) {
      throw new CliError("CLI_USAGE", "--interval is for --watch", { hint: "toolcrib status --watch" });
    }
    return (await import("../serve/show-status.ts")).showStatus(context);
  },
});
