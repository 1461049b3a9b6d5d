/** `toolcrib top`. */

import { defineCommand } from "../cli-command.ts";
import { seconds } from "../option-values.ts";

export const command = defineCommand({
  name: "top",
  summary: "show calls, errors, latency and tokens by server and client, live",
  options: {
    once: { help: "print the numbers once, for scripts with --json" },
    by: {
      value: "what",
      choices: ["server", "client", "tool"],
      help: "one table only (default: server and client)",
    },
    sort: {
      value: "column",
      choices: ["calls", "errors", "p50", "p99", "inflight", "tokens", "name"],
      default: "calls",
      help: "column to sort by; on a terminal a key changes it",
    },
    window: {
      value: "seconds",
      parse: seconds,
      help: "calls of the last 1 to 3600 seconds (default: 60)",
    },
    interval: {
      value: "seconds",
      parse: seconds,
      help: "time between two readings, 1 to 3600 (default: 1)",
    },
  },
  examples: ["toolcrib top", "toolcrib top --by tool --sort p99", "toolcrib top --once --json"],
  run: async (context, _args, { once, by, sort, window, interval }) =>
    (await import("../top/show-top.ts")).showTop(context, {
      once,
      by,
      sort,
      windowMs: window ?? 60_000,
      intervalMs: interval ?? 1000,
    }),
});
