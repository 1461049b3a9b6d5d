/**
 * JSON text to a tree (RFC 8259), if wanted with what editors allow in their
 * own files: comments, and a comma before a closing bracket. Stops at the first
 * syntax error, because what follows one is guesswork. Nothing is thrown for
 * any text; depth and size are bounded before anything is built.
 */

import type { Reading, ReadLimits, TreeBuilder } from "./tree-builder.ts";
import { checkLimits, readingOf, Unreadable } from "./unreadable.ts";

const quoted = /"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"/y;
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const word = /(?:true|false|null)(?![\w$])/y;

const quote = 0x22;
const comma = 0x2c;
const slash = 0x2f;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** How much is read, and in which dialect. */
export interface ReadJsonOptions extends ReadLimits {
  /** Whether comments and a comma before a closing bracket pass. @default false */
  readonly allowsComments?: boolean | undefined;
}

/** Read `text`. What becomes of a field that is given twice is up to the builder. */
export function readJson<Node, MapNode extends Node, ListNode extends Node>(
  text: string,
  builder: TreeBuilder<Node, MapNode, ListNode>,
  options: ReadJsonOptions,
): Reading<Node> {
  return readingOf(text, () => new JsonReader(text, builder, options).read());
}

/** Where the white space of `text` from `at` on ends, and its comments; a block comment that never ends is not skipped. */
export function skipJsonSpace(text: string, at: number, allowsComments: boolean): number {
  for (let to = at; ; ) {
    const unit = text.charCodeAt(to);
    if (unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09) {
      to += 1;
    } else if (unit === slash && allowsComments) {
      const end = commentEnd(text, to);
      if (end === to) return to;
      to = end;
    } else {
      return to;
    }
  }
}

/** Returns the index after the comment that begins at `at`; `at` when there is no comment or it does not end. */
function commentEnd(text: string, at: number): number {
  const next = text[at + 1];
  if (next === "/") {
    const end = text.indexOf("\n", at);
    return end === -1 ? text.length : end;
  }
  const end = next === "*" ? text.indexOf("*/", at + 2) : -1;
  return end === -1 ? at : end + 2;
}

/** Reads one text, and keeps the position in it. */
class JsonReader<Node, MapNode extends Node, ListNode extends Node> {
  readonly #text: string;
  readonly #builder: TreeBuilder<Node, MapNode, ListNode>;
  readonly #limits: ReadLimits;
  readonly #allowsComments: boolean;
  #at = 0;
  #count = 0;

  constructor(text: string, builder: TreeBuilder<Node, MapNode, ListNode>, options: ReadJsonOptions) {
    this.#text = text;
    this.#builder = builder;
    this.#limits = options;
    this.#allowsComments = options.allowsComments === true;
  }

  /** @throws {Unreadable} */
  read(): Node | undefined {
    this.#skip();
    if (this.#at >= this.#text.length) return undefined;
    const root = this.#readValue(1);
    this.#skip();
    if (this.#at < this.#text.length)
      this.#fail("Cannot read what follows the JSON value", "one value makes a file");
    return root;
  }

  #fail(message: string, hint?: string): never {
    throw new Unreadable("syntax", message, this.#at, hint);
  }

  #match(pattern: RegExp): string | undefined {
    const from = this.#at;
    pattern.lastIndex = from;
    if (!pattern.test(this.#text)) return undefined;
    const to = pattern.lastIndex;
    this.#at = to;
    return this.#text.slice(from, to);
  }

  /** The next unit that is no white space. */
  #skip(): number {
    const at = skipJsonSpace(this.#text, this.#at, this.#allowsComments);
    this.#at = at;
    return this.#text.charCodeAt(at);
  }

  #readValue(depth: number): Node {
    this.#count += 1;
    checkLimits(this.#limits, depth, this.#count, this.#at);
    const start = this.#at;
    const first = this.#text.charCodeAt(start);
    if (first === quote) {
      const value = this.#readString();
      return this.#builder.scalar(value, value, start, this.#at, false);
    }
    if (first === openBrace) return this.#readMap(depth);
    if (first === openBracket) return this.#readList(depth);
    const digits = this.#match(number);
    if (digits !== undefined) return this.#builder.scalar(Number(digits), digits, start, this.#at, true);
    const found = this.#match(word);
    if (found === undefined) return this.#failAtValue();
    return this.#builder.scalar(found === "null" ? null : found === "true", found, start, this.#at, true);
  }

  #failAtValue(): never {
    if (this.#at >= this.#text.length)
      this.#fail("The JSON text ends where a value belongs", "look for a bracket that is not closed");
    const rest = this.#text.slice(this.#at, this.#at + 2);
    const isComment = !this.#allowsComments && /^(?:\/[/*]|#)/.test(rest);
    this.#fail(
      "Cannot read this JSON value",
      isComment
        ? "comments are not JSON"
        : "texts stand in double quotes; the rest is true, false, null, a number, {…} or […]",
    );
  }

  #readString(): string {
    const found = this.#match(quoted);
    if (found === undefined) {
      this.#fail(
        "Cannot read this JSON text: its closing quote is missing, or it holds a line break or a bad escape",
        "write \\n for a line break and \\\\ for a backslash",
      );
    }
    return found.includes("\\") ? (JSON.parse(found) as string) : found.slice(1, -1);
  }

  #readList(depth: number): Node {
    const list = this.#builder.openList(this.#at);
    this.#at += 1;
    let unit = this.#skip();
    while (unit !== closeBracket) {
      const start = this.#at;
      this.#builder.addItem(list, this.#readValue(depth + 1), start);
      unit = this.#endItem(closeBracket);
    }
    this.#at += 1;
    return this.#builder.closeList(list, this.#at);
  }

  #readMap(depth: number): Node {
    const map = this.#builder.openMap(this.#at);
    this.#at += 1;
    let unit = this.#skip();
    while (unit !== closeBrace) {
      const start = this.#at;
      if (unit !== quote) this.#fail("Expected a field name in double quotes", 'write "name": value');
      const key = this.#readString();
      const keyEnd = this.#at;
      if (this.#skip() !== colon) this.#fail('Expected ":" after the field name');
      this.#at += 1;
      this.#skip();
      this.#builder.addField(map, key, start, keyEnd, this.#readValue(depth + 1));
      unit = this.#endItem(closeBrace);
    }
    this.#at += 1;
    return this.#builder.closeMap(map, this.#at);
  }

  /** To the next item, or to the closing bracket; the unit that stands there. */
  #endItem(closing: number): number {
    const unit = this.#skip();
    if (unit === closing) return unit;
    if (unit !== comma) {
      const bracket = String.fromCharCode(closing);
      this.#fail(
        `Expected "," or "${bracket}" after the value`,
        "look for a missing comma or bracket just before",
      );
    }
    this.#at += 1;
    const next = this.#skip();
    if (next === closing && !this.#allowsComments)
      this.#fail("A comma stands before the closing bracket", "remove the comma");
    return next;
  }
}
