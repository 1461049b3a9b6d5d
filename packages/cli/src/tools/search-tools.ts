/** `toolcrib search WORDS…`: finds tools by what they do. */

import type { ToolHit } from "@toolcrib/gateway";
import { emptyText, noteMissing, openToolAccess } from "../access/open-tool-access.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { firstSentence } from "./list-tools.ts";

/** Maximum number of reasons in a table row; `--json` has all. */
const reasonsMaxCount = 3;

/** Options of the command. */
interface SearchOptions {
  readonly limit: number;
  readonly why?: boolean;
}

/** Runs the command. */
export async function searchTools(
  context: CliContext,
  query: string,
  { limit, why: explains = false }: SearchOptions,
): Promise<ExitCode> {
  const { output } = context;
  if (query.trim() === "")
    throw new CliError("CLI_USAGE", "The search has no words", { hint: "give a few words" });
  await using access = await openToolAccess(context);
  const hits = explains ? await access.explainSearch(query, limit) : await access.search(query, limit);
  output.json(
    hits.map(({ id, name, score, why, parts, ranks }) => ({
      ...{ id, name, score, why },
      ...(explains ? { parts, ranks } : {}),
    })),
  );
  const servers = await access.servers();
  if (hits.length === 0)
    output.print(emptyText(servers, "No tool matches; try other words.", "No tool matches among those"));
  else if (explains) printParts(context, hits);
  else printHits(context, hits);
  noteMissing(context, servers);
  return exitCodes.done;
}

function printHits({ output }: CliContext, hits: readonly ToolHit[]): void {
  output.table(
    [
      { title: "TOOL", paint: (cell) => output.style("cyan", cell) },
      { title: "SCORE" },
      { title: "WHY", canShrink: true, paint: (cell) => output.style("dim", cell) },
      { title: "DESCRIPTION", canShrink: true },
    ],
    hits.map(({ name, score, why, description }) => [
      name,
      scoreText(score),
      safeLine(why.slice(0, reasonsMaxCount).join(", ")),
      firstSentence(description ?? ""),
    ]),
  );
}

/** Scores of merged ranks are at most 1/30. */
function scoreText(score: number): string {
  return score.toFixed(score < 0.1 ? 4 : 2);
}

/** The ranks of a result in the merged searches, as rows of the table of its parts. */
function rankRows({ ranks }: ToolHit): string[][] {
  const row = (rank: number | undefined, by: string, more = "") =>
    rank === undefined ? [] : [["", "", `rank ${rank}`, "", `${by}${more}`, ""]];
  const similarity = ranks?.similarity === undefined ? "" : ` (similarity ${ranks.similarity.toFixed(2)})`;
  return [...row(ranks?.words, "by words"), ...row(ranks?.meaning, "by meaning", similarity)];
}

/** The names of the fields of a score for people; the others are called as in the definition. */
const fieldNames: { readonly [field: string]: string } = {
  learned: "learned from your use",
  shared: "learned from several clients",
  parameterNames: "parameter names",
  parameterDescriptions: "parameter descriptions",
};

function printParts({ output }: CliContext, hits: readonly ToolHit[]): void {
  output.table(
    [
      { title: "TOOL", paint: (cell) => output.style("cyan", cell) },
      { title: "SCORE" },
      { title: "PART" },
      { title: "WORD" },
      { title: "IN", canShrink: true },
      { title: "MATCH", paint: (cell) => output.style("dim", cell) },
    ],
    hits.flatMap((hit) => {
      const parts = (hit.parts ?? []).map(({ word, field, match, contribution }) => [
        ...["", "", contribution.toFixed(2)],
        ...[safeLine(word), fieldNames[field] ?? field, match],
      ]);
      return [...rankRows(hit), ...parts].map(([_name, _score, ...cells], at) =>
        at === 0 ? [hit.name, scoreText(hit.score), ...cells] : ["", "", ...cells],
      );
    }),
  );
}
