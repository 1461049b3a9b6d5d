/** Lists commands with their purposes: beside each other where the terminal is wide enough, otherwise below. Pure. */

import type { Output } from "../output/output.ts";
import { textWidth } from "../output/text-width.ts";

/** Least width of the commands, so that lists of short ones look alike. */
const commandMinWidth = 10;

/**
 * Returns the lines of the list. A command is never broken.
 *
 * @param program `toolcrib` as it is typed here
 */
export function commandRows(
  { width }: Pick<Output, "width">,
  program: string,
  rows: readonly (readonly [words: string, purpose: string])[],
): readonly string[] {
  const commands = rows.map(([words]) => `${program} ${words}`);
  const widest = Math.max(commandMinWidth, ...commands.map(textWidth));
  const beside = rows.map(([, purpose], at) => `  ${(commands[at] ?? "").padEnd(widest)}   ${purpose}`);
  if (beside.every((line) => textWidth(line) <= width)) return beside;
  return rows.flatMap(([, purpose], at) => [`  ${commands[at] ?? ""}`, `      ${purpose}`]);
}
