/** `toolcrib search WORDS…`: finds tools by what they do. */

import { noteMissing, openToolAccess } from "../access/open-tool-access.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { firstSentence } from "./list-tools.ts";

/** Maximum number of reasons in a table row; `--json` has all. */
const reasonsMaxCount = 3;

/** Runs the command. */
export async function searchTools(context: CliContext, query: string, limit: number): Promise<ExitCode> {
  const { output } = context;
  if (query.trim() === "")
    throw new CliError("CLI_USAGE", "The search has no words", { hint: "give a few words" });
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
        safeLine(why.slice(0, reasonsMaxCount).join(", ")),
        firstSentence(description ?? ""),
      ]),
    );
  }
  noteMissing(context, await access.servers());
  return exitCodes.done;
}
