/** `toolcrib saved run NAME`: run a saved tool and print its result. */

import { openToolAccess } from "../access/open-tool-access.ts";
import { parseArgumentPairs, parseArguments } from "../call/call-arguments.ts";
import { createProgressLine } from "../call/progress-line.ts";
import { CliError } from "../cli-error.ts";
import type { CommandContext } from "../command-context.ts";
import type { ExitCode } from "../exit-codes.ts";
import { openSaved, requireSaved } from "../saved/open-saved.ts";
import { printResponse } from "../saved/print-response.ts";
import { readStandardInput } from "../standard-input.ts";

/** Its options. */
export interface SavedRunFlags {
  readonly arg?: readonly string[];
  readonly dryRun?: boolean;
}

/** Run the command. */
export async function runSaved(
  context: CommandContext,
  name: string,
  text: string | undefined,
  flags: SavedRunFlags,
): Promise<ExitCode> {
  const { world } = context;
  const pairs = flags.arg ?? [];
  if (text !== undefined && pairs.length > 0) {
    throw new CliError("CLI_USAGE", "Arguments are given twice: as JSON and with --arg", {
      hint: "use one of the two",
    });
  }
  const given =
    text === undefined
      ? {}
      : parseArguments(text === "-" ? await readStandardInput(world) : text, "<arguments>");
  const tool = await findTool(context, name);
  const args = pairs.length === 0 ? given : parseArgumentPairs(pairs, tool.inputSchema);
  await using access = await openToolAccess(context);
  using progress = createProgressLine(world.stderr);
  const result = await access.call(
    `saved:${name}`,
    flags.dryRun === true ? { ...args, dry_run: true } : args,
    {
      signal: world.interrupted,
      onProgress: progress === undefined ? undefined : (params) => progress.update(params),
    },
  );
  return printResponse(context, result, `${name}.star`);
}

async function findTool(context: CommandContext, name: string) {
  await using saved = await openSaved(context);
  return requireSaved(saved, name);
}
