/** `toolcrib secret` with its arguments and options; what each verb does is in `commands/secret.ts`. */

import type { Command } from "commander";
import type { RunCommand } from "../command-context.ts";
import type { SecretSetFlags } from "../commands/secret.ts";

/** Add the verb to `program`. */
export function addSecretCommands(program: Command, run: RunCommand): void {
  const secret = program
    .command("secret")
    .description("keep the secrets that secret_key_ref names, encrypted in Toolcrib's home");
  const load = () => import("../commands/secret.ts");
  secret
    .command("set")
    .description(
      "keep a secret; its value comes from standard input, or is asked for on a terminal, and is never an argument",
    )
    .argument("<name>", "what secret_key_ref calls it")
    .option("--from-env <variable>", "take the value of this environment variable")
    .option("--from-file <file>", "take the content of this file, without one trailing line break")
    // Refused by the command itself, which says why and does not repeat them.
    .allowExcessArguments()
    .allowUnknownOption()
    .action((name: string, flags: SecretSetFlags, command: Command) =>
      run(command, async (context) =>
        (await load()).setSecret(context, name, { ...flags, isInArguments: command.args.length > 1 }),
      ),
    );
  secret
    .command("list")
    .description("list the names of the secrets that are kept, and when they were set; never a value")
    .action((_flags, command: Command) =>
      run(command, async (context) => (await load()).listSecrets(context)),
    );
  secret
    .command("rm")
    .description("remove a secret (exit code 4 when there is none)")
    .argument("<name>", "its name")
    .action((name: string, _flags, command: Command) =>
      run(command, async (context) => (await load()).removeSecret(context, name)),
    );
  secret
    .command("test")
    .description(
      "tell whether secret_key_ref: NAME leads to a secret, where, and how long it is; never the value",
    )
    .argument("<name>", "its name")
    .action((name: string, _flags, command: Command) =>
      run(command, async (context) => (await load()).testSecret(context, name)),
    );
}
