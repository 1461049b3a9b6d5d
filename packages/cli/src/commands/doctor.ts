/** `toolcrib doctor`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "doctor",
  summary: "find problems with the setup and print how to fix them (exit code 1)",
  run: async (context) => (await import("../doctor/run-doctor.ts")).runDoctor(context),
});
