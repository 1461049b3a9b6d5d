/** `toolcrib lint-toolspecs`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "lint-toolspecs",
  summary: "check toolspecs and their manifests, and print every problem and its position (exit code 1)",
  arguments: { path: { help: "a folder with manifests and toolspecs, or one toolspec" } },
  run: async (context, { path }) => (await import("../toolspec/lint-files.ts")).lintToolspecs(context, path),
});
