/** Breaks a text into lines. */

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
