/** `toolcrib search WORDS…`: find tools by what they do. */

import { type Command, InvalidArgumentError } from "commander";
import { noteMissing, openToolAccess } from "../access/open-tool-access.ts";
import { CliError } from "../cli-error.ts";
import { cliUsage } from "../codes.ts";
import type { CommandContext, RunCommand } from "../command-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { firstSentence } from "./list.ts";

/** Most results; the limit of `search_tools` too. */
const limitMax = 50;

export function addSearchCommand(program: Command, run: RunCommand): void {
  program
    .command("search")
    .description("find tools by what they do, best first")
    .argument("<words...>", "what the tool should do")
    .option("-n, --limit <count>", `most results, 1 to ${limitMax}`, toLimit, 10)
    .action((words: string[], flags: { limit: number }, command: Command) =>
      run(command, (context) => searchTools(context, words.join(" "), flags.limit)),
    );
}

function toLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= limitMax) return limit;
  throw new InvalidArgumentError(`It is a whole number from 1 to ${limitMax}.`);
}

async function searchTools(context: CommandContext, query: string, limit: number): Promise<ExitCode> {
  const { output } = context;
  if (query.trim() === "")
    throw new CliError(cliUsage, "There is nothing to search for", { hint: "give a few words" });
  await using access = await openToolAccess(context);
  const hits = await access.search(query, limit);
  output.json(hits.map(({ id, name, score, why }) => ({ id, name, score, why })));
  if (hits.length === 0) output.print("No tool matches; try other words.");
  else {
    output.table(
      [
        { title: "TOOL", paint: (cell) => output.style("cyan", cell) },
        { title: "SCORE" },
        { title: "WHY", canShrink: true, paint: (cell) => output.style("dim", cell) },
        { title: "DESCRIPTION", canShrink: true },
      ],
      hits.map(({ name, score, why, description }) => [
        name,
        score.toFixed(2),
        safeLine(why.join(", ")),
        firstSentence(description ?? ""),
      ]),
    );
  }
  noteMissing(context, await access.servers());
  return exitCodes.done;
}
