/** Breaks a text into lines. */

import { wrapProse } from "../output/fit-styled.ts";

/** A sentence, also after a label or a place in a file. What can be copied, such as JSON, code and commands, is none. */
const sentence =
  /^\s*(?:error |hint: |note: |warning|tool error|\S+:\d+:\d+: (?:error|warning) |[A-Za-z"][^{}\t|]*$)/;
const commandLine = /^\s*(?:hint: )?(?:npx )?(?:toolcrib|curl) (?!.*[;,])/;

/** Returns the output of a command in lines with `indent`: its sentences wrapped to `width`, all others as they are. */
export function wrapOutput(text: string, width: number, indent: string): readonly string[] {
  return text.split("\n").flatMap((line) => {
    const whole = `${indent}${line}`.trimEnd();
    return sentence.test(line) && !commandLine.test(line) ? wrapProse(whole, width) : [whole];
  });
}

/** Returns `text` in lines of at most `width` columns, each with `indent`. Longer words stay whole. */
export function wrapText(text: string, width: number, indent: string): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = indent;
    for (const word of paragraph.split(" ")) {
      const isFirst = line === indent;
      if (!isFirst && line.length + 1 + word.length > width) {
        lines.push(line);
        line = indent + word;
      } else line += isFirst ? word : ` ${word}`;
    }
    lines.push(line);
  }
  return lines;
}
