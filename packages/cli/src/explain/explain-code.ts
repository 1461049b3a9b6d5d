/** `toolcrib explain`: prints the explanation of a code, or lists the codes of an area or of all. */

import { nearestName } from "@toolcrib/diagnostics";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { type ExplainedCode, loadExplained } from "./load-explained.ts";
import { wrapOutput, wrapText } from "./wrap-text.ts";

/** Widest line of the texts on a terminal, and where there is none. */
const textWidth = 100;

/** Runs the command. `wanted` is a code, an area, or the first letters of codes that end with "_". */
export async function explainCode(context: CliContext, wanted: string | undefined): Promise<ExitCode> {
  const all = await loadExplained();
  if (wanted === undefined) return listCodes(context, all);
  const found = all.find(({ code }) => fold(code) === fold(wanted));
  if (found !== undefined) return printCode(context, found);
  const part = all.filter(({ area, code }) => area === wanted.toLowerCase() || startsWith(code, wanted));
  if (part.length > 0) return listCodes(context, part);
  const near = nearCodes(
    wanted,
    all.map(({ code }) => code),
  );
  throw new CliError("CLI_CODE_NOT_FOUND", `No error code "${safeLine(wanted)}" exists`, {
    hint:
      near.length === 0
        ? "toolcrib explain lists all codes"
        : `did you mean ${near.join(" or ")}? toolcrib explain lists all`,
  });
}

/** Most codes that are suggested. */
const maxNear = 3;

/** Returns the codes that `wanted` can mean: the nearest one, or those that have each of its words, or one near it. */
function nearCodes(wanted: string, codes: readonly string[]): readonly string[] {
  const nearest = nearestName(wanted, codes);
  if (nearest !== undefined) return [nearest];
  const words = wanted
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter((word) => word.length > 2);
  if (words.length === 0) return [];
  const hasAll = (code: string) => {
    const own = code.toUpperCase().split("_");
    return words.every((word) => own.includes(word) || nearestName(word, own) !== undefined);
  };
  const found = codes.filter(hasAll).toSorted((one, other) => one.length - other.length);
  return found.slice(0, maxNear);
}

/** The page and anchor of a code below `docs/reference/errors`. */
export function pageOf({ area, code }: Pick<ExplainedCode, "area" | "code">): string {
  return `${area}.md#${code.toLowerCase().replaceAll(".", "")}`;
}

/** Compares codes without case. A terminal user can leave out the sign of a number, which looks like an option. */
function fold(code: string): string {
  return code.toUpperCase().replace(/^-(?=\d)/, "");
}

function startsWith(code: string, wanted: string): boolean {
  return wanted.endsWith("_") && code.startsWith(wanted.toUpperCase());
}

function listCodes({ output }: CliContext, codes: readonly ExplainedCode[]): ExitCode {
  output.json({ codes: codes.map(({ code, area, meaning }) => ({ code, area, meaning })) });
  let current: string | undefined;
  for (const { area, code, meaning } of codes) {
    if (area !== current) {
      output.print(...(current === undefined ? [] : [""]), output.style("bold", area));
      current = area;
    }
    output.print(`  ${code}`, ...wrapText(meaning, Math.min(output.width, textWidth), "    "));
  }
  output.print("", "toolcrib explain CODE shows cause, example and fix of one");
  return exitCodes.done;
}

function printCode({ output }: CliContext, explained: ExplainedCode): ExitCode {
  const { code, area, meaning, cause, example, fix } = explained;
  const width = Math.min(output.width, textWidth);
  const paragraph = (text: string) => wrapText(text, width, "  ");
  const verbatim = (text: string) =>
    text
      .trimEnd()
      .split("\n")
      .map((line) => `    ${line}`.trimEnd());
  const title = (text: string) => ["", output.style("bold", text)];
  output.json({
    code,
    area,
    meaning,
    cause,
    // What a test changes is no part of the explanation.
    example: { ...example, repaired: undefined },
    fix,
    page: `docs/reference/errors/${pageOf(explained)}`,
  });
  output.print(`${output.style(["bold", "red"], code)}  ${output.style("dim", area)}`, ...paragraph(meaning));
  if (cause !== meaning) output.print(...title("Cause"), ...paragraph(cause));
  output.print(...title("Example"));
  for (const [path, text] of Object.entries(example.files ?? {})) {
    output.print(`  ${output.style("cyan", path)}`, ...verbatim(text), "");
  }
  if (example.did !== undefined) output.print(...paragraph(example.did), "");
  for (const line of example.lines)
    output.print(...line.split("\n").map((part) => `  ${output.style("cyan", part)}`));
  output.print(
    ...wrapOutput(example.output.trimEnd(), output.width, "    "),
    ...title("Fix"),
    ...paragraph(fix),
  );
  return exitCodes.done;
}
