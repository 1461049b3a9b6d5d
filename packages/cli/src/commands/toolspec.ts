/** `toolcrib toolspec`. */

import { type CliCommandGroup, defineCommand } from "../cli-command.ts";

export const command: CliCommandGroup = {
  name: "toolspec",
  summary: "run the examples of toolspecs as tests",
  commands: [
    defineCommand({
      name: "test",
      summary:
        "run the examples of toolspecs against a loopback service that compares each request byte for byte",
      arguments: { path: { help: "a folder with manifests and toolspecs, or one toolspec" } },
      options: {
        live: { help: "call the API itself, only for tools that read, with the secrets of the home" },
        tool: { value: "name", isRepeatable: true, help: "only this tool; repeatable" },
        secret: {
          value: "id=name",
          isRepeatable: true,
          help: "with --live, the name of a credential's secret (default: MANIFEST-ID); repeatable",
        },
      },
      run: async (context, { path }, options) =>
        (await import("../toolspec-test/test-toolspecs.ts")).testToolspecs(context, path, options),
    }),
  ],
};
