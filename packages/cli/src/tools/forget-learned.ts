/**
 * `toolcrib search forget`: erases words that search learned from use. They are in the home, so it works with and
 * without a running gateway, which takes it over within seconds.
 */

import { randomBytes } from "node:crypto";
import { didYouMean } from "@toolcrib/diagnostics";
import { forgetLearned, listLearned } from "@toolcrib/learning";
import { isLocalIssuer } from "@toolcrib/tool";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";

/** Options of the command. */
interface ForgetOptions {
  readonly tool?: string;
  readonly identity?: string;
  readonly all?: boolean;
}

/** Runs the command. */
export async function forgetWords(
  context: CliContext,
  { tool, identity, all }: ForgetOptions,
): Promise<ExitCode> {
  const { output, options } = context;
  if (all !== true && tool === undefined && identity === undefined) {
    throw new CliError("CLI_USAGE", "It is not said what to forget", {
      hint: "give --tool TOOL, --identity CLIENT or both, or --all; toolcrib search find forget searches for the word",
    });
  }
  if (all === true && (tool !== undefined || identity !== undefined)) {
    throw new CliError(
      "CLI_USAGE",
      "--all forgets everything, and cannot be combined with --tool or --identity",
    );
  }
  const deps = {
    randomBytes,
    onProblem: ({ message }: Error) =>
      output.note(`${output.noteStyle("yellow", "warning")}: ${safeLine(message)}`),
  };
  const known = await listLearned(options.home, deps);
  const names = known.map(({ client }) => nameOf(client));
  if (identity !== undefined && !names.includes(identity)) {
    throw new CliError("CLI_CLIENT_NOT_FOUND", `Nothing was learned from a client called "${identity}"`, {
      hint: didYouMean(identity, names) ?? hintOf("the clients are", names),
    });
  }
  const tools = [...new Set(known.flatMap((one) => one.tools))].sort();
  if (tool !== undefined && !tools.includes(tool)) {
    throw new CliError("CLI_TOOL_NOT_FOUND", `Nothing was learned about a tool with the id "${tool}"`, {
      hint: didYouMean(tool, tools) ?? hintOf("the tools are", tools),
    });
  }
  const isMeant =
    identity === undefined ? {} : { isMeant: (client: NamedClient) => nameOf(client) === identity };
  const forgotten = await forgetLearned(
    options.home,
    { ...isMeant, ...(tool === undefined ? {} : { tool }) },
    deps,
  );
  output.json({ forgotten: forgotten.map(({ client, ...counts }) => ({ client, ...counts })) });
  const words = forgotten.reduce((sum, one) => sum + one.words, 0);
  const from = counted(forgotten.length, "client");
  output.print(
    words === 0
      ? "Nothing was learned"
      : `Forgot ${counted(words, "word")} of ${from}; a running gateway takes that over within seconds`,
  );
  return exitCodes.done;
}

interface NamedClient {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
}

function nameOf({ issuer, subject, name }: NamedClient): string {
  return isLocalIssuer(issuer) ? name : `${issuer} ${subject}`;
}

/** Maximum number of names in a hint. */
const namesMaxCount = 10;

function hintOf(what: string, names: readonly string[]): string {
  if (names.length === 0) return "nothing was learned yet";
  const rest = names.length > namesMaxCount ? `, and ${names.length - namesMaxCount} more` : "";
  return `${what} ${names.slice(0, namesMaxCount).join(", ")}${rest}`;
}
