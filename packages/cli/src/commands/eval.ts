/** `toolcrib eval FILE`: run a composite program once, with the tools, and save nothing. */

import { openToolAccess } from "../access/open-tool-access.ts";
import { parseArgumentPairs, parseArguments } from "../call/call-arguments.ts";
import { CliError } from "../cli-error.ts";
import type { CommandContext } from "../command-context.ts";
import type { ExitCode } from "../exit-codes.ts";
import { printResponse } from "../saved/print-response.ts";
import { readStandardInput } from "../standard-input.ts";
import { readProgram, standardInput } from "../starlark/program-file.ts";

/** Its options. */
export interface EvalFlags {
  readonly param?: readonly string[];
  readonly params?: string;
}

/** Run the command. */
export async function evaluate(context: CommandContext, file: string, flags: EvalFlags): Promise<ExitCode> {
  const { world } = context;
  if (file === standardInput && flags.params === standardInput) {
    throw new CliError("CLI_USAGE", "Standard input cannot be both the program and its params");
  }
  const pairs = parseArgumentPairs(flags.param ?? [], {}, "--param");
  const text = flags.params === standardInput ? await readStandardInput(world) : flags.params;
  const params = text === undefined ? pairs : { ...parseArguments(text, "<params>", "--param"), ...pairs };
  const { name, text: code } = await readProgram(file, world);
  await using access = await openToolAccess(context);
  const result = await access.call("eval_starlark", { code, params }, { signal: world.interrupted });
  return printResponse(context, result, name);
}
