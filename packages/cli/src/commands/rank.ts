/** `toolcrib rank`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "rank",
  summary: "rank the installed packages with a capability by their tests, stability, latency and fit",
  arguments: { capability: { help: "capability or tag of packages, such as pdf" } },
  options: {
    environment: {
      value: "kind",
      choices: ["cpu", "gpu"],
      help: "cpu: only what runs without a graphics processor; gpu: prefer what uses one",
    },
  },
  examples: ["toolcrib rank pdf --environment cpu"],
  run: async (context, { capability }, options) =>
    (await import("../package/rank-packages.ts")).rankPackages(context, capability, options),
});
