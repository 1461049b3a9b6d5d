/** `toolcrib publish`. */

import { defineCommand } from "../cli-command.ts";

export const command = defineCommand({
  name: "publish",
  summary: "add a tool package (.mcpkg) to the folder of a registry",
  arguments: { file: { help: "archive of the package" } },
  options: {
    registry: {
      value: "registry",
      isRequired: true,
      help: "folder of the registry, or its name in the configuration",
    },
    allowUnsigned: { help: "add a package that is not signed" },
    allowNewKey: { help: "add a version that is signed by another key than earlier versions" },
    key: {
      value: "file",
      help: "Ed25519 key in PEM that signs the index (default: the registry key of the home)",
    },
  },
  examples: ["toolcrib publish demo.echo-0.1.0.mcpkg --registry ./packages"],
  run: async (context, { file }, options) =>
    (await import("../registry/manage-registry.ts")).addToRegistry(
      context,
      options.registry,
      [file],
      options,
    ),
});
