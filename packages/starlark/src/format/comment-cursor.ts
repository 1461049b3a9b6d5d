/**
 * Iterates over the comments of a file while its tree is printed, and answers
 * questions about the text between tokens: where lines start, whether there is an
 * empty line, and where a word is that the tree does not record.
 */

import type { Comment, File } from "../syntax/ast.ts";

/** The comments between two tokens. */
export interface Gap {
  /** Comments on the line of the token before them. */
  readonly trailing: readonly Comment[];
  /** Comments on lines of their own. */
  readonly own: readonly Comment[];
}

const tabStop = 8;

export class CommentCursor {
  readonly #text: string;
  readonly #comments: readonly Comment[];
  #at = 0;

  constructor(file: File) {
    this.#text = file.source.text;
    this.#comments = file.comments;
  }

  /** The next comment, if it starts before `end`. */
  peek(end: number): Comment | undefined {
    const comment = this.#comments[this.#at];
    return comment !== undefined && comment.start < end ? comment : undefined;
  }

  /** Consumes the next comment. */
  take(): void {
    this.#at += 1;
  }

  /** Skips the comments before `end`, which are part of a text that is kept unchanged. */
  skip(end: number): void {
    while (this.peek(end) !== undefined) this.#at += 1;
  }

  /** Consumes all comments that start before `end`. */
  gap(end: number): Gap {
    const trailing: Comment[] = [];
    const own: Comment[] = [];
    for (let comment = this.peek(end); comment !== undefined; comment = this.peek(end)) {
      this.take();
      if (own.length === 0 && !this.isOnOwnLine(comment)) trailing.push(comment);
      else own.push(comment);
    }
    return { trailing, own };
  }

  /** Whether only white space and continued lines precede `comment` on its line. */
  isOnOwnLine({ start }: Comment): boolean {
    for (let at = start - 1; at >= 0; at -= 1) {
      const character = this.#text[at]!;
      if (character === " " || character === "\t") continue;
      if (character !== "\n" && character !== "\r") return at === 0 && character === "\ufeff";
      const lineEnd = character === "\n" && this.#text[at - 1] === "\r" ? at - 1 : at;
      if (this.#text[lineEnd - 1] !== "\\" || this.#isInComment(lineEnd - 1)) return true;
      at = lineEnd - 1;
    }
    return true;
  }

  #isInComment(offset: number): boolean {
    let low = 0;
    let high = this.#comments.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#comments[middle]!.end <= offset) low = middle + 1;
      else high = middle;
    }
    const comment = this.#comments[low];
    return comment !== undefined && comment.start <= offset;
  }

  /** Whether an empty line precedes `start`. */
  hasBlankBefore(start: number): boolean {
    let lineBreaks = 0;
    for (let at = start - 1; at >= 0; at -= 1) {
      const character = this.#text[at]!;
      if (character === "\n") {
        lineBreaks += 1;
        if (this.#text[at - 1] === "\r") at -= 1;
      } else if (character === "\r") lineBreaks += 1;
      else if (character !== " " && character !== "\t") break;
    }
    return lineBreaks > 1;
  }

  /** Whether there is a line break between two offsets. */
  hasLineBreak(start: number, end: number): boolean {
    return /[\r\n]/.test(this.#text.slice(start, end));
  }

  /** The column of `offset`, with tabs counted as in the scanner. */
  column(offset: number): number {
    let column = 0;
    for (let at = this.#lineStart(offset); at < offset; at += 1) {
      const character = this.#text[at];
      if (character === "\t") column = (Math.floor(column / tabStop) + 1) * tabStop;
      else if (character !== "\ufeff") column += 1;
    }
    return column;
  }

  /** Whether only white space precedes `offset` on its line. */
  isFirstOnLine(offset: number): boolean {
    return /^\s*$/.test(this.#text.slice(this.#lineStart(offset), offset));
  }

  #lineStart(offset: number): number {
    let start = offset;
    while (start > 0 && this.#text[start - 1] !== "\n" && this.#text[start - 1] !== "\r") start -= 1;
    return start;
  }

  /**
   * The offset of the first character at or after `from` that is neither white space,
   * nor in a comment, nor one of `skipped`.
   */
  nextToken(from: number, skipped = ""): number {
    let at = from;
    let comment = this.#firstCommentFrom(from);
    for (;;) {
      const next = this.#comments[comment];
      const character = this.#text[at];
      if (character === undefined) return at;
      if (next !== undefined && next.start === at) {
        at = next.end;
        comment += 1;
      } else if (/[\s\\]/.test(character) || skipped.includes(character)) at += 1;
      else return at;
    }
  }

  #firstCommentFrom(offset: number): number {
    // The position is near the node that is being printed.
    let index = this.#at;
    while (index > 0 && this.#comments[index - 1]!.start >= offset) index -= 1;
    while (index < this.#comments.length && this.#comments[index]!.start < offset) index += 1;
    return index;
  }
}
