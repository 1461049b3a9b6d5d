/** `toolcrib sandbox`. */

import { type CliCommandGroup, defineCommand } from "../cli-command.ts";

export const command: CliCommandGroup = {
  name: "sandbox",
  summary: "show how this machine can contain the processes of servers, and try it with a program",
  commands: [
    defineCommand({
      name: "check",
      summary: "show what each kind of sandbox enforces on this machine, and what is missing",
      run: async (context) => (await import("../sandbox/check-sandbox.ts")).checkSandbox(context),
    }),
    defineCommand({
      name: "run",
      summary: "run a program in a sandbox: without network, home and other folders",
      arguments: {
        command: { isOptional: true, isVariadic: true, help: "the program and its arguments, after --" },
      },
      options: {
        network: {
          value: "deny|scoped|allow",
          help: "network of the program (default: deny); scoped: only the hosts of --allow, through a proxy",
        },
        allow: {
          value: "host",
          isRepeatable: true,
          help: "a host that --network scoped reaches, such as api.example.com, *.example.com or api.example.com:8443; repeatable",
        },
        write: { value: "folder", isRepeatable: true, help: "a folder that it may write; repeatable" },
        read: { value: "path", isRepeatable: true, help: "a folder or file that it may read; repeatable" },
      },
      examples: [
        "toolcrib sandbox run --write ./data -- python3 server.py",
        "toolcrib sandbox run --network scoped --allow api.example.com -- curl https://api.example.com/",
      ],
      run: async (context, args, options) =>
        (await import("../sandbox/run-sandboxed.ts")).runSandboxed(context, args.command, options),
    }),
  ],
};
