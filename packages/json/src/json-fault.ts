/**
 * Where a text stops being JSON. Engines name the place for some mistakes and
 * not for others, so it is looked for here, by the grammar of RFC 8259 and
 * without building anything. It never recurses: a million brackets are a scan.
 */

import type { Span } from "@toolcrib/diagnostics";

const space = /[ \t\r\n]*/y;
const unescaped = /[^"\\\x00-\x1f]+/y;
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const word = /[A-Za-z_$][\w$]*/y;

/** What is wrong with a text that is not JSON. */
export interface JsonFault {
  /** What to show: one character or a whole word, or the last character when the end comes too soon. */
  readonly span: Span;
  /** UTF-16 units before the fault; all of the text when the end comes too soon. */
  readonly offset: number;
  /** What belongs there, as the end of a sentence: `a value`, `":"`. */
  readonly expected: string;
}

/**
 * The first place at which no JSON document can go on as `source` does.
 *
 * @returns `undefined` when `source` is JSON.
 */
export function findJsonFault(source: string): JsonFault | undefined {
  const scan = new Scan(source);
  for (;;) {
    const found = scan.skipValue();
    const then = found === "fault" ? "fault" : scan.skipEnds(found === "opening");
    if (then === "end") return undefined;
    if (then === "fault") {
      const { at, expected } = scan;
      return { span: spanAt(source, at), offset: at, expected };
    }
  }
}

/** The position of a scan in a text, and the brackets that are open there. */
class Scan {
  readonly #source: string;
  /** Closing brackets that are awaited, the innermost last. */
  readonly #open: ("]" | "}")[] = [];
  #at = 0;
  #expected = "";

  constructor(source: string) {
    this.#source = source;
  }

  /** How far the text is JSON. */
  get at(): number {
    return this.#at;
  }

  /** What belongs there, after a fault. */
  get expected(): string {
    return this.#expected;
  }

  /** A value without parts, or the opening of one with parts: then the first part is next. */
  skipValue(): "value" | "opening" | "fault" {
    this.#skip(space);
    const character = this.#source[this.#at];
    if (character === "{" || character === "[") {
      this.#at += 1;
      this.#open.push(character === "{" ? "}" : "]");
      return "opening";
    }
    this.#expected = "a value";
    if (character === '"') return this.#skipText() ? "value" : "fault";
    const start = this.#at;
    if (this.#skip(word) > 0) {
      if (["true", "false", "null"].includes(this.#source.slice(start, this.#at))) return "value";
      this.#at = start;
      return "fault";
    }
    return this.#skip(number) > 0 ? "value" : "fault";
  }

  /** After a value: everything that it ends, up to where the next value begins or the document is over. */
  skipEnds(isFirst: boolean): "next" | "end" | "fault" {
    for (let first = isFirst; ; first = false) {
      this.#skip(space);
      const closing = this.#open.at(-1);
      if (closing === undefined) {
        this.#expected = "the end";
        return this.#at === this.#source.length ? "end" : "fault";
      }
      if (this.#skipCharacter(closing)) {
        this.#open.pop();
        continue;
      }
      this.#expected = `"," or "${closing}"`;
      if (!first && !this.#skipCharacter(",")) return "fault";
      return closing === "]" || this.#skipKey() ? "next" : "fault";
    }
  }

  #skip(pattern: RegExp): number {
    pattern.lastIndex = this.#at;
    const { length } = pattern.exec(this.#source)?.[0] ?? "";
    this.#at += length;
    return length;
  }

  #skipCharacter(character: string): boolean {
    if (this.#source[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #skipText(): boolean {
    if (!this.#skipCharacter('"')) return false;
    // A loop and not one pattern: that would need a stack as long as the text.
    while (this.#skip(unescaped) > 0 || this.#skip(escaped) > 0);
    const isOver = this.#at === this.#source.length;
    this.#expected = isOver ? 'a closing "' : "a character that may stand in a text";
    return this.#skipCharacter('"');
  }

  /** From before a field name to before its value. */
  #skipKey(): boolean {
    this.#skip(space);
    this.#expected = 'a name in "double quotes"';
    if (!this.#skipText()) return false;
    this.#skip(space);
    this.#expected = '":"';
    return this.#skipCharacter(":");
  }
}

function spanAt(source: string, at: number): Span {
  word.lastIndex = at;
  const start = Math.min(at, Math.max(0, source.trimEnd().length - 1));
  const length = word.exec(source)?.[0].length ?? 1;
  return { start, end: start + (start === at ? Math.max(1, length) : 1) };
}
