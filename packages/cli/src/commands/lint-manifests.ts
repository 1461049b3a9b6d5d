/** `toolcrib lint-manifests`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "lint-manifests",
  summary: "check manifests, and print every problem and its position (exit code 1)",
  arguments: { path: { help: "a folder with manifests, or one manifest" } },
  options: {
    requireDigests: { help: "refuse placeholders for the digest of images with builder: toolpack" },
    denylist: { value: "file", help: "file of host names that no egress list may contain, one per line" },
  },
  run: async (context, { path }, options) =>
    (await import("../toolspec/lint-files.ts")).lintManifests(context, path, options),
});
