/** `toolcrib lint-manifests`. */

import { defineCommand } from "../cli-command.ts";
import { serverArgOption, serverEnvOption } from "../option-values.ts";

export const command = defineCommand({
  name: "lint-manifests",
  summary: "check manifests, and print every problem and its position (exit code 1)",
  arguments: {
    path: { help: "a folder with manifests, or one manifest; with --live also a name in the catalog" },
  },
  options: {
    requireDigests: { help: "refuse placeholders for the digest of images with builder: toolpack" },
    denylist: { value: "file", help: "file of host names that no egress list may contain, one per line" },
    live: {
      help: "fetch the server that the manifest adopts, start it contained, and compare its tools with the manifest (exit code 1 where they differ)",
    },
    write: {
      help: "with --live: change the tools in the file to those of the server, and record its package where nothing is recorded",
    },
    serverArg: serverArgOption,
    env: serverEnvOption,
  },
  examples: ["toolcrib lint-manifests catalog", "toolcrib lint-manifests --live memory.yaml --write"],
  run: async (context, { path }, { denylist, requireDigests, ...live }) =>
    live.live === true
      ? (await import("../adopted/lint-live.ts")).lintLive(context, path, live)
      : (await import("../toolspec/lint-files.ts")).lintManifests(context, path, {
          ...(denylist === undefined ? {} : { denylist }),
          requireDigests: requireDigests === true,
        }),
});
