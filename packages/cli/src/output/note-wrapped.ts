/** Writes sentences to standard error: on a terminal wrapped between words, elsewhere as one line. */

import type { CliContext } from "../cli-context.ts";
import { wrapProse } from "./fit-styled.ts";

/** Narrowest width that is wrapped for. */
const widthMin = 20;

/** Writes `text`, with styles of `Output.noteStyle`, as one note. */
export function noteWrapped({ output, stderr }: Pick<CliContext, "output" | "stderr">, text: string): void {
  if (!output.isNoteTerminal) output.note(text);
  // A terminal with unknown width reports 0.
  else output.note(...wrapProse(text, Math.max(widthMin, stderr.columns || 80)));
}

/** Writes a warning about safety as one note. */
export function noteWarning(context: Pick<CliContext, "output" | "stderr">, text: string): void {
  noteWrapped(context, `${context.output.noteStyle(["bold", "yellow"], "WARNING")} ${text}`);
}
