/** `toolcrib trace`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "trace",
  summary: "show a call as a tree with times: inner calls, hooks, approvals, requests with secrets",
  arguments: {
    call: {
      help: "id of the call, or the start of it, as toolcrib audit list --long shows it; last: the newest call",
    },
  },
  examples: ["toolcrib trace last", "toolcrib trace 0197a3f2-5c01 --json"],
  run: async (context, { call }) => (await import("../trace/trace-call.ts")).traceCall(context, call),
});
