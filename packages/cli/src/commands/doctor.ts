/** `toolcrib doctor`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "doctor",
  summary:
    "find problems with the setup and print how to fix them (exit code 1; 5 if a check could not be made)",
  options: {
    fix: { help: "make the safe repairs, after showing them and asking once" },
    online: {
      help: "also ask the network: remote servers, their certificates and logins, pinned packages, anchors",
    },
    yes: { short: "y", help: "with --fix: do not ask" },
  },
  examples: ["toolcrib doctor --fix", "toolcrib doctor --online"],
  run: async (context, _arguments, options) =>
    (await import("../doctor/run-doctor.ts")).runDoctor(context, options),
});
