/** `toolcrib saved run NAME`: runs a saved tool and prints its result. */

import { openToolAccess } from "../access/open-tool-access.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import type { ExitCode } from "../exit-codes.ts";
import { Progress } from "../progress/progress.ts";
import { readStandardInput } from "../standard-input.ts";
import { parseArgumentPairs, parseArguments } from "../tools/call-arguments.ts";
import { openSaved, requireSaved } from "./open-saved.ts";
import { printResponse } from "./print-response.ts";

/** Options of the command. */
export interface SavedRunFlags {
  readonly arg?: readonly string[];
  readonly dryRun?: boolean;
}

/** Runs the command. */
export async function runSaved(
  context: CliContext,
  name: string,
  text: string | undefined,
  flags: SavedRunFlags,
): Promise<ExitCode> {
  const pairs = flags.arg ?? [];
  if (text !== undefined && pairs.length > 0) {
    throw new CliError("CLI_USAGE", "Arguments are given twice: as JSON and with --arg", {
      hint: "use one of the two",
    });
  }
  const given =
    text === undefined
      ? {}
      : parseArguments(text === "-" ? await readStandardInput(context) : text, "<arguments>");
  const tool = await findTool(context, name);
  const args = pairs.length === 0 ? given : parseArgumentPairs(pairs, tool.inputSchema);
  await using access = await openToolAccess(context);
  using progress = new Progress(context, `saved:${name}`);
  const result = await access.call(
    `saved:${name}`,
    flags.dryRun === true ? { ...args, dry_run: true } : args,
    {
      signal: context.signal,
      onProgress: context.stderr.isTTY === true ? (params) => progress.report(params) : undefined,
    },
  );
  return printResponse(context, result, `${name}.star`);
}

async function findTool(context: CliContext, name: string) {
  await using saved = await openSaved(context);
  return requireSaved(context, saved, name);
}
