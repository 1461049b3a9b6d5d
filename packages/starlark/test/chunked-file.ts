/**
 * Chunked files, in the format of the test data of go.starlark.net: programs
 * separated by lines of `---`, with `### "regexp"` on the lines of expected errors.
 * No I/O.
 */

/** One program of a chunked file. */
export interface Chunk {
  /** 1-based line of the file at which it starts. */
  readonly firstLine: number;
  /** Its text, preceded by line feeds so that its line numbers are those of the file. */
  readonly text: string;
  /** The expected errors, by line. */
  readonly expected: ReadonlyMap<number, RegExp>;
}

/** Splits the text of a chunked file. */
export function readChunks(file: string): Chunk[] {
  const chunks: Chunk[] = [];
  let firstLine = 1;
  for (const text of file.split("\n---\n")) {
    const lines = text.split("\n");
    const expected = new Map<number, RegExp>();
    for (const [index, line] of lines.entries()) {
      const mark = line.indexOf("###");
      if (mark !== -1) expected.set(firstLine + index, new RegExp(unquoteGo(line.slice(mark + 3).trim())));
    }
    chunks.push({ firstLine, text: "\n".repeat(firstLine - 1) + text, expected });
    firstLine += lines.length + 1;
  }
  return chunks;
}

/** Whether a chunk has the comment `option:name`. */
export function hasOption(chunk: Chunk, name: string): boolean {
  return chunk.text.includes(`option:${name}`);
}

const goEscapes: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ['"', '"'],
  ["\\", "\\"],
]);

/**
 * Decodes a Go string literal.
 *
 * @throws {Error} if it is invalid, or has an escape sequence that no expectation
 *   uses.
 */
export function unquoteGo(literal: string): string {
  const quote = literal.at(0);
  if (literal.length < 2 || literal.at(-1) !== quote) throw new Error(`no string literal: ${literal}`);
  const body = literal.slice(1, -1);
  if (quote === "`") return body;
  if (quote !== '"') throw new Error(`no string literal: ${literal}`);
  return body.replace(/\\(.)/gs, (_escape, letter: string) => {
    const character = goEscapes.get(letter);
    if (character === undefined) throw new Error(`unknown escape \\${letter} in ${literal}`);
    return character;
  });
}
