/** `toolcrib egress`. */

import { defineCommand } from "../cli-command.ts";
import { manifestSecretOption } from "../option-values.ts";

export const command = defineCommand({
  name: "egress",
  summary:
    "run a program behind the egress proxy of a manifest: it reaches only the hosts listed there, and gets placeholders instead of secrets",
  arguments: {
    command: { isOptional: true, isVariadic: true, help: "the program and its arguments, after --" },
  },
  options: {
    manifest: { value: "file", isRequired: true, help: "the manifest" },
    secret: manifestSecretOption,
    connectTo: {
      value: "host=address:port",
      isRepeatable: true,
      help: "address to connect to for a host; repeatable",
    },
    internalRange: {
      value: "cidr",
      isRepeatable: true,
      help: "addresses that are not public and still allowed; repeatable",
    },
    caFile: {
      value: "file",
      isRepeatable: true,
      help: "certificates (PEM) to trust in addition to the default ones; repeatable",
    },
    contain: {
      help: "run the program in a sandbox, whose network leads to this proxy alone, and whose files are the system's",
    },
    read: {
      value: "path",
      isRepeatable: true,
      help: "with --contain: folder or file that the program reads; repeatable",
    },
    write: { value: "path", isRepeatable: true, help: "with --contain: folder that it writes; repeatable" },
    listen: { help: "run no program, and print the environment for one; ends with Ctrl-C" },
  },
  examples: [
    "toolcrib egress --manifest manifest.yaml -- curl https://api.example.com/",
    "toolcrib egress --manifest manifest.yaml --contain --read . -- python3 report.py",
  ],
  run: async (context, args, options) =>
    (await import("../egress/run-egress.ts")).runEgress(context, args.command, options),
});
