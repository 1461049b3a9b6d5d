/**
 * Reads JSON text into a tree (RFC 8259), optionally with the extensions that
 * editors allow in their own files: comments, and a comma before a closing
 * bracket. Stops at the first syntax error, because later errors usually follow
 * from it. No text makes it throw. It does not recurse, and it checks depth and
 * number of values before it builds anything.
 */

import type { Reading, ReadLimits, TreeBuilder } from "./tree-builder.ts";
import { checkLimits, readingOf, Unreadable } from "./unreadable.ts";

const unescaped = /[^"\\\x00-\x1f]*/y;
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*/y;
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const literal = /(?:true|false|null)(?![\w$])/y;

const quote = 0x22;
const comma = 0x2c;
const slash = 0x2f;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Limits and dialect of `readJson`. */
export interface ReadJsonOptions extends ReadLimits {
  /** Whether to accept comments and a comma before a closing bracket. @default false */
  readonly allowsComments?: boolean | undefined;
}

/** Reads `text`. The builder decides about repeated fields. */
export function readJson<Node, MapNode extends Node, ListNode extends Node>(
  text: string,
  builder: TreeBuilder<Node, MapNode, ListNode>,
  options: ReadJsonOptions,
): Reading<Node> {
  return readingOf(text, () => {
    const isEmpty = skipJsonSpace(text, 0, options.allowsComments === true) === text.length;
    return isEmpty ? undefined : new JsonReader(text, builder, options).read();
  });
}

/** Returns the index after the white space at `at`, and after comments if allowed. Skips no unclosed block comment. */
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

/** A map or list that is not closed yet. All have the same fields, so that the engine compiles one form of them. */
interface OpenNode<Closing, Node> {
  readonly closing: Closing;
  readonly node: Node;
  /** Start of the current field or item. */
  start: number;
  /** Name of the current field; unused in a list. */
  key: string;
  /** End of that name. */
  keyEnd: number;
}

type Open<MapNode, ListNode> = OpenNode<typeof closeBrace, MapNode> | OpenNode<typeof closeBracket, ListNode>;

/** Reads one text, and keeps the position in it. */
class JsonReader<Node, MapNode extends Node, ListNode extends Node> {
  readonly #text: string;
  readonly #builder: TreeBuilder<Node, MapNode, ListNode>;
  readonly #limits: ReadLimits;
  readonly #allowsComments: boolean;
  /** The maps and lists around the position, the innermost last. */
  readonly #open: Open<MapNode, ListNode>[] = [];
  #at = 0;
  #count = 0;

  constructor(text: string, builder: TreeBuilder<Node, MapNode, ListNode>, options: ReadJsonOptions) {
    this.#text = text;
    this.#builder = builder;
    this.#limits = options;
    this.#allowsComments = options.allowsComments === true;
  }

  /** @throws {Unreadable} */
  read(): Node {
    this.#skip();
    const root = this.#readValue();
    this.#skip();
    if (this.#at < this.#text.length)
      this.#fail("Unexpected text after the JSON value", "a file contains one value");
    return root;
  }

  #readValue(): Node {
    const open = this.#open;
    for (;;) {
      const opened = this.#openCollection();
      if (opened !== undefined) {
        open.push(opened);
        if (this.#skip() !== opened.closing) {
          this.#startPart(opened);
          continue;
        }
      }
      let node = opened === undefined ? this.#readScalar() : this.#close();
      // A value may be the last one of its collection, and the collection the last value of the next one.
      for (;;) {
        const parent = open[open.length - 1];
        if (parent === undefined) return node;
        if (parent.closing === closeBracket) this.#builder.addItem(parent.node, node, parent.start);
        else this.#builder.addField(parent.node, parent.key, parent.start, parent.keyEnd, node);
        if (this.#hasNext(parent.closing)) {
          this.#startPart(parent);
          break;
        }
        node = this.#close();
      }
    }
  }

  /** Reads an opening bracket; returns `undefined` before a scalar. */
  #openCollection(): Open<MapNode, ListNode> | undefined {
    const start = this.#at;
    this.#count += 1;
    checkLimits(this.#limits, this.#open.length + 1, this.#count, start);
    const first = this.#text.charCodeAt(start);
    if (first !== openBrace && first !== openBracket) return undefined;
    this.#at += 1;
    return first === openBrace
      ? { closing: closeBrace, node: this.#builder.openMap(start), key: "", start, keyEnd: start }
      : { closing: closeBracket, node: this.#builder.openList(start), key: "", start, keyEnd: start };
  }

  /** Moves to the value of an item or field of `parent`. */
  #startPart(parent: Open<MapNode, ListNode>): void {
    parent.start = this.#at;
    if (parent.closing === closeBracket) return;
    if (this.#text.charCodeAt(this.#at) !== quote)
      this.#fail("Expected a field name in double quotes", 'write "name": value');
    parent.key = this.#readString();
    parent.keyEnd = this.#at;
    if (this.#skip() !== colon) this.#fail('Expected ":" after the field name');
    this.#at += 1;
    this.#skip();
  }

  /** Moves from the end of a part to the next part, or to the bracket that closes the collection. */
  #hasNext(closing: number): boolean {
    const unit = this.#skip();
    if (unit === closing) return false;
    if (unit !== comma) {
      const expected = `"," or "${String.fromCharCode(closing)}"`;
      const hint = "look for a missing comma or bracket just before";
      this.#fail(`Expected ${expected} after the value`, hint);
    }
    this.#at += 1;
    if (this.#skip() !== closing) return true;
    if (this.#allowsComments) return false;
    return this.#fail("Unexpected comma before the closing bracket", "remove the comma");
  }

  /** Reads the closing bracket of the innermost collection. */
  #close(): Node {
    this.#at += 1;
    const closed = this.#open.pop() as Open<MapNode, ListNode>;
    return closed.closing === closeBracket
      ? this.#builder.closeList(closed.node, this.#at)
      : this.#builder.closeMap(closed.node, this.#at);
  }

  #readScalar(): Node {
    const start = this.#at;
    if (this.#text.charCodeAt(start) === quote) {
      const value = this.#readString();
      return this.#builder.scalar(value, value, start, this.#at, false);
    }
    const digits = this.#match(number);
    if (digits !== undefined) return this.#builder.scalar(Number(digits), digits, start, this.#at, true);
    const found = this.#match(literal);
    if (found === undefined) return this.#failAtValue();
    return this.#builder.scalar(found === "null" ? null : found === "true", found, start, this.#at, true);
  }

  // A loop, not one pattern: that needs a stack that grows with the number of escapes.
  #readString(): string {
    const text = this.#text;
    const start = this.#at;
    unescaped.lastIndex = start + 1;
    unescaped.test(text);
    let end = unescaped.lastIndex;
    const hasEscapes = text.charCodeAt(end) === backslash;
    while (text.charCodeAt(end) === backslash) {
      escaped.lastIndex = end;
      if (!escaped.test(text)) break;
      end = escaped.lastIndex;
    }
    if (text.charCodeAt(end) !== quote) this.#failInString();
    this.#at = end + 1;
    return hasEscapes ? (JSON.parse(text.slice(start, end + 1)) as string) : text.slice(start + 1, end);
  }

  #match(pattern: RegExp): string | undefined {
    const from = this.#at;
    pattern.lastIndex = from;
    if (!pattern.test(this.#text)) return undefined;
    const to = pattern.lastIndex;
    this.#at = to;
    return this.#text.slice(from, to);
  }

  /** Skips white space and returns the next unit. */
  #skip(): number {
    const at = skipJsonSpace(this.#text, this.#at, this.#allowsComments);
    this.#at = at;
    return this.#text.charCodeAt(at);
  }

  #failAtValue(): never {
    if (this.#at >= this.#text.length) {
      const hint = "look for a bracket that is not closed";
      this.#fail("The JSON text ends where a value is expected", hint);
    }
    const rest = this.#text.slice(this.#at, this.#at + 2);
    const isComment = !this.#allowsComments && /^(?:\/[/*]|#)/.test(rest);
    this.#fail(
      "Cannot read this JSON value",
      isComment
        ? "comments are not JSON"
        : "texts stand in double quotes; the rest is true, false, null, a number, {…} or […]",
    );
  }

  /** Reports the string at the position at its start. */
  #failInString(): never {
    this.#fail(
      "Cannot read this JSON text: its closing quote is missing, or it contains a line break or an invalid escape sequence",
      "write \\n for a line break and \\\\ for a backslash",
    );
  }

  #fail(message: string, hint?: string): never {
    throw new Unreadable("syntax", message, this.#at, hint);
  }
}
