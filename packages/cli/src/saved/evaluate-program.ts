/** `toolcrib eval FILE`: run a composite program once, with the tools, and save nothing. */

import { openToolAccess } from "../access/open-tool-access.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import type { ExitCode } from "../exit-codes.ts";
import { readStandardInput } from "../standard-input.ts";
import { readProgram, standardInput } from "../starlark/program-file.ts";
import { parseArgumentPairs, parseArguments } from "../tools/call-arguments.ts";
import { printResponse } from "./print-response.ts";

/** Its options. */
export interface EvalFlags {
  readonly param?: readonly string[];
  readonly params?: string;
}

/** Run the command. */
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
