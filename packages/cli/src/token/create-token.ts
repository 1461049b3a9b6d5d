/**
 * `toolcrib token create`: writes a new token for a client into the home. It prints the token to a terminal, or where
 * `--print` asks for it: standard output is often a log. It never replaces a token.
 */

import { join } from "node:path";
import { isTokenName, tokenDirectory } from "@toolcrib/auth";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { writeToken } from "./write-token.ts";

function tokenNameHint(name: string): string {
  if (name === "env")
    return "env is the client of TOOLCRIB_TOKEN, the token in the environment of the gateway";
  if (name.endsWith(".tmp")) return "a gateway takes files that end with .tmp for unfinished ones";
  return "up to 64 letters, digits and . _ - are allowed, and no dot at the start";
}

/** Runs the command. @param isPrinted whether the token is printed, whatever standard output is */
export async function createToken(context: CliContext, name: string, isPrinted: boolean): Promise<ExitCode> {
  const { output, options } = context;
  if (!isTokenName(name)) {
    throw new CliError("CLI_USAGE", `A token cannot be named ${JSON.stringify(name)}`, {
      hint: tokenNameHint(name),
    });
  }
  const created = await writeToken(context, name);
  if (created === undefined) {
    const existing = join(tokenDirectory(options.home), name);
    throw new CliError("CLI_FILE_EXISTS", `The token "${name}" exists: ${existing}`, {
      hint: `use it, choose another name, or revoke it: toolcrib token revoke ${name}`,
    });
  }
  const { file, token } = created;
  output.json(isPrinted ? { name, file, token } : { name, file });
  if (output.isJson) return exitCodes.done;
  const rules = `policy.clients.${name} has the rules of the client`;
  if (isPrinted) {
    output.note(`Created ${file}; ${rules}`);
    output.print(token);
  } else if (output.isTerminal) {
    output.print(`Created ${file}`, "Clients send", `  Authorization: Bearer ${token}`);
    output.prose(rules);
  } else {
    output.print(
      `Created ${file}`,
      `Clients send its content as Authorization: Bearer TOKEN; policy.clients.${name} has their rules.`,
    );
  }
  return exitCodes.done;
}
