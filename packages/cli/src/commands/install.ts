/** `toolcrib install`. */

import { defineCommand } from "../cli-command.ts";
import { allowOptions, placeOptions } from "../package/install-options.ts";
import { registryOptions } from "../registry/registry-options.ts";

export const command = defineCommand({
  name: "install",
  summary: "install tool packages (.mcpkg), after checking them, into this project; nothing of them runs",
  arguments: {
    sources: {
      isOptional: true,
      isVariadic: true,
      help: "FILE, FOLDER, URL (https) or TOOLID[@RANGE]; a folder that looks like a toolId is ./FOLDER",
    },
  },
  options: {
    ...placeOptions,
    locked: { help: "install exactly what mcp.lock of this project names, after showing it" },
    yes: { short: "y", help: "do not ask" },
    dryRun: { help: "show what would be installed, and change nothing" },
    keyId: { value: "id", help: "the key that must have signed the packages, such as sha256:…" },
    ...registryOptions,
    ...allowOptions,
  },
  examples: [
    "toolcrib install ./demo.echo-0.1.0.mcpkg",
    "toolcrib install https://tools.example.com/demo.echo-0.1.0.mcpkg --key-id sha256:0f…",
    "toolcrib install demo.echo@^1.2 --user",
    "toolcrib install --locked --yes",
  ],
  run: async (context, { sources }, options) =>
    (await import("../package/install-tools.ts")).installTools(context, sources, options),
});
