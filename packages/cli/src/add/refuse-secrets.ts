/**
 * Refuses secrets in the words of `toolcrib add`: the configuration would contain them, the history of the shell has
 * them, and the command prints what it adds. No message shows one. Pure.
 */

import { judgeArguments } from "@toolcrib/config";
import { CliError } from "../cli-error.ts";
import { isSecretValue } from "../import/secret-values.ts";
import type { AddFlags } from "../toolspec/add-flags.ts";

const fromStore = "toolcrib secret set NAME, and --secret";

/** Refuses secrets among the variables and arguments of the server. @throws {CliError} `CLI_USAGE` */
export function refuseSecretFlags({ env = [], serverArg = [] }: AddFlags): void {
  for (const [name, value] of env) {
    if (!isSecretValue("variable", name, value)) continue;
    throw new CliError("CLI_USAGE", `--env ${JSON.stringify(name)} has a secret as its value`, {
      hint: `pass it from the secret store: ${fromStore} ${name}=NAME`,
    });
  }
  refuseSecretWords("", serverArg, "An argument of the server");
}

/**
 * Refuses secrets among the arguments of a command line.
 *
 * @param command the program; empty where only its arguments are given
 * @throws {CliError} `CLI_USAGE`
 */
export function refuseSecretWords(command: string, args: readonly string[], what: string): void {
  const { secrets } = judgeArguments(command, args);
  const at = args.findIndex((_word, index) => secrets.has(index));
  if (at === -1) return;
  const place = args.length > 1 ? ` (argument ${at + 1})` : "";
  throw new CliError("CLI_USAGE", `${what}${place} contains a secret`, {
    hint: `pass it in the environment, from the secret store: ${fromStore} VARIABLE=NAME`,
  });
}

/** Refuses a URL that is a secret, or contains one. @throws {CliError} `CLI_USAGE` */
export function refuseSecretUrl(url: URL): void {
  if (!isSecretValue("url", "", url.href)) return;
  throw new CliError("CLI_USAGE", "The URL contains a secret", {
    hint: `send it in a header, from the secret store: ${fromStore} HEADER=NAME; a URL that is one as a whole is written as url: { secret_key_ref: NAME }`,
  });
}
