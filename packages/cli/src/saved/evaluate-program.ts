/** `toolcrib eval FILE`: runs a composite program once, with access to the tools, without saving it. */

import { openToolAccess } from "../access/open-tool-access.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import type { ExitCode } from "../exit-codes.ts";
import { readStandardInput } from "../standard-input.ts";
import { readProgram, standardInput } from "../starlark/program-file.ts";
import { parseArgumentPairs, parseArguments } from "../tools/call-arguments.ts";
import { printResponse } from "./print-response.ts";

/** Options of the command. */
export interface EvalFlags {
  readonly param?: readonly string[];
  readonly params?: string;
}

/** Runs the command. */
export async function evaluateProgram(
  context: CliContext,
  file: string,
  flags: EvalFlags,
): Promise<ExitCode> {
  if (file === standardInput && flags.params === standardInput) {
    throw new CliError("CLI_USAGE", "Standard input cannot be both the program and its params");
  }
  const pairs = parseArgumentPairs(flags.param ?? [], {}, "--param");
  const text = flags.params === standardInput ? await readStandardInput(context) : flags.params;
  const params = text === undefined ? pairs : { ...parseArguments(text, "<params>", "--param"), ...pairs };
  const { name, text: code } = await readProgram(file, context);
  await using access = await openToolAccess(context);
  const result = await access.call("eval_starlark", { code, params }, { signal: context.signal });
  return printResponse(context, result, name);
}
