/** `toolcrib regressions`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "regressions",
  summary: "compare the newest test results of installed packages with earlier ones (exit code 1 if worse)",
  arguments: { toolId: { isOptional: true, help: "id of an installed package (default: all)" } },
  examples: ["toolcrib regressions acme.crm.search"],
  run: async (context, { toolId }) =>
    (await import("../package/show-regressions.ts")).showRegressions(context, toolId),
});
