/**
 * Finds where a text stops being JSON (RFC 8259), and names what is expected
 * there. JavaScript engines quote the text in their messages, and it can hold a
 * secret: nothing here returns a part of it. Linear in the text, without
 * recursion.
 */

import type { Span } from "@toolcrib/diagnostics";

/** The place where a text stops being JSON. */
export interface JsonFault {
  /** The part to show: one character or a whole word; the last character if the text ends too early. */
  readonly span: Span;
  /** Number of UTF-16 units before the fault; all of the text if it ends too early. */
  readonly offset: number;
  /** The expected token, as the end of a sentence: `a value`, `":"`. */
  readonly expected: string;
}

/**
 * Finds the first place at which `text` cannot continue a JSON document, in a
 * text of any depth.
 *
 * @returns `undefined` if `text` is JSON.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const scan = new FaultScan(text);
  const expected = scan.expectedAtFault();
  if (expected === undefined) return undefined;
  const { offset } = scan;
  const start = Math.min(offset, Math.max(0, text.trimEnd().length - 1));
  word.lastIndex = start;
  const end = start === offset && word.test(text) ? word.lastIndex : start + 1;
  return { span: { start, end }, offset, expected };
}

/** Describes the fault of a text that is not JSON: line and column from 1, position in UTF-16 units from 0. */
export function describeJsonFault(text: string): string {
  const fault = findJsonFault(text);
  if (fault === undefined) return "JSON text is not valid";
  const { offset, expected } = fault;
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  const column = (lines.at(-1)?.length ?? 0) + 1;
  const found = offset === text.length ? ", found the end of the text" : "";
  return `JSON text is not valid at line ${lines.length}, column ${column} (position ${offset}): expected ${expected}${found}`;
}

const space = /[ \t\n\r]*/y;
const unescaped = /[^"\\\x00-\x1f]*/y;
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const literal = /(?:true|false|null)(?![\w$])/y;
const word = /[A-Za-z_$][\w$]*/y;

const nameExpected = 'a name in "double quotes"';

/** A scan of one text, up to its fault. */
class FaultScan {
  /** Number of units that were passed. */
  offset = 0;
  readonly #text: string;
  /** The brackets that close the objects and lists around the offset, the innermost last. */
  readonly #closing: ("}" | "]")[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  /** Moves to the fault and returns what is expected there; `undefined` if the text is JSON. */
  expectedAtFault(): string | undefined {
    let expected = this.#passValue();
    while (expected === undefined) {
      this.#pass(space);
      const closing = this.#closing.at(-1);
      if (closing === undefined) return this.offset === this.#text.length ? undefined : "the end";
      if (this.#passUnit(closing)) this.#closing.pop();
      else if (!this.#passUnit(",")) expected = `"," or "${closing}"`;
      else expected = this.#passPart(closing);
    }
    return expected;
  }

  /** Passes an item of a list, or a field of an object. */
  #passPart(closing: "}" | "]"): string | undefined {
    return (closing === "}" ? this.#passName() : undefined) ?? this.#passValue();
  }

  /** Passes a scalar or an empty object or list; of any other one, what is before the end of its first scalar. */
  #passValue(): string | undefined {
    for (;;) {
      this.#pass(space);
      const closing = this.#passUnit("{") ? "}" : this.#passUnit("[") ? "]" : undefined;
      if (closing === undefined) return this.#passScalar();
      this.#closing.push(closing);
      this.#pass(space);
      if (this.#text[this.offset] === closing) return undefined;
      const expected = closing === "}" ? this.#passName() : undefined;
      if (expected !== undefined) return expected;
    }
  }

  #passScalar(): string | undefined {
    if (this.#text[this.offset] === '"') return this.#passString();
    return this.#pass(number) || this.#pass(literal) ? undefined : "a value";
  }

  /** Passes the name of a field and its colon. */
  #passName(): string | undefined {
    this.#pass(space);
    if (this.#text[this.offset] !== '"') return nameExpected;
    const expected = this.#passString();
    if (expected !== undefined) return expected;
    this.#pass(space);
    return this.#passUnit(":") ? undefined : '":"';
  }

  // A loop, not one pattern: that needs a stack that grows with the number of escapes.
  #passString(): string | undefined {
    this.offset += 1;
    do this.#pass(unescaped);
    while (this.#pass(escaped));
    if (this.#passUnit('"')) return undefined;
    return this.offset === this.#text.length ? 'a closing "' : "a character that may stand in a text";
  }

  #passUnit(unit: string): boolean {
    if (this.#text[this.offset] !== unit) return false;
    this.offset += 1;
    return true;
  }

  /** Passes what the sticky `pattern` matches. */
  #pass(pattern: RegExp): boolean {
    pattern.lastIndex = this.offset;
    if (!pattern.test(this.#text)) return false;
    this.offset = pattern.lastIndex;
    return true;
  }
}
