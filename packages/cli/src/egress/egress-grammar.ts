/** `toolcrib egress` with its arguments and options. */

import type { Command } from "commander";
import type { RunCommand } from "../command-context.ts";
import type { EgressFlags } from "../commands/egress.ts";

/** Add `egress` to `program`. */
export function addEgressCommand(program: Command, run: RunCommand): void {
  program
    .command("egress")
    .description(
      "run a program behind the proxy of a manifest: it reaches the hosts listed there, and sees placeholders in place of secrets",
    )
    .requiredOption("--manifest <file>", "the manifest")
    .option(
      "--secret <id=name>",
      "the secret of a credential, by its name as with secret_key_ref; repeatable (default: SERVICE-ID)",
      collect,
    )
    .option("--connect-to <host=address:port>", "where to connect for a host; repeatable", collect)
    .option(
      "--internal-range <cidr>",
      "addresses that may be connected to though not public; repeatable",
      collect,
    )
    .option("--ca-file <file>", "certificates (PEM) to trust besides the default ones; repeatable", collect)
    .option("--listen", "run no program, and print the environment of one; ends with Ctrl-C")
    .argument("[command...]", "the program and its arguments, behind --")
    .action((words: string[], flags: EgressFlags, command: Command) =>
      run(command, async (context) => (await import("../commands/egress.ts")).egress(context, words, flags)),
    );
}

function collect(value: string, values: readonly string[] | undefined): readonly string[] {
  return [...(values ?? []), value];
}
