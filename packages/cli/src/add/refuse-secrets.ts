/**
 * Refuses secrets in the words of `toolcrib add`: the configuration would contain them, the history of the shell has
 * them, and the command prints what it adds. What only looks like one is a warning, for it can be an ordinary setting.
 * No message shows a value. Pure but for the warnings.
 */

import { judgeArguments } from "@toolcrib/config";
import { credentialRanges, secretVerdict, suspectedCredentials } from "@toolcrib/redaction";
import { CliError } from "../cli-error.ts";
import type { Output } from "../output/output.ts";
import { shownUrl } from "../server-import/shown-entry.ts";
import type { AddFlags } from "../toolspec/add-flags.ts";

const fromStore = "toolcrib secret set NAME, and --secret";

type Warn = Pick<Output, "note">;

/** A password after its option, or as a parameter of a URL. */
const namedPart = /^-[pP][^-]|[?&#;](?:pass|pwd?|jwt|pat)=/i;

/** As `secretVerdict`; a text is `certain` also where a credential of a known form, or with its name, is a part of it. */
function verdictOf(role: "variable" | "argument" | "url", name: string, value: string) {
  const verdict = secretVerdict(role, name, value);
  if (verdict !== "likely") return verdict;
  const hasNamed =
    namedPart.test(value) || (role === "argument" && suspectedCredentials(value, "certain").length > 0);
  return hasNamed || credentialRanges(value, "certain").length > 0 ? "certain" : "likely";
}

/** Refuses secrets among the variables and arguments of the server. @throws {CliError} `CLI_USAGE` */
export function refuseSecretFlags(output: Warn, { env = [], serverArg = [] }: AddFlags): void {
  for (const [name, value] of env) {
    const verdict = verdictOf("variable", name, value);
    if (verdict === undefined) continue;
    const variable = `--env ${JSON.stringify(name)}`;
    const hint = `pass it from the secret store: ${fromStore} ${name}=NAME`;
    if (verdict === "certain")
      throw new CliError("CLI_USAGE", `${variable} has a secret as its value`, { hint });
    warn(output, `${variable} has a value that looks like a secret`, hint);
  }
  refuseSecretWords(output, { command: "", args: serverArg, what: "An argument of the server" });
}

/**
 * Refuses secrets among the arguments of a command line.
 *
 * @param words its program, empty where only its arguments are given; `what` they are, for messages
 * @throws {CliError} `CLI_USAGE`
 */
export function refuseSecretWords(
  output: Warn,
  {
    command,
    args,
    what,
  }: { readonly command: string; readonly args: readonly string[]; readonly what: string },
): void {
  const { secrets } = judgeArguments(command, args);
  for (const [at, word] of args.entries()) {
    // One that is none by itself is the value of the option before it.
    const verdict = secrets.has(at) ? (verdictOf("argument", "", word) ?? "certain") : undefined;
    if (verdict === undefined) continue;
    const place = args.length > 1 ? ` (argument ${at + 1})` : "";
    const hint = `pass it in the environment, from the secret store: ${fromStore} VARIABLE=NAME`;
    if (verdict === "certain") throw new CliError("CLI_USAGE", `${what}${place} contains a secret`, { hint });
    warn(output, `${what}${place} contains what looks like a secret`, hint);
  }
}

/**
 * Refuses a URL that is a secret, or contains one.
 *
 * @returns the URL as it is shown: without what looks like a secret
 * @throws {CliError} `CLI_USAGE`
 */
export function refuseSecretUrl(output: Warn, url: URL): string {
  const verdict = verdictOf("url", "", url.href);
  if (verdict === undefined) return url.href;
  const hint = `send it in a header, from the secret store: ${fromStore} HEADER=NAME; a URL that is one as a whole is written as url: { secret_key_ref: NAME }`;
  if (verdict === "certain") throw new CliError("CLI_USAGE", "The URL contains a secret", { hint });
  warn(output, "The URL contains what looks like a secret", hint);
  return shownUrl(url.href);
}

function warn(output: Warn, what: string, hint: string): void {
  output.note(`warning: ${what}: it is written as it is. If it is one: ${hint}`);
}
